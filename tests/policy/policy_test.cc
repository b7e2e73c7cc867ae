#include "policy/policy.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/rng.h"
#include "made_up_policies.h"
#include "random_tensor.h"

namespace hone::policy {
namespace {

TEST(Policy, GivesTheProbabilitiesOfItsNetwork) {
  Rng rng(1);
  for (const std::string activation : {"tanh", "relu"}) {
    for (int i = 0; i < 10; ++i) {
      const PolicyFile file = Mlp(activation, rng);
      const auto prior = PriorOf(file, kActions, {0, 1, 2, 3});
      EXPECT_FALSE(prior->NeedsArrays());
      for (const OpcodeCounts& counts : {kCounts, {{1, 80}}, {}}) {
        const Prior::Opinion opinion = prior->Of({counts, {}, nullptr});
        ExpectNear(opinion.probabilities, Softmax(Outputs(file, "policy", counts)));
        EXPECT_FALSE(opinion.gain);
      }
    }
  }
}

TEST(Policy, TakesOneLayerAndMany) {
  Rng rng(2);
  for (const std::vector<int64_t>& sizes :
       {std::vector<int64_t>{3, 4}, {3, 2, 1, 4}, {3, 9, 9, 9, 9, 4}}) {
    PolicyFile file = Card("counts", "tanh");
    AddDense(file, "policy", sizes, rng);
    ExpectNear(PriorOf(file, kActions, {0, 1, 2, 3})->Of({kCounts, {}, nullptr}).probabilities,
               Softmax(Outputs(file, "policy", kCounts)));
  }
}

TEST(Policy, BearsLogitsThatAreFarApart) {
  Rng rng(3);
  PolicyFile file = Mlp("relu", rng);
  file.tensors["policy.1.bias"].values = {-5000, 3000, 3000, -5000};
  ExpectNear(PriorOf(file, kActions, {0, 3, 1})->Of({{}, {}, nullptr}).probabilities, {0, 0, 1});
}

TEST(Policy, DividesActionValuesByTheTemperature) {
  Rng rng(4);
  PolicyFile file = Mlp("relu", rng);
  file.metadata[kMetadataHead] = "q";
  const Row outputs = Outputs(file, "policy", kCounts);
  const auto found = [&] {
    return PriorOf(file, kActions, {0, 1, 2, 3})->Of({kCounts, {}, nullptr}).probabilities;
  };
  for (const auto& [text, temperature] :
       {std::pair<const char*, double>{"0.125", 0.125}, {"1", 1}, {"7.5", 7.5}, {"2e-2", 0.02}}) {
    file.metadata[kMetadataTemperature] = text;
    ExpectNear(found(), Softmax(outputs, temperature), 1e-4);
  }
  // One that is none is 1, and logits have none.
  for (const std::string text : {"0", "-3", "warm", "", "nan"}) {
    file.metadata[kMetadataTemperature] = text;
    ExpectNear(found(), Softmax(outputs));
  }
  file.metadata[kMetadataHead] = "logits";
  file.metadata[kMetadataTemperature] = "0.125";
  ExpectNear(found(), Softmax(outputs));
}

TEST(Policy, ActionsThatItLacksShareAHundredth) {
  Rng rng(5);
  const PolicyFile file = Mlp("tanh", rng);
  const Row shares = Softmax(Outputs(file, "policy", kCounts));
  const Names passes = {"new", "fusion", "newer", "dce", "cse", "newest", "algsimp"};
  const auto found = [&](const std::vector<PassId>& actions) {
    return PriorOf(file, passes, actions)->Of({kCounts, {}, nullptr}).probabilities;
  };
  ExpectNear(found({0, 1, 3, 4, 6}),
             {0.01, 0.99 * shares[3], 0.99 * shares[0], 0.99 * shares[1], 0.99 * shares[2]});
  ExpectNear(found({6, 5, 4, 3, 2, 1}), {0.99 * shares[2], 0.005, 0.99 * shares[1],
                                         0.99 * shares[0], 0.005, 0.99 * shares[3]});
}

TEST(Policy, ActionsThatAreNotToChooseFromLeaveTheirShare) {
  Rng rng(6);
  const PolicyFile file = Mlp("tanh", rng);
  const Row shares = Softmax(Outputs(file, "policy", kCounts));
  const double left = shares[2] + shares[0];
  ExpectNear(PriorOf(file, kActions, {2, 0})->Of({kCounts, {}, nullptr}).probabilities,
             {shares[2] / left, shares[0] / left});
  // XLA no longer has algsimp and dce.
  ExpectNear(
      PriorOf(file, {"cse", "new", "fusion"}, {0, 1, 2})->Of({kCounts, {}, nullptr}).probabilities,
      {0.99 * shares[1] / (shares[1] + shares[3]), 0.01,
       0.99 * shares[3] / (shares[1] + shares[3])});
  ExpectNear(PriorOf(file, {"new", "cse"}, {1})->Of({kCounts, {}, nullptr}).probabilities, {1});
}

TEST(Policy, IsAnErrorWhereItKnowsNoAction) {
  Rng rng(7);
  const auto policy = Read(Mlp("tanh", rng));
  ASSERT_TRUE(policy);
  EXPECT_EQ((*policy)->actions(), kActions);
  EXPECT_EQ((*policy)->metadata().at("algorithm"), "by hand");
  const Names passes = {"new", "dce", "newer"};
  EXPECT_TRUE((*policy)->MakePrior(Passes(passes), kOpcodes, {0, 1, 2}, 1));
  for (const std::vector<PassId>& actions : {std::vector<PassId>{0, 2}, {}}) {
    const auto prior = (*policy)->MakePrior(Passes(passes), kOpcodes, actions, 1);
    ASSERT_FALSE(prior);
    EXPECT_EQ(prior.error().code, ErrorCode::kInvalidInput);
    EXPECT_TRUE(Has(prior.error().message, "knows none of the passes")) << prior.error().message;
  }
}

TEST(Policy, AValueNetworkGivesTheGain) {
  Rng rng(8);
  PolicyFile file = Mlp("relu", rng);
  AddDense(file, "value", {3, 7, 1}, rng);
  const auto prior = PriorOf(file, kActions, {0, 1, 2, 3});
  for (const OpcodeCounts& counts : {kCounts, {{1, 80}}, {}}) {
    const Prior::Opinion opinion = prior->Of({counts, {}, nullptr});
    ExpectNear(opinion.probabilities, Softmax(Outputs(file, "policy", counts)));
    ASSERT_TRUE(opinion.gain);
    EXPECT_NEAR(*opinion.gain, Outputs(file, "value", counts)[0], 1e-5);
  }
}

TEST(Policy, SeesTheWayToAState) {
  Rng rng(9);
  PolicyFile file = Card("hone", "tanh");
  AddDense(file, "policy", {2 * 3 + 2 * 4 + 3, 8, 4}, rng);
  const auto prior = PriorOf(file, kActions, {0, 1, 2, 3});
  const Row there = prior->Of({kCounts, {0, 1}, nullptr}).probabilities;
  EXPECT_EQ(there, prior->Of({kCounts, {0, 1}, nullptr}).probabilities);
  EXPECT_NE(there, prior->Of({kCounts, {1, 0}, nullptr}).probabilities);
  EXPECT_NE(there, prior->Of({kCounts, {}, nullptr}).probabilities);
}

TEST(Policy, SaysWhatIsWrongWithItsCard) {
  Rng rng(10);
  const PolicyFile whole = Mlp("tanh", rng);
  ASSERT_EQ(ErrorOf(whole), "");
  EXPECT_FALSE(Policy::Read(""));
  EXPECT_FALSE(Policy::Read("{\"format\": \"hone-policy-1\"}"));
  const auto with = [&](const char* key, const char* value) {
    PolicyFile file = whole;
    file.metadata[key] = value;
    return ErrorOf(file);
  };
  EXPECT_TRUE(Has(with(kMetadataFormat, "pt-9"), "its format is 'pt-9', not hone-policy-1"));
  EXPECT_TRUE(Has(with(kMetadataFeatures, "count"), "did you mean 'counts'"));
  EXPECT_TRUE(Has(with(kMetadataActivation, "gelu"), "activation is 'gelu'"));
  for (const auto& [key, value] : {std::pair<const char*, const char*>{kMetadataActions, "dce,cse"},
                                   {kMetadataActions, "dce,cse,algsimp,fusion,more"},
                                   {kMetadataActions, ""},
                                   {kMetadataOpcodes, "add,dot"},
                                   {kMetadataOpcodes, "add,dot,copy,more"},
                                   {kMetadataFeatures, "hone"}}) {
    EXPECT_TRUE(Has(with(key, value), "network does not fit its features and actions")) << value;
  }
  for (const char* key : {kMetadataFormat, kMetadataFeatures, kMetadataOpcodes, kMetadataActions,
                          kMetadataActivation}) {
    PolicyFile file = whole;
    file.metadata.erase(key);
    EXPECT_NE(ErrorOf(file), "") << key;
  }
}

TEST(Policy, SaysWhichLayerIsWrong) {
  Rng rng(11);
  PolicyFile whole = Mlp("tanh", rng);
  AddDense(whole, "value", {3, 5, 1}, rng);
  ASSERT_EQ(ErrorOf(whole), "");
  for (const std::string layer : {"policy.0", "policy.1", "value.0", "value.1"}) {
    const auto wrong = [&](const PolicyFile& file) {
      EXPECT_TRUE(Has(ErrorOf(file), "layer " + layer + " does not fit")) << ErrorOf(file);
    };
    PolicyFile file = whole;
    file.tensors.erase(layer + ".bias");
    wrong(file);
    file.tensors[layer + ".bias"] = Random({9}, rng);
    wrong(file);
    file = whole;
    file.tensors[layer + ".bias"].shape.push_back(1);
    wrong(file);
    file = whole;
    file.tensors[layer + ".weight"].shape.push_back(1);
    wrong(file);
    file.tensors[layer + ".weight"] = Random({}, rng);
    wrong(file);
  }
  for (const std::string layer : {"policy.1", "value.1"}) {
    PolicyFile file = whole;
    file.tensors[layer + ".weight"] = Random({layer == "policy.1" ? 4 : 1, 6}, rng);
    EXPECT_TRUE(Has(ErrorOf(file), "layer " + layer + " does not fit"));
  }
  for (const std::string layer : {"policy.0", "policy.1"}) {
    PolicyFile file = whole;
    file.tensors.erase(layer + ".weight");
    EXPECT_TRUE(Has(ErrorOf(file), "its network does not fit")) << layer;
  }
  PolicyFile none = whole;
  none.tensors.clear();
  EXPECT_TRUE(Has(ErrorOf(none), "its network does not fit"));
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{3, 2}, {4, 1}, {3, 5, 2}}) {
    PolicyFile file = Mlp("tanh", rng);
    AddDense(file, "value", sizes, rng);
    EXPECT_TRUE(Has(ErrorOf(file), "its value network does not fit its features"));
  }
}

}  // namespace
}  // namespace hone::policy
