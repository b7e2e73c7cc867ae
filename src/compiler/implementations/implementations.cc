#include "compiler/implementations/implementations.h"

#include <utility>

#include "compiler/implementations/convolution_dots.h"
#include "compiler/implementations/convolution_kernels.h"
#include "compiler/implementations/depthwise_convolution.h"
#include "compiler/implementations/depthwise_kernels.h"
#include "compiler/implementations/dots.h"
#include "compiler/implementations/loop_kernels.h"
#include "compiler/implementations/loops.h"
#include "compiler/implementations/product_kernels.h"
#include "compiler/implementations/reductions.h"
#include "compiler/implementations/sort_kernels.h"
#include "compiler/implementations/sorting.h"
#include "compiler/implementations/transpose_kernels.h"
#include "compiler/implementations/windows.h"
#include "compiler/implementations/write_out_small.h"

namespace hone::compiler {
namespace {

using xla::HloOpcode;
using Replace = absl::StatusOr<xla::HloInstruction*> (*)(xla::HloInstruction* root);

// A function as a rule.
class FunctionRule : public InstructionRule {
 public:
  FunctionRule(std::string name, Replace replace, std::vector<HloOpcode> roots)
      : name_(std::move(name)), replace_(replace), roots_(std::move(roots)) {}

  std::string name() const override { return name_; }
  std::vector<HloOpcode> root_opcodes() const override { return roots_; }
  absl::StatusOr<xla::HloInstruction*> Replacement(xla::HloInstruction* root) const override {
    return replace_(root);
  }

 private:
  const std::string name_;
  const Replace replace_;
  const std::vector<HloOpcode> roots_;
};

const InstructionRule* Rule(std::string name, Replace replace, std::vector<HloOpcode> roots) {
  return new FunctionRule(std::move(name), replace, std::move(roots));
}

}  // namespace

const std::vector<Implementation>& Implementations() {
  static const auto* const kAll = new std::vector<Implementation>{
      {Rule("depthwise_shifts", DepthwiseShifts, {HloOpcode::kConvolution}),
       "depthwise convolution as shifted multiply-adds"},
      {Rule("depthwise_kernel_gradient_shifts", DepthwiseKernelGradientShifts,
            {HloOpcode::kConvolution}),
       "kernel gradient of a depthwise convolution as sums of shifted products"},
      {Rule("pointwise_dot", PointwiseDot, {HloOpcode::kConvolution}), "1x1 convolution as a dot"},
      {Rule("convolution_output_dots", ConvolutionOutputDots, {HloOpcode::kConvolution}),
       "convolution of few output positions as a dot for each"},
      {Rule("convolution_shifted_dots", ConvolutionShiftedDots, {HloOpcode::kConvolution}),
       "convolution as a dot for each tap"},
      {Rule("convolution_patches_dot", ConvolutionPatchesDot, {HloOpcode::kConvolution}),
       "convolution as a dot over patches"},
      {Rule("convolution_in_f32", ConvolutionInF32, {HloOpcode::kConvolution}),
       "convolution of narrow floats in f32"},
      {Rule("reduce_window_shifts", ReduceWindowShifts, {HloOpcode::kReduceWindow}),
       "reduce-window as its operation over shifted arrays"},
      {Rule("reduce_window_reduce", ReduceWindowReduce, {HloOpcode::kReduceWindow}),
       "reduce-window over tiles as a reduce"},
      {Rule("cumulative_steps", CumulativeSteps, {HloOpcode::kReduceWindow}),
       "running sum, maximum or anything else by doubling steps"},
      {Rule("cumulative_dots", CumulativeDots, {HloOpcode::kReduceWindow}),
       "running sum as dots with triangles"},
      {Rule("select_and_scatter_shifts", SelectAndScatterShifts, {HloOpcode::kSelectAndScatter}),
       "select-and-scatter by comparing shifted arrays"},
      {Rule("top_k_in_f32", TopKInF32, {HloOpcode::kTopK, HloOpcode::kCustomCall}),
       "top-k of narrow floats in f32"},
      {Rule("top_k_call", TopKCall, {HloOpcode::kTopK}),
       "top-k as a call, where XLA may sort all"},
      {Rule("sort_top_k", SortTopK, {HloOpcode::kSlice}), "the first few of a sort as a top-k"},
      {Rule("sort_packed_keys", SortPackedKeys, {HloOpcode::kSort}),
       "sort, or argsort, as a sort of integers with the positions in them"},
      {Rule("argmax_two_reduces", ArgmaxTwoReduces, {HloOpcode::kReduce}),
       "argmax as a maximum and its first position"},
      {Rule("write_out_small", WriteOutSmall, WriteOutSmallRoots()),
       "small matrices, sorts, gathers and scatters written out"},
      {Rule("unroll_short_loop", UnrollShortLoop, {HloOpcode::kWhile}), "short loop unrolled"},
      {Rule("loop_one_kernel", LoopOneKernel, {HloOpcode::kWhile}),
       "loop of small operations as one kernel", true},
      {Rule("dot_in_f32", DotInF32, {HloOpcode::kDot}), "dot of narrow floats in f32"},
      {Rule("batched_dot_reduce", BatchedDotReduce, {HloOpcode::kDot}),
       "many small dots as a multiplication and a sum"},
      {Rule("reduce_dot_ones", ReduceDotOnes, {HloOpcode::kReduce}), "sum as a product with ones"},
      {Rule("reduce_slices", ReduceSlices, {HloOpcode::kReduce}),
       "reduction of slices that are put together first"},
      {Rule("thin_dot_sum", ThinDotSum, {HloOpcode::kDot}), "dot of few terms as their sum"},
      {Rule("dot_of_transposes", DotOfTransposes, {HloOpcode::kDot}),
       "dot with transposed operands as they were"},
      {Rule("dot_scaled_after", DotScaledAfter, {HloOpcode::kDot}),
       "dot of bytes that are scaled by columns, scaled afterwards"},
      {Rule("dot_swapped", DotSwapped, {HloOpcode::kDot}), "dot with its operands changed round"},
      {Rule("loops", LoopKernels, LoopKernelsRoots()),
       "reductions with what is around them, running sums, and attention, as kernels of hone-loops",
       true},
      {Rule("products", ProductKernels, ProductKernelsRoots()),
       "dots of floats, with what is elementwise behind them, as kernels of hone-loops", true},
      {Rule("convolutions", ConvolutionKernels, ConvolutionKernelsRoots()),
       "convolutions of floats, with what is elementwise behind them, as kernels of hone-loops",
       true},
      {Rule("depthwise", DepthwiseKernels, DepthwiseKernelsRoots()),
       "depthwise convolutions, with what is elementwise behind them, as kernels of hone-loops",
       true},
      {Rule("transposes", TransposeKernels, TransposeKernelsRoots()),
       "transpositions, squares at a time, as kernels of hone-loops", true},
      {Rule("sorts", SortKernels, SortKernelsRoots()), "sorts, by digits, as kernels of hone-loops",
       true},
  };
  return *kAll;
}

const InstructionRule* FindImplementation(std::string_view name) {
  for (const Implementation& implementation : Implementations()) {
    if (implementation.rule->name() == name) return implementation.rule;
  }
  return nullptr;
}

}  // namespace hone::compiler
