// Every alternative implementation against XLA's evaluator, which shares no code with it.
#include "compiler/implementations/implementations.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/run/execute.h"
#include "core/native_kernel.h"
#include "implementation_cases.h"
#include "same_value.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/literal.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::Literal;

class ImplementationTest : public testing::TestWithParam<Case> {};

TEST_P(ImplementationTest, SameValueWhereItAppliesElseUntouched) {
  const InstructionRule* const rule = FindImplementation(GetParam().implementation);
  ASSERT_NE(rule, nullptr);
  const auto same = [](const xla::HloModule& before, const xla::HloModule& after,
                       const std::vector<Literal>& inputs) {
    // The evaluator does not know top-k, random bits, nor solves, and passes over batching
    // dimensions of gathers; kernels are XLA:CPU's.
    if (GetParam().text.find("operand_batching_dims") != std::string::npos ||
        GetParam().implementation.find("top_k") != std::string::npos ||
        GetParam().implementation == "random_bits" ||
        GetParam().implementation == "concatenate_once" ||
        GetParam().implementation == "triangular_inverses" ||
        GetParam().implementation == "dot_before_solve") {
      ExpectSameRuns(before, after, inputs);
      return;
    }
    std::vector<const Literal*> pointers;
    for (const Literal& input : inputs) pointers.push_back(&input);
    auto want = xla::HloEvaluator().Evaluate(before, pointers);
    auto got = xla::HloEvaluator().Evaluate(after, pointers);
    ASSERT_TRUE(want.ok()) << want.status();
    ASSERT_TRUE(got.ok()) << got.status() << "\n" << after.ToString();
    ExpectNear(*want, *got);
  };
  ExpectSameValueWhereItApplies(*rule, GetParam().text, GetParam().applies, GetParam().special,
                                same);
}

INSTANTIATE_TEST_SUITE_P(All, ImplementationTest, testing::ValuesIn(ImplementationCases()),
                         [](const auto& info) {
                           return info.param.implementation + "_" + std::to_string(info.index);
                         });

TEST(Implementations, EachHasACase) {
  for (const Implementation& implementation : Implementations()) {
    // Calls of kernels run where there is code for them: tests/loops/programs_test.cc; those of
    // LAPACK likewise: tests/compiler_custom_calls/write_out_small_test.cc.
    bool found = loops::MakesKernels("implement:" + implementation.rule->name()) ||
                 implementation.rule->name() == "small_eigenvalues";
    for (const Case& c : ImplementationCases()) {
      found = found || (c.applies && c.implementation == implementation.rule->name());
    }
    EXPECT_TRUE(found) << implementation.rule->name();
  }
}

}  // namespace
}  // namespace hone::compiler
