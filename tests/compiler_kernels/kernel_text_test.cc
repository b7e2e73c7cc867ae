#include "compiler/kernels/kernel_text.h"

#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"

namespace hone::compiler {
namespace {

constexpr char kMlir[] = R"mlir(#map = #xla.indexing_map<"(d0) -> (d0), domain: d0 in [0, 1]">
#loc = loc("add_fusion.8")
module @add_fusion.8_kernel_module attributes {name = "@add_fusion.8"} {
  func.func @add_fusion.8(%arg0: tensor<4xf32> {llvm.align = 64 : index} loc("add_fusion.8"), %arg1: tensor<4xf32> loc("a(b\")")) -> tensor<4xf32> attributes {xla.backend_kind = #xla.backend_kind<cpu>, xla.entry} {
    %0 = xla.pure_call @fused_computation_225_add(%arg0) : (tensor<4xf32>) -> f32 loc(#loc)
    %1 = func.call @expf(%0) : (f32) -> f32 loc(#loc)
    return %arg1 : tensor<4xf32> loc(#loc)
  } loc(#loc)
  func.func private @expf(f32) -> f32 loc(#loc)
  func.func private @fused_computation_225_add(%arg0: tensor<4xf32> loc("x")) -> f32 attributes {llvm.linkage = #llvm.linkage<internal>} {
    %c = arith.constant 385 : i32 loc(#loc)
    return %c : f32 loc(#loc)
  } loc(#loc)
} loc(#loc)
)mlir";

TEST(KernelText, OfMlirHasNoNamesOfItsProgram) {
  const auto kernel = ReadMlirKernel(kMlir);
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->function, "add_fusion.8");
  EXPECT_EQ(kernel->module, "add_fusion.8_kernel_module");
  EXPECT_EQ(kernel->text.find("loc("), std::string::npos);
  EXPECT_EQ(kernel->text.find("225"), std::string::npos);
  // Another's function and what stands in a string stay.
  EXPECT_NE(kernel->text.find("@expf"), std::string::npos);
  EXPECT_NE(kernel->text.find("\"@add_fusion.8\""), std::string::npos);

  const std::string renamed =
      absl::StrReplaceAll(kMlir, {{"@add_fusion.8_k", "@add_fusion.91_k"},
                                  {"@add_fusion.8(", "@\"mul-fusion\"("},
                                  {"@fused_computation_225_add", "@fused_computation_7_add"},
                                  {"loc(\"add_fusion.8\")", "loc(\"mul-fusion\")"}});
  const auto other = ReadMlirKernel(renamed);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->text, kernel->text);
  EXPECT_EQ(other->function, "mul-fusion");
}

TEST(KernelText, OfMlirHasAllElse) {
  const auto kernel = ReadMlirKernel(kMlir);
  ASSERT_TRUE(kernel);
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"385", "386"},
                                                        {"@expf", "@logf"},
                                                        {"align = 64", "align = 32"},
                                                        {"d0 in [0, 1]", "d0 in [0, 2]"}}) {
    const auto other = ReadMlirKernel(absl::StrReplaceAll(kMlir, {{from, to}}));
    ASSERT_TRUE(other);
    EXPECT_NE(other->text, kernel->text) << from;
  }
}

TEST(KernelText, WithoutOneFunctionToCallIsNone) {
  EXPECT_FALSE(ReadMlirKernel(""));
  EXPECT_FALSE(ReadMlirKernel(absl::StrReplaceAll(kMlir, {{", xla.entry", ""}})));
  EXPECT_FALSE(ReadLlvmKernel("; ModuleID = 'x'\ndefine void @a() {\n}\ndefine void @b() {\n}\n"));
}

TEST(KernelText, OfLlvmHasNoNamesOfItsProgram) {
  constexpr char kLlvm[] = R"llvm(; ModuleID = '__compute_module_call.3_kernel_module'
source_filename = "__compute_module_call.3_kernel_module"
@0 = private constant [4 x i8] c"@k\22\00"
define ptr @call.3(ptr %0) #0 {
  call void @call.3_wrapped(ptr %0)
  %2 = call float @expf(float 1.0)
  ret ptr null
}
define internal void @call.3_wrapped(ptr %0) {
  ret void
}
!1 = !{i32 1, !"xla_dylib_index", i64 29}
)llvm";
  const auto kernel = ReadLlvmKernel(kLlvm);
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->function, "call.3");
  EXPECT_EQ(kernel->module, "__compute_module_call.3_kernel_module");
  const auto other =
      ReadLlvmKernel(absl::StrReplaceAll(kLlvm, {{"call.3", "call.44"}, {"i64 29", "i64 3"}}));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->text, kernel->text);
  EXPECT_NE(ReadLlvmKernel(absl::StrReplaceAll(kLlvm, {{"@expf", "@logf"}}))->text, kernel->text);
}

}  // namespace
}  // namespace hone::compiler
