// What counts as rounding when outputs are held to XLA's.
#include <gtest/gtest.h>

#include "memory/simulator/given.h"
#include "memory/simulator/simulate.h"
#include "memory/values/evaluate.h"
#include "random_program.h"
#include "small_programs.h"

namespace hone::memory {
namespace {

std::string Encoded(const Array& array) {
  const int64_t bytes = BytesOf(array.type);
  std::string memory(static_cast<size_t>(Elements(array.box) * bytes), 0);
  for (int64_t i = 0; i < Elements(array.box); ++i) {
    EncodeElement(array, i, &memory[static_cast<size_t>(i * bytes)]);
  }
  return memory;
}

// tanh(x) - x of small numbers that depend on no input: no noise of inputs tells how far another
// tanh may be off.
TEST(CompareOutputs, ExplainsWhatCancelsByRoundingOnTheWay) {
  const Network network =
      Built({Instruction("iota", {8}, {}, {{"iota_dimension", "0"}}), Number("0.01"),
             Instruction("broadcast", {8}, {1}, {{"dimensions", "{}"}}),
             Instruction("multiply", {8}, {0, 2}), Instruction("tanh", {8}, {3}),
             Instruction("subtract", {8}, {4, 3})});
  const std::vector<Array> ours = Expected(network, {});
  const auto others = EvaluateNetwork(
      network, [](TensorId, const Box& box) { return MakeArray(ElementType::kF32, box); },
      [](const Op& op, Array& result) {
        if (op.opcode != "tanh") return;
        for (double& value : result.reals) value = Round(value * (1 + 3e-7), result.type);
      });
  ASSERT_TRUE(others) << others.error().message;
  Evaluation reference;
  reference.results = {Encoded((*others)[0])};
  reference.noisy_results = {reference.results};
  const OutputCheck check = CompareOutputs(network, ours, reference);
  EXPECT_TRUE(check.equal) << check.reason;
  EXPECT_GT(check.worst, 0);
  std::vector<Array> wrong = ours;
  wrong[0].reals[7] += 1e-5;
  EXPECT_FALSE(CompareOutputs(network, wrong, reference).equal);
}

// hone-memory-bench's program of this seed sums up what cancels, after a loop that ends when its
// data say so.
TEST(CompareOutputs, RoundingOnTheWayReachesIntoLoops) {
  const auto program = BuildNetwork(MakeRandomProgram(200459, true).graph);
  ASSERT_TRUE(program) << program.error().message;
  const Evaluation values = RandomInputs(*program, 1);
  size_t within = 0;
  const auto outputs = EvaluateNetwork(
      *program,
      [&](TensorId id, const Box& box) {
        return Cut(*GivenValues(program->tensors[static_cast<size_t>(id)], values), box);
      },
      [&](const Op& op, Array&) {
        within += &op < &program->ops.front() || &op > &program->ops.back() ? 1 : 0;
      });
  ASSERT_TRUE(outputs) << outputs.error().message;
  EXPECT_GT(within, 0);
}

// Whole numbers of sines: one lies so close to the next that rounding decides, and no noise of
// inputs shows it.
TEST(CompareOutputs, CannotTellWhereIntegersHangOnTheLastBit) {
  InstructionInfo whole = Instruction("convert", {64}, {4});
  whole.shape.type = "s32";
  const Network network =
      Built({Instruction("iota", {64}, {}, {{"iota_dimension", "0"}}), Number("8388608"),
             Instruction("broadcast", {64}, {1}, {{"dimensions", "{}"}}),
             Instruction("sine", {64}, {0}), Instruction("multiply", {64}, {3, 2}), whole});
  const std::vector<Array> ours = Expected(network, {});
  Evaluation reference;
  reference.results = {Encoded(ours[0])};
  reference.noisy_results = {reference.results, reference.results, reference.results};
  std::vector<Array> other = ours;
  ++other[0].integers[1];
  const OutputCheck check = CompareOutputs(network, other, reference);
  EXPECT_FALSE(check.equal);
  EXPECT_TRUE(check.unclear) << check.reason;
  EXPECT_TRUE(CompareOutputs(network, ours, reference).equal);
  // What is converted from whole numbers hangs on nothing.
  whole.operands = {0};
  const Network clear =
      Built({Instruction("iota", {64}, {}, {{"iota_dimension", "0"}}), whole});
  other = Expected(clear, {});
  reference.results = {Encoded(other[0])};
  reference.noisy_results = {reference.results, reference.results, reference.results};
  ++other[0].integers[1];
  EXPECT_FALSE(CompareOutputs(clear, other, reference).equal);
  EXPECT_FALSE(CompareOutputs(clear, other, reference).unclear);
}

// The output of a reduction, as XLA has it and as we do; and an output beside it that is as wrong.
OutputCheck CheckOfReduction(const std::string& initial, uint32_t computation, double apart,
                             bool beside = false, int64_t length = 8) {
  const Network network = Built(
      {Instruction("iota", {64, length}, {}, {{"iota_dimension", "0"}}),
       Instruction("sine", {64, length}, {0}), Number(initial),
       Reduce({64}, 1, 2, "{1}", computation), Instruction("negate", {64}, {3}),
       Instruction("cosine", {64, length}, {0}), Instruction("tuple", {}, {4, 5})});
  std::vector<Array> ours = Expected(network, {});
  Evaluation reference;
  reference.results = {Encoded(ours[0]), Encoded(ours[1])};
  reference.noisy_results = {reference.results, reference.results, reference.results};
  for (double& value : ours[beside ? 1 : 0].reals) value += apart;
  return CompareOutputs(network, ours, reference);
}

// XLA:CPU takes 0.25 once more for each window that it cuts the sum into.
TEST(CompareOutputs, CannotTellWhereAnInitialValueMayBeTakenAgain) {
  const OutputCheck check = CheckOfReduction("0.25", kAdds, 0.25);
  EXPECT_FALSE(check.equal);
  EXPECT_TRUE(check.unclear) << check.reason;
  EXPECT_NE(check.reason.find("no identity"), std::string::npos) << check.reason;
  EXPECT_TRUE(CheckOfReduction("0.25", kAdds, 0).equal);
}

// XLA's algebraic simplifier makes a reshape of a reduction of single elements.
TEST(CompareOutputs, CannotTellWhereAnInitialValueMayNotBeTaken) {
  EXPECT_TRUE(CheckOfReduction("0.25", kMaximum, 0.25, false, 1).unclear);
  EXPECT_FALSE(CheckOfReduction("-1", kMaximum, 0.25, false, 1).unclear);
}

// A square root of what is negative, masked by products: XLA's algebraic simplifier chooses zeros.
TEST(CompareOutputs, CannotTellOfNanTimesATruthValue) {
  InstructionInfo less = Instruction("compare", {64}, {1, 3}, {{"direction", "LT"}});
  less.shape.type = "pred";
  for (const bool masked : {true, false}) {
    const Network network = Built(
        {Instruction("iota", {64}, {}, {{"iota_dimension", "0"}}), Instruction("sine", {64}, {0}),
         Number("0"), Instruction("broadcast", {64}, {2}, {{"dimensions", "{}"}}), less,
         Instruction("convert", {64}, {4}), Instruction("sqrt", {64}, {1}),
         Instruction("multiply", {64}, {6, masked ? 5u : 1u})});
    const std::vector<Array> ours = Expected(network, {});
    std::vector<Array> others = ours;
    for (double& value : others[0].reals) value = value != value ? 0 : value;
    Evaluation reference;
    reference.results = {Encoded(others[0])};
    reference.noisy_results = {reference.results, reference.results, reference.results};
    const OutputCheck check = CompareOutputs(network, ours, reference);
    EXPECT_FALSE(check.equal);
    EXPECT_EQ(check.unclear, masked) << check.reason;
  }
}

TEST(CompareOutputs, HoldsReductionsToXlaWhereNothingIsOpen) {
  // An identity; a bound, however often it is taken; and what does not depend on the sum.
  for (const OutputCheck& check :
       {CheckOfReduction("0", kAdds, 0.25), CheckOfReduction("0.25", kMaximum, 0.25),
        CheckOfReduction("-inf", kMaximum, 0.25), CheckOfReduction("0.25", kAdds, 0.25, true)}) {
    EXPECT_FALSE(check.equal);
    EXPECT_FALSE(check.unclear) << check.reason;
  }
}

}  // namespace
}  // namespace hone::memory
