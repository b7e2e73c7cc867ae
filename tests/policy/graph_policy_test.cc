// Policies whose networks see the program's graph.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/rng.h"
#include "made_up_policies.h"
#include "policy/graph_forward.h"
#include "policy/policy.h"
#include "random_tensor.h"
#include "support/random_graph.h"

namespace hone::policy {
namespace {

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
