#include "small_programs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "memory/values/evaluate.h"

namespace hone::memory {

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
      if (!array.integers.empty()) {
        array.integers[static_cast<size_t>(i)] = static_cast<int64_t>(random() % 64);
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
    return Cut(Decode(values.parameters[static_cast<size_t>(tensor.parameter)], tensor.type,
                      tensor.dimensions),
               box);
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

InstructionInfo Instruction(const std::string& opcode, std::vector<int64_t> dimensions,
                            std::vector<uint32_t> operands,
                            std::vector<std::pair<std::string, std::string>> attributes) {
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

InstructionInfo Parameter(int32_t number, std::vector<int64_t> dimensions,
                          const std::string& type) {
  InstructionInfo instruction = Instruction("parameter", std::move(dimensions));
  instruction.parameter = number;
  instruction.shape.type = type;
  return instruction;
}

InstructionInfo Number(const std::string& literal) {
  InstructionInfo instruction = Instruction("constant", {});
  instruction.literal = literal;
  return instruction;
}

InstructionInfo Reduce(std::vector<int64_t> dimensions, uint32_t operand, uint32_t initial,
                       const std::string& along, uint32_t computation) {
  InstructionInfo instruction =
      Instruction("reduce", std::move(dimensions), {operand, initial}, {{"dimensions", along}});
  instruction.called = {computation};
  return instruction;
}

Network Built(std::vector<InstructionInfo> instructions) {
  ProgramGraph graph;
  for (const char* opcode : {"add", "maximum"}) {
    graph.computations.push_back(
        {opcode, {Parameter(0, {}), Parameter(1, {}), Instruction(opcode, {}, {0, 1})}, 2});
  }
  const auto root = static_cast<uint32_t>(instructions.size() - 1);
  graph.computations.push_back({"main", std::move(instructions), root});
  auto network = BuildNetwork(graph);
  EXPECT_TRUE(network) << network.error().message;
  return *std::move(network);
}

}  // namespace hone::memory
