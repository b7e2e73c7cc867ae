// What XLA:GPU makes of a program, fusions, library calls and bitcasts, is held against the program
// on a CPU.
#include <gtest/gtest.h>

#include <string>

#include "compiler_gpu/gpu_pool.h"
#include "support/programs.h"

namespace hone {
namespace {

using testing::GpuPool;
using testing::MustLoad;

struct Case {
  const char* name;
  const char* call;  // that the pipeline makes; "" for none
  const char* body;
};

std::string TextOf(const Case& one) {
  return std::string(
             "HloModule m\n\nadd {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n"
             "  ROOT z = f32[] add(x, y)\n}\n\nENTRY main {\n") +
         one.body + "}\n";
}

// Names of library calls are the wheel's own.
class GpuPlain : public ::testing::TestWithParam<Case> {
 protected:
  const ProgramInfo program_ = MustLoad(GpuPool(), TextOf(GetParam()));

  Compiled Optimised(const CompilePlan& plan) {
    CompileOptions options;
    options.sites = false;
    options.text = true;
    const auto compiled = GpuPool().On(0, [&](RemoteWorker& remote) {
      return remote.Compile({program_.id, {}}, plan, options);
    });
    EXPECT_TRUE(compiled) << compiled.error().message;
    return compiled.value_or(Compiled{});
  }
  ComparisonReport Compared(const CompilePlan& plan) {
    CompareOptions options;
    options.pipeline = true;
    const auto report = GpuPool().Compare({program_.id, {}}, {}, {program_.id, {}}, plan, options);
    EXPECT_TRUE(report) << report.error().message;
    return report.value_or(ComparisonReport{});
  }
};

TEST_P(GpuPlain, ComputesTheSame) {
  for (const char* library : {"false", "true"}) {  // cuBLAS, cuBLASLt
    const CompilePlan plan{{}, {{"xla_gpu_enable_cublaslt", library}}};
    const std::string text = Optimised(plan).text;
    EXPECT_NE(text.find(GetParam().call), std::string::npos) << text;
    const ComparisonReport report = Compared(plan);
    EXPECT_EQ(report.verdict, Verdict::kEqual) << report.reason << text;
  }
}

// What is added to in place must have been read by then: control dependencies say so.
TEST(GpuPlainLoop, WhatIsOrderedByControlDependenciesIsMadePlainToo) {
  const ProgramInfo program = MustLoad(GpuPool(), R"(HloModule m

body {
  p = (s32[], f32[2,16,48], f32[48,48]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[2,16,48] get-tuple-element(p), index=1
  w = f32[48,48] get-tuple-element(p), index=2
  t = f32[2,16,48] tanh(x)
  a = f32[32,48] reshape(t)
  d = f32[32,48] dot(a, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  r = f32[32,48] reshape(x)
  s = f32[32,48] add(d, r)
  n = f32[2,16,48] reshape(s)
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT t2 = (s32[], f32[2,16,48], f32[48,48]) tuple(j, n, w)
}

condition {
  p = (s32[], f32[2,16,48], f32[48,48]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  k = s32[] constant(50)
  ROOT c = pred[] compare(i, k), direction=LT
}

ENTRY main {
  x = f32[2,16,48] parameter(0)
  w = f32[48,48] parameter(1)
  zero = s32[] constant(0)
  t = (s32[], f32[2,16,48], f32[48,48]) tuple(zero, x, w)
  l = (s32[], f32[2,16,48], f32[48,48]) while(t), condition=condition, body=body
  ROOT r = f32[2,16,48] get-tuple-element(l), index=1
}
)");
  CompileOptions options;
  options.sites = false;
  options.text = true;
  const CompilePlan plan{{}, {{"xla_gpu_enable_cublaslt", "true"}}};
  const auto compiled = GpuPool().On(
      0, [&](RemoteWorker& remote) { return remote.Compile({program.id, {}}, plan, options); });
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_NE(compiled->text.find("control-predecessors"), std::string::npos) << compiled->text;
  CompareOptions comparing;
  comparing.pipeline = true;
  const auto report = GpuPool().Compare({program.id, {}}, {}, {program.id, {}}, plan, comparing);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->verdict, Verdict::kEqual) << report->reason;
}

INSTANTIATE_TEST_SUITE_P(
    Programs, GpuPlain,
    ::testing::Values(
        Case{"gemm_with_factor_and_sum", "__cublas$",
             "  a = f32[64,48] parameter(0)\n  b = f32[48,32] parameter(1)\n"
             "  c = f32[64,32] parameter(2)\n  d = f32[64,32] dot(a, b), lhs_contracting_dims={1}, "
             "rhs_contracting_dims={0}\n  k = f32[] constant(0.5)\n"
             "  kk = f32[64,32] broadcast(k), dimensions={}\n  m = f32[64,32] multiply(d, kk)\n"
             "  ROOT r = f32[64,32] add(m, c)\n"},
        Case{"gemm_with_bias_and_relu", "__cublas$",
             "  a = f32[64,48] parameter(0)\n  b = f32[48,32] parameter(1)\n"
             "  c = f32[32] parameter(2)\n  d = f32[64,32] dot(a, b), lhs_contracting_dims={1}, "
             "rhs_contracting_dims={0}\n  cc = f32[64,32] broadcast(c), dimensions={1}\n"
             "  s = f32[64,32] add(d, cc)\n  z = f32[] constant(0)\n"
             "  zz = f32[64,32] broadcast(z), dimensions={}\n  ROOT r = f32[64,32] maximum(s, "
             "zz)\n"},
        Case{"gemm_with_bias_of_rows", "__cublas$",
             "  w = f32[32,48] parameter(0)\n  x = f32[64,48] parameter(1)\n"
             "  b = f32[32] parameter(2)\n  d = f32[32,64]{0,1} dot(w, x), "
             "lhs_contracting_dims={1}, rhs_contracting_dims={1}\n"
             "  bb = f32[32,64]{0,1} broadcast(b), dimensions={0}\n"
             "  ROOT r = f32[32,64]{0,1} add(d, bb)\n"},
        Case{"gemm_that_is_padded_with_bias", "__cublas$",
             "  a = bf16[16,48] parameter(0)\n  b = bf16[48,3] parameter(1)\n"
             "  c = bf16[3] parameter(2)\n  d = bf16[16,3] dot(a, b), lhs_contracting_dims={1}, "
             "rhs_contracting_dims={0}\n  cc = bf16[16,3] broadcast(c), dimensions={1}\n"
             "  ROOT s = bf16[16,3] add(d, cc)\n"},
        Case{"gemm_of_bf16_with_wide_result", "__cublas$",
             "  a = bf16[64,48] parameter(0)\n  b = bf16[48,32] parameter(1)\n"
             "  ROOT d = f32[64,32] dot(a, b), lhs_contracting_dims={1}, "
             "rhs_contracting_dims={0}\n"},
        Case{"batched_gemm_transposed", "__cublas$",
             "  a = f32[4,48,64] parameter(0)\n  b = f32[4,32,48] parameter(1)\n"
             "  ROOT d = f32[4,64,32] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, "
             "lhs_contracting_dims={1}, rhs_contracting_dims={2}\n"},
        Case{
            "convolution", "__cudnn$conv",
            "  x = f32[2,9,9,8] parameter(0)\n  w = f32[3,3,8,16] parameter(1)\n"
            "  ROOT c = f32[2,5,5,16] convolution(x, w), window={size=3x3 stride=2x2 pad=1_1x1_1}, "
            "dim_labels=b01f_01io->b01f\n"},
        Case{"convolution_with_bias_and_relu", "__cudnn$conv",
             "  x = f32[2,9,9,8] parameter(0)\n  w = f32[3,3,8,16] parameter(1)\n"
             "  b = f32[16] parameter(2)\n  c = f32[2,9,9,16] convolution(x, w), "
             "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f\n"
             "  bb = f32[2,9,9,16] broadcast(b), dimensions={3}\n  s = f32[2,9,9,16] add(c, bb)\n"
             "  z = f32[] constant(0)\n  zz = f32[2,9,9,16] broadcast(z), dimensions={}\n"
             "  ROOT r = f32[2,9,9,16] maximum(s, zz)\n"},
        Case{"convolution_backward_by_input", "__cudnn$convBackwardInput",
             "  y = f32[2,5,5,16] parameter(0)\n  w = f32[3,3,8,16] parameter(1)\n"
             "  r = f32[3,3,8,16] reverse(w), dimensions={0,1}\n"
             "  ROOT c = f32[2,9,9,8] convolution(y, r), "
             "window={size=3x3 pad=1_1x1_1 lhs_dilate=2x2}, dim_labels=b01f_01oi->b01f\n"},
        Case{"convolution_backward_by_filter", "__cudnn$convBackwardFilter",
             "  x = f32[2,9,9,8] parameter(0)\n  y = f32[2,5,5,16] parameter(1)\n"
             "  ROOT c = f32[3,3,8,16] convolution(x, y), "
             "window={size=5x5 pad=1_1x1_1 rhs_dilate=2x2}, dim_labels=f01b_i01o->01bf\n"},
        Case{"grouped_convolution_backward_by_filter", "__cudnn$conv",
             "  x = f32[2,9,9,8] parameter(0)\n  y = f32[2,9,9,16] parameter(1)\n"
             "  ROOT c = f32[3,3,2,16] convolution(x, y), window={size=9x9 pad=1_1x1_1}, "
             "dim_labels=f01b_i01o->01bf, batch_group_count=4\n"},
        Case{"triangular_solve", "",
             "  a = f32[2,16,16] parameter(0)\n  b = f32[2,16,4] parameter(1)\n"
             "  i = f32[16] constant({9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9})\n"
             "  ii = f32[2,16,16] broadcast(i), dimensions={2}\n  s = f32[2,16,16] add(a, ii)\n"
             "  ROOT t = f32[2,16,4] triangular-solve(s, b), left_side=true, lower=true, "
             "transpose_a=NO_TRANSPOSE\n"},
        Case{"reduce_of_transposed", "",
             "  a = f32[64,96,33] parameter(0)\n  t = f32[33,64,96] transpose(a), "
             "dimensions={2,0,1}\n"
             "  e = f32[33,64,96] exponential(t)\n  z = f32[] constant(0)\n"
             "  ROOT r = f32[33,96] reduce(e, z), dimensions={1}, to_apply=add\n"},
        Case{"random_bits", "",
             "  s = u64[2] parameter(0)\n  r = (u64[2], u32[33,7]) rng-bit-generator(s), "
             "algorithm=rng_philox\n  b = u32[33,7] get-tuple-element(r), index=1\n"
             "  n = u64[2] get-tuple-element(r), index=0\n"
             "  ROOT t = (u32[33,7], u64[2]) tuple(b, n)\n"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace hone
