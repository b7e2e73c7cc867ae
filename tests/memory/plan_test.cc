// Plans of whole programs, run on the simulator; what they compute against the same program without
// tiles, and what they move.
#include <gtest/gtest.h>

#include <random>

#include "memory/access.h"
#include "memory/planner.h"
#include "memory/simulator/simulate.h"
#include "memory/values/evaluate.h"
#include "random_program.h"

namespace hone::memory {
namespace {

constexpr int64_t kLargeBytes = 256;

Machine SmallMachine(int64_t partitions, int64_t bytes_per_partition) {
  Machine machine = *FindMachine("generic");
  machine.partitions = partitions;
  machine.bytes_per_partition = bytes_per_partition;
  machine.engines_are_partitioned = partitions > 1;
  return machine;
}

// Inputs between -1 and 1, as bytes in memory.
Evaluation RandomInputs(const Network& network, uint64_t seed) {
  std::mt19937_64 random(seed);
  Evaluation values;
  for (TensorId id : network.parameters) {
    const Tensor& tensor = network.tensors[static_cast<size_t>(id)];
    Array array = MakeArray(tensor.type, WholeBox(tensor.dimensions));
    std::string bytes(static_cast<size_t>(tensor.Bytes()), 0);
    for (int64_t i = 0; i < Elements(tensor.dimensions); ++i) {
      if (!array.reals.empty()) {
        array.reals[static_cast<size_t>(i)] =
            static_cast<double>(static_cast<int64_t>(random() % 2001) - 1000) / 1000;
      }
      EncodeElement(array, i, &bytes[static_cast<size_t>(i * tensor.element_bytes)]);
    }
    values.parameters.push_back(std::move(bytes));
  }
  return values;
}

std::vector<Array> Expected(const Network& network, const Evaluation& values) {
  const auto outputs = EvaluateNetwork(network, [&](TensorId id, const Box& box) {
    const Tensor& tensor = network.tensors[static_cast<size_t>(id)];
    const Array whole = Decode(values.parameters[static_cast<size_t>(tensor.parameter)],
                               tensor.type, tensor.dimensions);
    Array part = MakeArray(tensor.type, box);
    ForEach(box, [&](const std::vector<int64_t>& index, int64_t at) {
      CopyElement(whole, Position(whole.box, index), part, at);
    });
    return part;
  });
  EXPECT_TRUE(outputs) << outputs.error().message;
  return *outputs;
}

void ExpectClose(const std::vector<Array>& outputs, const std::vector<Array>& expected) {
  ASSERT_EQ(outputs.size(), expected.size());
  for (size_t k = 0; k < outputs.size(); ++k) {
    ASSERT_EQ(outputs[k].box, expected[k].box);
    for (int64_t i = 0; i < Elements(expected[k].box); ++i) {
      const double value = AsReal(expected[k], i);
      if (AsReal(outputs[k], i) == value) continue;  // infinities, too
      ASSERT_NEAR(AsReal(outputs[k], i), value, 1e-4 * std::max(1.0, std::abs(value)));
    }
  }
}

class RandomPrograms : public testing::TestWithParam<uint64_t> {};

TEST_P(RandomPrograms, ComputeTheSameInTilesAndMoveWhatTheyClaim) {
  const auto program = BuildNetwork(MakeRandomProgram(GetParam()).graph);
  ASSERT_TRUE(program) << program.error().message;
  const Evaluation values = RandomInputs(*program, GetParam());
  const std::vector<Array> expected = Expected(*program, values);
  const Network network = ByParts(*program, kLargeBytes);
  for (const auto& [partitions, bytes] :
       {std::pair<int64_t, int64_t>{1, 1 << 20}, {1, 2048}, {8, 256}}) {
    SCOPED_TRACE(std::to_string(partitions) + " partitions of " + std::to_string(bytes));
    const Machine machine = SmallMachine(partitions, bytes);
    const auto planned = MakePlan(*program, network, machine, {1, nullptr});
    ASSERT_TRUE(planned) << planned.error().message;
    const auto run = Simulate(network, machine, planned->plan, &values);
    ASSERT_TRUE(run) << run.error().message;
    ExpectClose(run->outputs, expected);
    EXPECT_EQ(run->loaded_bytes, planned->plan.figures.loaded_bytes);
    EXPECT_EQ(run->stored_bytes, planned->plan.figures.stored_bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPrograms, testing::Range<uint64_t>(0, 40));

InstructionInfo Instruction(const std::string& opcode, std::vector<int64_t> dimensions,
                            std::vector<uint32_t> operands = {},
                            std::vector<std::pair<std::string, std::string>> attributes = {}) {
  static int next = 0;
  InstructionInfo instruction;
  instruction.name = opcode + std::to_string(next++);
  instruction.opcode = opcode;
  instruction.shape.type = "f32";
  instruction.shape.dimensions = std::move(dimensions);
  instruction.operands = std::move(operands);
  instruction.attributes = std::move(attributes);
  return instruction;
}

InstructionInfo Parameter(int32_t number, std::vector<int64_t> dimensions) {
  InstructionInfo instruction = Instruction("parameter", std::move(dimensions));
  instruction.parameter = number;
  return instruction;
}

Network Built(std::vector<InstructionInfo> instructions) {
  ProgramGraph graph;
  graph.computations.push_back({"main", std::move(instructions), 0});
  graph.computations[0].root = static_cast<uint32_t>(graph.computations[0].instructions.size() - 1);
  return *BuildNetwork(graph);
}

// 4 x 600 times 600 x 4: the factors do not fit into 4 KiB, the product does easily.
Network LongSum() {
  return Built({Parameter(0, {4, 600}), Parameter(1, {600, 4}),
                Instruction("dot", {4, 4}, {0, 1},
                            {{"lhs_contracting_dims", "{1}"}, {"rhs_contracting_dims", "{0}"}})});
}

TEST(Sums, AreMadeInPartsWhereTheirOperandsDoNotFit) {
  const Network network = LongSum();
  const Machine machine = SmallMachine(1, 4096);
  const auto planned = MakePlan(network, network, machine, {});
  ASSERT_TRUE(planned) << planned.error().message;
  const Figures& figures = planned->plan.figures;
  EXPECT_EQ(figures.streamed, 0);
  EXPECT_EQ(figures.dram_bytes(), (4 * 600 * 2 + 16) * 4) << "all once";
  const Evaluation values = RandomInputs(network, 1);
  const auto run = Simulate(network, machine, planned->plan, &values);
  ASSERT_TRUE(run) << run.error().message;
  ExpectClose(run->outputs, Expected(network, values));
}

TEST(Sums, ThatLackAPartOrTakeOneTwiceAreTrapped) {
  const Network network = LongSum();
  const Machine machine = SmallMachine(1, 4096);
  const auto planned = MakePlan(network, network, machine, {});
  ASSERT_TRUE(planned) << planned.error().message;
  const auto spoilt = [&](auto spoil) {
    Plan plan = planned->plan;
    for (Block& block : plan.blocks) {
      for (Step& step : block.steps) {
        if (!step.sums.empty()) spoil(step);
      }
    }
    const auto run = Simulate(network, machine, plan, nullptr);
    EXPECT_FALSE(run);
    return run ? "" : run.error().message;
  };
  EXPECT_NE(spoilt([](Step& step) {
              step.boxes[1] = Box{{0, 0}, {0, 0}};
            }).find("sum"),
            std::string::npos);
  // What tile 1 then reads is not there yet, which is found first.
  EXPECT_NE(spoilt([](Step& step) { step.sums[1] = step.sums[2]; }), "");
}

TEST(ByParts, ComputesSlicesOfAnElementwiseResultWhereTheyAreRead) {
  const Network program = Built({Parameter(0, {8, 64}), Instruction("tanh", {8, 64}, {0}),
                                 Instruction("slice", {4, 64}, {1}, {{"slice", "{[0:4], [0:64]}"}}),
                                 Instruction("slice", {4, 64}, {1}, {{"slice", "{[4:8], [0:64]}"}}),
                                 Instruction("multiply", {4, 64}, {2, 3})});
  ASSERT_EQ(program.ops.size(), 2u);
  const Network network = ByParts(program, kLargeBytes);
  ASSERT_EQ(network.ops.size(), 3u) << "two halves, each computed for itself";
  EXPECT_EQ(network.tensors[static_cast<size_t>(network.ops[0].results[0])].dimensions,
            (std::vector<int64_t>{4, 64}));
  EXPECT_EQ(network.tensors[static_cast<size_t>(network.ops[0].results[0])].part_of,
            program.ops[0].results[0]);
  EXPECT_EQ(ByParts(program, 1 << 20).ops.size(), 2u) << "a small one stays whole";
}

TEST(ByParts, GathersBeforeItConverts) {
  std::vector<InstructionInfo> instructions = {Parameter(0, {64, 8}), Parameter(1, {2, 1}),
                                               Instruction("tanh", {64, 8}, {0}),
                                               Instruction("gather", {2, 8}, {2, 1},
                                                           {{"offset_dims", "{1}"},
                                                            {"collapsed_slice_dims", "{0}"},
                                                            {"start_index_map", "{0}"},
                                                            {"index_vector_dim", "1"},
                                                            {"slice_sizes", "{1,8}"}})};
  instructions[1].shape.type = "s32";
  const Network program = Built(std::move(instructions));
  const Network network = ByParts(program, kLargeBytes);
  ASSERT_EQ(network.ops.size(), 2u);
  EXPECT_EQ(network.ops[0].opcode, "gather");
  EXPECT_EQ(network.ops[1].opcode, "tanh");
  EXPECT_EQ(network.ops[1].results, program.ops[1].results);
}

TEST(ByParts, GivesEveryReaderOfACheapResultItsOwn) {
  const Network program =
      Built({Parameter(0, {8}), Parameter(1, {64, 8}),
             Instruction("broadcast", {64, 8}, {0}, {{"dimensions", "{1}"}}),
             Instruction("tanh", {64, 8}, {2}), Instruction("multiply", {64, 8}, {1, 3}),
             Instruction("add", {64, 8}, {4, 3})});
  EXPECT_EQ(program.ops.size(), 3u);
  const Network network = ByParts(program, kLargeBytes);
  ASSERT_EQ(network.ops.size(), 4u);
  EXPECT_EQ(network.ops[2].opcode, "tanh") << "right before its second reader";
}

}  // namespace
}  // namespace hone::memory
