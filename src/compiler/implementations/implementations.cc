#include "compiler/implementations/implementations.h"

#include "compiler/implementations/convolution_dots.h"
#include "compiler/implementations/convolution_kernels.h"
#include "compiler/implementations/depthwise_convolution.h"
#include "compiler/implementations/dots.h"
#include "compiler/implementations/loop_kernels.h"
#include "compiler/implementations/loops.h"
#include "compiler/implementations/product_kernels.h"
#include "compiler/implementations/reductions.h"
#include "compiler/implementations/sorting.h"
#include "compiler/implementations/windows.h"
#include "compiler/implementations/write_out_small.h"

namespace hone::compiler {

const std::vector<Implementation>& Implementations() {
  static const auto* const kAll = new std::vector<Implementation>{
      {new DepthwiseShifts, "depthwise convolution as shifted multiply-adds"},
      {new DepthwiseKernelGradientShifts,
       "kernel gradient of a depthwise convolution as sums of shifted products"},
      {new PointwiseDot, "1x1 convolution as a dot"},
      {new ConvolutionOutputDots, "convolution of few output positions as a dot for each"},
      {new ConvolutionShiftedDots, "convolution as a dot for each tap"},
      {new ConvolutionPatchesDot, "convolution as a dot over patches"},
      {new ConvolutionInF32, "convolution of narrow floats in f32"},
      {new ReduceWindowShifts, "reduce-window as its operation over shifted arrays"},
      {new ReduceWindowReduce, "reduce-window over tiles as a reduce"},
      {new CumulativeSteps, "running sum or maximum by doubling steps"},
      {new CumulativeDots, "running sum as dots with triangles"},
      {new SelectAndScatterShifts, "select-and-scatter by comparing shifted arrays"},
      {new TopKInF32, "top-k of narrow floats in f32"},
      {new SortTopK, "the first few of a sort as a top-k"},
      {new SortPackedKeys, "sort, or argsort, as a sort of integers with the positions in them"},
      {new ArgmaxTwoReduces, "argmax as a maximum and its first position"},
      {new WriteOutSmall, "small matrices, sorts, gathers and scatters written out"},
      {new UnrollShortLoop, "short loop unrolled"},
      {new LoopOneKernel, "loop of small operations as one kernel", true},
      {new DotInF32, "dot of narrow floats in f32"},
      {new BatchedDotReduce, "many small dots as a multiplication and a sum"},
      {new ReduceDotOnes, "sum as a product with ones"},
      {new ReduceSlices, "reduction of slices that are put together first"},
      {new ThinDotSum, "dot of few terms as their sum"},
      {new DotOfTransposes, "dot with transposed operands as they were"},
      {new DotSwapped, "dot with its operands changed round"},
      {new LoopKernels,
       "reductions with what is around them, running sums, and attention, as kernels of hone-loops",
       true},
      {new ProductKernels,
       "dots of floats, with what is elementwise behind them, as kernels of hone-loops", true},
      {new ConvolutionKernels,
       "convolutions of floats, with what is elementwise behind them, as kernels of hone-loops",
       true},
  };
  return *kAll;
}

}  // namespace hone::compiler
