#include "policy/policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/rng.h"
#include "policy/graph_forward.h"
#include "random_tensor.h"
#include "support/random_graph.h"

namespace hone::policy {
namespace {

using Names = std::vector<std::string>;
using Row = std::vector<double>;

// What each program below had when it was loaded.
constexpr int64_t kInitialOps = 40;

const Names kOpcodes = {"add", "dot", "copy"};
const Names kActions = {"dce", "cse", "algsimp", "fusion"};

std::vector<PassInfo> Passes(const Names& names) {
  std::vector<PassInfo> passes;
  for (const std::string& name : names) passes.push_back({name, "", "", {}, "", false});
  return passes;
}

std::string Joined(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

void AddDense(PolicyFile& file, const std::string& prefix, const std::vector<int64_t>& sizes,
              Rng& rng) {
  for (size_t i = 0; i + 1 < sizes.size(); ++i) {
    const std::string layer = prefix + "." + std::to_string(i);
    file.tensors[layer + ".weight"] = Random({sizes[i + 1], sizes[i]}, rng);
    file.tensors[layer + ".bias"] = Random({sizes[i + 1]}, rng);
  }
}

void AddGraph(PolicyFile& file, const std::string& prefix, int64_t features, int64_t outputs,
              Rng& rng) {
  constexpr int64_t kWidth = 6;
  const auto add = [&](const std::string& name, const std::vector<int64_t>& shape) {
    file.tensors[prefix + "." + name] = Random(shape, rng);
  };
  add("graph.embed_opcode", {kOpcodeRows, kWidth});
  add("graph.embed_type", {kTypeRows, kWidth});
  add("graph.numbers.weight", {kWidth, kNodeNumbers});
  add("graph.numbers.bias", {kWidth});
  for (const std::string part : {"graph", "graph.0"}) {
    add(part + ".norm.weight", {kWidth});
    add(part + ".norm.bias", {kWidth});
  }
  add("graph.0.self.weight", {kWidth, kWidth});
  add("graph.0.in.weight", {kEdgeKinds, kWidth, kWidth});
  add("graph.0.out.weight", {kWidth, kWidth});
  add("graph.0.bias", {kWidth});
  add("head.0.weight", {outputs, 2 * kWidth + features});
  add("head.0.bias", {outputs});
}

PolicyFile Card(const std::string& features, const std::string& activation,
                const Names& opcodes = kOpcodes, const Names& actions = kActions) {
  PolicyFile file;
  file.metadata = {{kMetadataFormat, kPolicyFormat},
                   {kMetadataFeatures, features},
                   {kMetadataOpcodes, Joined(opcodes)},
                   {kMetadataActions, Joined(actions)},
                   {kMetadataActivation, activation},
                   {kMetadataHead, "logits"},
                   {"algorithm", "by hand"}};
  return file;
}

// Of counts, with a hidden layer.
PolicyFile Mlp(const std::string& activation, Rng& rng) {
  PolicyFile file = Card("counts", activation);
  AddDense(file, "policy", {3, 5, 4}, rng);
  return file;
}

StatusOr<std::shared_ptr<const Policy>> Read(const PolicyFile& file) {
  return Policy::Read(WritePolicyFile(file));
}

std::shared_ptr<const Prior> PriorOf(const PolicyFile& file, const Names& passes,
                                     const std::vector<PassId>& actions,
                                     const Names& opcodes = kOpcodes) {
  const auto policy = Read(file);
  EXPECT_TRUE(policy) << policy.error().message;
  const auto prior = (*policy)->MakePrior(Passes(passes), opcodes, actions, kInitialOps);
  EXPECT_TRUE(prior) << prior.error().message;
  return *prior;
}

std::string ErrorOf(const PolicyFile& file) {
  const auto policy = Read(file);
  if (policy) return "";
  EXPECT_EQ(policy.error().code, ErrorCode::kInvalidInput);
  return policy.error().message;
}

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The stack of dense layers on the counts, in loops of doubles.
Row Outputs(const PolicyFile& file, const std::string& prefix, const OpcodeCounts& counts) {
  Row x(kOpcodes.size());
  for (const OpcodeCount& of : counts) x[of.opcode] = of.count / static_cast<double>(kInitialOps);
  for (int layer = 0;; ++layer) {
    const std::string name = prefix + "." + std::to_string(layer);
    if (!file.tensors.contains(name + ".weight")) return x;
    if (layer > 0) {
      for (double& value : x) {
        value = file.metadata.at(kMetadataActivation) == "relu" ? std::max(0.0, value)
                                                                : std::tanh(value);
      }
    }
    const std::vector<float>& weight = file.tensors.at(name + ".weight").values;
    Row y;
    for (const float bias : file.tensors.at(name + ".bias").values) {
      double sum = bias;
      for (size_t i = 0; i < x.size(); ++i) sum += weight[y.size() * x.size() + i] * x[i];
      y.push_back(sum);
    }
    x = y;
  }
}

Row Softmax(const Row& logits, double temperature = 1) {
  Row shares;
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit / temperature);
  for (const double logit : logits) shares.push_back(std::exp(logit / temperature) / sum);
  return shares;
}

void ExpectNear(const Row& found, const Row& expected, double tolerance = 1e-5) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance) << i;
  EXPECT_NEAR(std::accumulate(found.begin(), found.end(), 0.0), 1, 1e-9);
}

double Spread(const Row& row) {
  const auto [least, most] = std::minmax_element(row.begin(), row.end());
  return *most - *least;
}

const OpcodeCounts kCounts = {{0, 30}, {1, 4}, {2, 55}};

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

// Many opcodes, so that graphs have known ones.
Names ManyOpcodes(size_t count) {
  Names names;
  for (size_t i = 0; i < count; ++i) names.push_back("op" + std::to_string(i));
  return names;
}

PolicyFile GraphPolicy(Rng& rng, const Names& opcodes) {
  PolicyFile file = Card("hone", "tanh", opcodes);
  const auto features = static_cast<int64_t>(2 * opcodes.size() + 2 * kActions.size() + 3);
  AddGraph(file, "policy", features, 4, rng);
  AddGraph(file, "value", features, 1, rng);
  return file;
}

Observed Look(const ProgramArrays& arrays, size_t known) {
  Observed observed{{}, {1, 0}, std::make_shared<ProgramArrays>(arrays)};
  std::map<uint16_t, uint32_t> counts;
  for (const int32_t opcode : arrays.opcode) {
    if (opcode < static_cast<int32_t>(known)) ++counts[static_cast<uint16_t>(opcode)];
  }
  for (const auto& [opcode, count] : counts) observed.opcodes.push_back({opcode, count});
  return observed;
}

TEST(GraphPolicy, NeedsArraysAndHasNoPreferenceWithout) {
  Rng rng(12);
  const PolicyFile file = GraphPolicy(rng, kOpcodes);
  const auto prior = PriorOf(file, {"dce", "cse", "algsimp", "fusion", "new"}, {0, 1, 2, 3, 4});
  EXPECT_TRUE(prior->NeedsArrays());
  const auto arrays = std::make_shared<ProgramArrays>(testing::RandomGraph(30, 2, rng));
  const Prior::Opinion with = prior->Of({kCounts, {0}, arrays});
  const Row known(with.probabilities.begin(), with.probabilities.end() - 1);
  EXPECT_GT(Spread(known), 0.01);
  EXPECT_NEAR(with.probabilities[4], 0.01, 1e-9);
  EXPECT_NE(with.gain, 0);
  const Prior::Opinion without = prior->Of({kCounts, {0}, nullptr});
  ExpectNear(without.probabilities, {0.2475, 0.2475, 0.2475, 0.2475, 0.01}, 1e-9);
  EXPECT_EQ(without.gain, 0);
}

TEST(GraphPolicy, NeedsArraysForItsValueAlone) {
  Rng rng(13);
  PolicyFile file = Mlp("tanh", rng);
  AddGraph(file, "value", 3, 1, rng);
  const auto prior = PriorOf(file, kActions, {0, 1, 2, 3});
  EXPECT_TRUE(prior->NeedsArrays());
  ExpectNear(prior->Of({kCounts, {}, nullptr}).probabilities,
             Softmax(Outputs(file, "policy", kCounts)));
}

// The features are told to the head: what the graph says of them is added up here.
TEST(GraphPolicy, ShowsItsHeadTheFeatures) {
  Rng rng(14);
  PolicyFile file = Card("counts", "tanh");
  AddGraph(file, "policy", 3, 4, rng);
  const auto arrays = std::make_shared<ProgramArrays>(testing::RandomGraph(30, 2, rng));
  const auto prior = PriorOf(file, kActions, {0, 1, 2, 3});
  const Row none = prior->Of({{}, {}, arrays}).probabilities;
  const Row some = prior->Of({kCounts, {}, arrays}).probabilities;
  const Tensor& head = file.tensors["policy.head.0.weight"];
  Row expected;
  for (size_t action = 0; action < 4; ++action) {
    double more = 0;
    for (const OpcodeCount& of : kCounts) {
      const size_t column = static_cast<size_t>(head.shape[1]) - 3 + of.opcode;
      more += head.values[action * static_cast<size_t>(head.shape[1]) + column] * of.count /
              static_cast<double>(kInitialOps);
    }
    expected.push_back(std::log(none[action]) + more);
  }
  ExpectNear(some, Softmax(expected));
}

TEST(GraphPolicy, SaysWhatIsWrong) {
  Rng rng(15);
  const PolicyFile whole = GraphPolicy(rng, kOpcodes);
  ASSERT_EQ(ErrorOf(whole), "");
  PolicyFile file = whole;
  file.tensors.erase("policy.graph.norm.bias");
  EXPECT_TRUE(Has(ErrorOf(file), "'policy.graph.norm.bias'"));
  file = whole;
  file.tensors.erase("value.head.0.bias");
  EXPECT_TRUE(Has(ErrorOf(file), "'value.head.0.bias'"));
  file = whole;
  file.metadata[kMetadataActions] = "dce";
  EXPECT_TRUE(Has(ErrorOf(file), "its network does not fit"));
  file = whole;
  AddGraph(file, "value", 17, 2, rng);
  EXPECT_TRUE(Has(ErrorOf(file), "its value network does not fit"));
}

// XLA's opcodes are numbered anew; the programs are the same.
TEST(Policy, IsTheSameWithTheOpcodesInAnotherOrder) {
  Rng rng(16);
  constexpr int32_t kKnown = 150;
  const Names opcodes = ManyOpcodes(kKnown);
  PolicyFile dense = Card("hone", "relu", opcodes);
  AddDense(dense, "policy", {2 * kKnown + 2 * 4 + 3, 8, 4}, rng);
  AddDense(dense, "value", {2 * kKnown + 2 * 4 + 3, 8, 1}, rng);
  for (const PolicyFile& file : {dense, GraphPolicy(rng, opcodes)}) {
    const std::vector<int32_t> order = testing::RandomOrder(kKnown, rng);
    Names reordered(kKnown);
    for (int32_t i = 0; i < kKnown; ++i) reordered[order[i]] = opcodes[i];
    ProgramArrays arrays = testing::RandomGraph(60, 2, rng);
    const auto prior = PriorOf(file, kActions, {0, 1, 2, 3}, opcodes);
    const Prior::Opinion opinion = prior->Of(Look(arrays, kKnown));
    for (int32_t& opcode : arrays.opcode) opcode = opcode < kKnown ? order[opcode] : opcode;
    const Prior::Opinion same =
        PriorOf(file, kActions, {0, 1, 2, 3}, reordered)->Of(Look(arrays, kKnown));
    ExpectNear(same.probabilities, opinion.probabilities);
    EXPECT_NEAR(*same.gain, *opinion.gain, 1e-4);
    // The old numbers would be other programs.
    EXPECT_GT(std::abs(*prior->Of(Look(arrays, kKnown)).gain - *opinion.gain), 1e-3);
    EXPECT_GT(Spread(opinion.probabilities), 0.01);
  }
}

TEST(GraphPolicy, TakesOpcodesThatItWasNotTrainedWithAsUnknown) {
  Rng rng(17);
  const PolicyFile file = GraphPolicy(rng, kOpcodes);
  const Names newer = {"new", "copy", "dot", "add"};
  ProgramArrays arrays = testing::RandomGraph(20, 2, rng);
  for (int32_t& opcode : arrays.opcode) opcode %= 3;
  const auto of = [&](const Names& opcodes, int32_t zero, int32_t one, int32_t two) {
    ProgramArrays renumbered = arrays;
    for (int32_t& opcode : renumbered.opcode) {
      opcode = opcode == 0 ? zero : opcode == 1 ? one : two;
    }
    return PriorOf(file, kActions, {0, 1, 2, 3}, opcodes)
        ->Of({{}, {}, std::make_shared<ProgramArrays>(renumbered)})
        .probabilities;
  };
  ExpectNear(of(newer, 0, 2, 1), of(kOpcodes, 1000, 1, 2));
  EXPECT_NE(of(newer, 0, 2, 1), of(kOpcodes, 0, 1, 2));
}

// More opcodes than the table has rows: the rest are its last row.
TEST(GraphPolicy, BearsMoreOpcodesThanItsTableHasRows) {
  Rng rng(18);
  const Names many = ManyOpcodes(kOpcodeRows + 60);
  const PolicyFile file = GraphPolicy(rng, many);
  Names turned = many;
  std::reverse(turned.begin(), turned.end());
  ProgramArrays arrays = testing::RandomGraph(5, 2, rng);
  const auto of = [&](const Names& opcodes, int32_t opcode) {
    arrays.opcode.assign(5, opcode);
    return PriorOf(file, kActions, {0, 1, 2, 3}, opcodes)
        ->Of({{}, {}, std::make_shared<ProgramArrays>(arrays)})
        .probabilities;
  };
  const Row beyond = of(many, 1000);
  for (int32_t i = 0; i < 60; ++i) ExpectNear(of(turned, i), beyond);  // the names of 251 to 192
  ExpectNear(of(turned, 100), of(many, 151));
  EXPECT_NE(of(turned, 100), beyond);
}

}  // namespace
}  // namespace hone::policy
