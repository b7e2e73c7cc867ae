#include <gtest/gtest.h>

#include "compiler/implementations/implementations.h"
#include "same_value.h"

namespace hone::compiler {
namespace {

// How many additions are left beside the kernel of a bf16 product with a bias.
int AdditionsLeft(bool excess_precision) {
  const auto module = Parsed(
      "HloModule test\nENTRY main {\n  p0 = bf16[64,64] parameter(0)\n  p1 = bf16[64] "
      "parameter(1)\n"
      "  d = bf16[64,64] dot(p0, p0), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "  b = bf16[64,64] broadcast(p1), dimensions={1}\n"
      "  ROOT s = bf16[64,64] add(d, b)\n}\n");
  module->mutable_config().mutable_debug_options().set_xla_allow_excess_precision(excess_precision);
  EXPECT_TRUE(RulePass("kernels", {FindImplementation("products")}).Run(module.get()).value());
  int additions = 0;
  for (const auto* instruction : module->entry_computation()->instructions()) {
    additions += instruction->opcode() == xla::HloOpcode::kAdd ? 1 : 0;
  }
  return additions;
}

TEST(ProductKernels, RoundWhereTheProgramIsNotAllowedExcessPrecision) {
  EXPECT_EQ(AdditionsLeft(true), 0);
  EXPECT_EQ(AdditionsLeft(false), 1);
}

}  // namespace
}  // namespace hone::compiler
