// XLA:GPU's back end makes code where there is no GPU.
#include <gtest/gtest.h>

#include <string>

#include "compiler_gpu/gpu_pool.h"

namespace hone {
namespace {

constexpr char kProgram[] = R"(HloModule m

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

ENTRY main {
  x = f32[1024,512] parameter(0)
  w = f32[512,64] parameter(1)
  zero = f32[] constant(0)
  y = f32[1024,512] multiply(x, x)
  d = f32[1024,64] dot(y, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[1024] reduce(d, zero), dimensions={1}, to_apply=add
  ROOT r = f32[1024] sqrt(s)
}
)";

StatusOr<Compiled> Assembly(const std::string& target, const std::string& program) {
  const auto evaluator = testing::GpuEvaluator(program, target);
  if (evaluator == nullptr) return MakeError(ErrorCode::kInternal, "no workers");
  CompileOptions compiling;
  compiling.sites = false;
  compiling.assembly = true;
  return evaluator->Compile({}, compiling);
}

TEST(Ptx, IsMadeForTheTarget) {
  const auto h100 = Assembly("h100", kProgram);
  ASSERT_TRUE(h100) << h100.error().message;
  EXPECT_NE(h100->assembly.find(".target sm_90"), std::string::npos);
  EXPECT_NE(h100->assembly.find(".entry "), std::string::npos);
  const auto a100 = Assembly("a100", kProgram);
  ASSERT_TRUE(a100) << a100.error().message;
  EXPECT_NE(a100->assembly.find(".target sm_80"), std::string::npos);
}

TEST(Ptx, IsTheSameInAnyProcess) {
  const auto once = Assembly("h100", kProgram);
  const auto again = Assembly("h100", kProgram);
  ASSERT_TRUE(once && again);
  EXPECT_EQ(once->assembly, again->assembly);
}

TEST(Ptx, IsEmptyWhereLibrariesDoAll) {
  const auto compiled = Assembly("h100", R"(HloModule m

ENTRY main {
  x = f32[256,256] parameter(0)
  y = f32[256,256] parameter(1)
  ROOT d = f32[256,256] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)");
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_EQ(compiled->assembly.find(".entry "), std::string::npos);
}

TEST(Ptx, CallsOfOtherLibrariesAreLeftOut) {
  const auto compiled = Assembly("h100", R"(HloModule m

ENTRY main {
  x = f32[64,64] parameter(0)
  y = f32[64,64] exponential(x)
  f = (f32[64,64]{0,1}, s32[]) custom-call(y), custom_call_target="lapack_spotrf_ffi", operand_layout_constraints={f32[64,64]{0,1}}, api_version=API_VERSION_TYPED_FFI, backend_config={uplo = 76 : ui8}
  l = f32[64,64]{0,1} get-tuple-element(f), index=0
  ROOT r = f32[64,64] negate(l)
}
)");
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_NE(compiled->assembly.find(".entry "), std::string::npos);
}

}  // namespace
}  // namespace hone
