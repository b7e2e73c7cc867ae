#include "compiler/implementations/implementations.h"

#include <utility>

namespace hone::compiler {

using Op = xla::HloOpcode;

// The function, in a file here; its name; its meaning; its traits (core/pass.h); the opcodes that
// it is tried at.
#define HONE_IMPLEMENTATIONS(X)                                                                    \
  X(DepthwiseKernelGradientShifts, "depthwise_kernel_gradient_shifts",                             \
    "kernel gradient of a depthwise convolution as sums of shifted products",                      \
    kDepthwise | kBesideKernels, Op::kConvolution)                                                 \
  X(DepthwiseShifts, "depthwise_shifts",                                                           \
    "convolution that is depthwise, or of one feature, as shifted multiply-adds",                  \
    kDepthwise | kBesideKernels, Op::kConvolution)                                                 \
  X(PointwiseDot, "pointwise_dot", "1x1 convolution as a dot", kAnywhere, Op::kConvolution)        \
  X(ConvolutionOutputDots, "convolution_output_dots",                                              \
    "convolution of few output positions as a dot for each", kApart, Op::kConvolution)             \
  X(ConvolutionShiftedDots, "convolution_shifted_dots", "convolution as a dot for each tap",       \
    kApart, Op::kConvolution)                                                                      \
  X(ConvolutionPatchesDot, "convolution_patches_dot", "convolution as a dot over patches",         \
    kAnywhere, Op::kConvolution)                                                                   \
  X(ConvolutionBandedDot, "convolution_banded_dot",                                                \
    "convolution of one feature, many taps in a row, as a dot with a banded matrix",               \
    kAppliedFirst, Op::kConvolution)                                                               \
  X(ConvolutionByGroups, "convolution_by_groups", "grouped convolution as one for each group",     \
    kPrepares, Op::kConvolution)                                                                   \
  X(ConvolutionInF32, "convolution_in_f32", "convolution of narrow floats in f32", kAnywhere,      \
    Op::kConvolution)                                                                              \
  X(ReduceWindowShifts, "reduce_window_shifts",                                                    \
    "reduce-window as its operation over shifted arrays", kAnywhere, Op::kReduceWindow)            \
  X(ReduceWindowReduce, "reduce_window_reduce", "reduce-window over tiles as a reduce", kAnywhere, \
    Op::kReduceWindow)                                                                             \
  X(CumulativeSteps, "cumulative_steps",                                                           \
    "running sum, maximum or anything else by doubling steps", kAnywhere, Op::kReduceWindow)       \
  X(CumulativeDots, "cumulative_dots", "running sum as dots with triangles", kAnywhere,            \
    Op::kReduceWindow)                                                                             \
  X(SelectAndScatterShifts, "select_and_scatter_shifts",                                           \
    "select-and-scatter by comparing shifted arrays", kAnywhere, Op::kSelectAndScatter)            \
  X(TopKInF32, "top_k_in_f32", "top-k of narrow floats in f32", kAnywhere, Op::kTopK,              \
    Op::kCustomCall)                                                                               \
  X(TopKCall, "top_k_call", "top-k as a call, where XLA may sort all", kHereAlone, Op::kTopK)      \
  X(TopKBlocks, "top_k_blocks", "top-k of the blocks that have the largest elements", kAnywhere,   \
    Op::kTopK)                                                                                     \
  X(TopKRounds, "top_k_rounds", "top-k of few as so many maxima", kAnywhere, Op::kTopK)            \
  X(SortTopK, "sort_top_k", "the first few of a sort as a top-k", kAnywhere, Op::kSlice)           \
  X(SortPackedKeys, "sort_packed_keys",                                                            \
    "sort, or argsort, as a sort of integers with the positions in them", kAnywhere, Op::kSort)    \
  X(ArgmaxTwoReduces, "argmax_two_reduces", "argmax as a maximum and its first position",          \
    kAnywhere, Op::kReduce)                                                                        \
  X(OnePlace, "one_place", "write into one place of an array, without a scatter", kPrepares,       \
    Op::kScatter)                                                                                  \
  X(RandomBits, "random_bits", "random bits of rng-bit-generator, each word once", kPrepares,       \
    Op::kRngBitGenerator)                                                                          \
  X(WriteOutSmall, "write_out_small", "small matrices, sorts, gathers and scatters written out",   \
    kPrepares, WriteOutSmallRoots())                                                               \
  X(SmallEigenvalues, "small_eigenvalues",                                                         \
    "eigenvalues of matrices up to 3x3 and singular values of 2x2, without vectors, written out",  \
    kAnywhere, Op::kCustomCall)                                                                    \
  X(TriangularInverses, "triangular_inverses",                                                     \
    "triangular solve of many right sides as a product with the inverse", kAppliedFirst,           \
    Op::kCustomCall, Op::kTriangularSolve)                                                         \
  X(DotBeforeSolve, "dot_before_solve",                                                            \
    "product with what a triangular solve gives as a solve of a product",                          \
    kAppliedFirst | kForInlined, Op::kDot)                                                         \
  X(UnrollShortLoop, "unroll_short_loop", "short loop unrolled", kAllAround | kForInlined,         \
    Op::kWhile)                                                                                    \
  X(UnrollElementwiseLoop, "unroll_elementwise_loop",                                              \
    "short loop of elementwise operations unrolled, as of random numbers", kForInlined,            \
    Op::kWhile)                                                                                    \
  X(LoopByBlocks, "loop_by_blocks",                                                                \
    "loop of large arrays, element by element, as a loop for each block of elements",              \
    kHereAlone | kAppliedFirst, Op::kWhile)                                                        \
  X(LoopOneKernel, "loop_one_kernel", "loop of small operations as one kernel", kHereAlone,        \
    Op::kWhile)                                                                                    \
  X(SearchShortTable, "search_short_table",                                                        \
    "binary search in a short table as choices by comparisons with all of it", kForInlined,        \
    Op::kWhile)                                                                                    \
  X(MaskedUpdates, "masked_updates",                                                               \
    "choice between an array and a write into it as a write of what is chosen", kAppliedFirst,     \
    Op::kSelect)                                                                                   \
  X(DotsOutOfLoop, "dots_out_of_loop",                                                             \
    "dots of what a loop reads, writes or adds up, of all trips at once",                          \
    kAppliedFirst | kForInlined | kBesideKernels, Op::kDot, Op::kSlice, Op::kWhile)                \
  X(LoopInBits, "loop_in_bits",                                                                    \
    "loop that writes into narrow floats as one that writes their bits",                           \
    kHereAlone | kBesideKernels, Op::kWhile)                                                       \
  X(DotInF32, "dot_in_f32", "dot of narrow floats in f32", kAnywhere, Op::kDot)                    \
  X(DotOfSmallIntegersInF32, "dot_of_small_integers_in_f32",                                       \
    "dot of small integers or truth values in f32, which has their sums", kPrepares, Op::kDot)     \
  X(ConvolutionOfSmallIntegersInF32, "convolution_of_small_integers_in_f32",                       \
    "convolution of small integers in f32, which has their sums", kPrepares, Op::kConvolution)     \
  X(BatchedDotReduce, "batched_dot_reduce", "many small dots as a multiplication and a sum",       \
    kAnywhere, Op::kDot)                                                                           \
  X(ReduceDotOnes, "reduce_dot_ones", "sum as a product with ones", kAnywhere, Op::kReduce)        \
  X(ReduceSlices, "reduce_slices", "reduction of slices that are put together first", kAnywhere,   \
    Op::kReduce)                                                                                   \
  X(ThinDotSum, "thin_dot_sum", "dot of few terms as their sum", kAnywhere, Op::kDot)              \
  X(DotOfTransposes, "dot_of_transposes", "dot with transposed operands as they were", kAnywhere,  \
    Op::kDot)                                                                                      \
  X(DotOfParts, "dot_of_parts",                                                                    \
    "dot with what is put together as dots with its parts, each before that is broadcast",         \
    kPrepares, Op::kDot)                                                                           \
  X(DotOfInterleaved, "dot_of_interleaved",                                                        \
    "dot with what is put together alternately as dots with its parts", kAppliedFirst | kForInlined, \
    Op::kDot)                                                                                      \
  X(DotScaledAfter, "dot_scaled_after",                                                            \
    "dot of bytes that are scaled by columns, scaled afterwards", kAnywhere, Op::kDot)             \
  X(OneHotLookup, "one_hot_lookup",                                                                \
    "dot with what is 1 at one place, else 0, as a lookup or a scatter", kAnywhere, Op::kDot)      \
  X(ConstantSubgraphs, "constant_subgraphs",                                                       \
    "what follows from constants and counters alone, by much work, as a constant",                 \
    kAppliedFirst | kForInlined, ConstantSubgraphsRoots())                                         \
  X(KnownSparseDot, "dot_with_known_matrix",                                                       \
    "dot with a matrix of counters, of which each output takes few, as lookups", kAppliedFirst,    \
    Op::kDot)                                                                                      \
  X(KnownScatter, "scatter_of_known_places",                                                       \
    "scatter that adds as many slices, one after the other, to each place, as their sums",         \
    kAnywhere, Op::kScatter)                                                                       \
  X(DotBeforeLookup, "dot_before_lookup",                                                          \
    "dot of rows that are looked up as a lookup of rows of a dot; its gradients likewise",         \
    kAnywhere, Op::kDot, Op::kScatter, Op::kSlice)                                                 \
  X(ComplexDotParts, "complex_dot_parts",                                                          \
    "dot of complex numbers as dots of real and imaginary parts", kAnywhere, Op::kDot)             \
  X(FftOfReals, "fft_of_reals",                                                                    \
    "transform of real numbers, or inverse of which the real part is wanted, as one of half of "   \
    "it",                                                                                          \
    kAppliedFirst | kForInlined, Op::kFft, Op::kReal)                                              \
  X(ComplexByParts, "complex_by_parts",                                                            \
    "complex numbers with real ones part by part, without roots and angles that are not needed",   \
    kForInlined, Op::kCompare, Op::kCos, Op::kDivide, Op::kExp, Op::kImag, Op::kMultiply,          \
    Op::kReal, Op::kSin)                                                                           \
  X(LogSumExpDot, "log_sum_exp_dot",                                                               \
    "logarithm of sums of exponentials of sums as that of a product of exponentials",              \
    kAppliedFirst | kForInlined, Op::kAdd)                                                         \
  X(FlatPlaces, "flat_places",                                                                     \
    "gather, or scatter, of elements by several numbers each as one by one number", kAnywhere,     \
    Op::kGather, Op::kScatter)                                                                     \
  X(ContractionOrder, "contraction_order",                                                         \
    "dots, sums and diagonals in the order that is least work", kAppliedFirst | kForInlined,       \
    Op::kDot, Op::kGather, Op::kReduce)                                                            \
  X(DotSwapped, "dot_swapped", "dot with its operands changed round", kForLibraries, Op::kDot)     \
  X(FunctionFormulas, "function_formulas",                                                         \
    "atan2, powers of floats, and functions of doubles as formulas for vectors", kHereAlone,       \
    Op::kAtan2, Op::kCbrt, Op::kErf, Op::kLog, Op::kLog1p, Op::kPower)                             \
  X(PeriodicFormulas, "periodic_formulas",                                                         \
    "sines, cosines, tangents and complex exponentials as formulas for vectors", kHereAlone,       \
    Op::kCos, Op::kExp, Op::kSin, Op::kTan)                                                        \
  X(LogisticGradients, "logistic_gradients",                                                       \
    "gradient of softplus and log-sigmoid as a logistic function", kAnywhere, Op::kExp)            \
  X(RemainderFormulas, "remainder_formulas",                                                       \
    "remainders, and quotients of integers, as formulas for vectors", kHereAlone | kForInlined,    \
    Op::kDivide, Op::kRemainder)                                                                   \
  X(PowerProducts, "power_products", "power by a whole number or a half as products and a root",   \
    kAppliedFirst, Op::kPower)                                                                         \
  X(LinearRecurrences, "linear_recurrences",                                                       \
    "linear recurrence that is written as a tree, as a loop", kPrepares, Op::kAdd)                   \
  X(PaddedSums, "padded_sums",                                                                     \
    "sum of arrays that are padded with zeros, put together from their parts",                     \
    kHereAlone | kAppliedFirst, Op::kAdd, Op::kOr)                                                 \
  X(RollsFromEdges, "rolls_from_edges",                                                            \
    "several rolls of one array as slices of the array with edges", kHereAlone | kAppliedFirst,    \
    Op::kConcatenate)                                                                              \
  X(ConcatenateOnce, "concatenate_once",                                                           \
    "concatenation or pad as a kernel of its own, not within each of its users",                   \
    kHereAlone | kApart, Op::kConcatenate, Op::kPad)                                               \
  X(ComponentsApart, "components_apart",                                                           \
    "vectors of two to four along a dimension, component by component",                            \
    kAppliedFirst | kForInlined, Op::kDot, Op::kGather, Op::kReduce, Op::kSlice)                   \
  X(BatchLast, "batch_last", "loop over a batch with the batch last in all its arrays",            \
    kPrepares | kForInlined, Op::kWhile)                                                           \
  X(SharedOnce, "shared_once", "values that fusion would compute again and again, once",           \
    kHereAlone | kForInlined | kOfShared, SharedOnceRoots())                                       \
  X(SlicesFirst, "slices_first",                                                                   \
    "slices of an array that a loop overwrites, before it is, so that it need not be copied",      \
    kHereAlone | kForInlined, Op::kDynamicSlice, Op::kGather, Op::kSlice)                          \
  X(LoopKernels, "loops",                                                                          \
    "reductions with what is around them, running sums, and attention, as kernels of hone-loops",  \
    kHereAlone | kForInlined, LoopKernelsRoots())                                                  \
  X(ProductKernels, "products",                                                                    \
    "dots of floats, with what is elementwise behind them, as kernels of hone-loops",              \
    kHereAlone | kForInlined, ProductKernelsRoots())                                               \
  X(ConvolutionKernels, "convolutions",                                                            \
    "convolutions of floats, with what is elementwise behind them, as kernels of hone-loops",      \
    kHereAlone | kForInlined, ConvolutionKernelsRoots())                                           \
  X(DepthwiseKernels, "depthwise",                                                                 \
    "depthwise convolutions, with what is elementwise behind them, as kernels of hone-loops",      \
    kHereAlone | kDepthwise | kBesideKernels | kForInlined, DepthwiseKernelsRoots())               \
  X(TransposeKernels, "transposes", "transpositions, squares at a time, as kernels of hone-loops", \
    kHereAlone | kForInlined | kDoubtful, Op::kTranspose)                                          \
  X(SortKernels, "sorts", "sorts, by digits, as kernels of hone-loops", kHereAlone | kForInlined,  \
    Op::kSort, Op::kTopK)                                                                          \
  X(MatrixKernels, "matrices",                                                                     \
    "LU, Cholesky and triangular solves of many small matrices, as kernels of hone-loops",         \
    kHereAlone | kForInlined, Op::kCustomCall, Op::kCholesky, Op::kTriangularSolve, Op::kWhile)    \
  X(CarriedValues, "carried_values",                                                               \
    "what a loop's body computes of its last state as of its first, once a trip",                  \
    kAppliedFirst | kForInlined | kOfShared | kBesideKernels, Op::kWhile)                          \
  X(TurnedWeights, "turned_weights", "weights that a loop multiplies by, transposed once before it", \
    kHereAlone | kForInlined | kForLibraries, Op::kWhile)                                          \
  X(FlatElementwise, "flat_elementwise",                                                           \
    "what is elementwise over short rows, as over one long row or few",                            \
    kHereAlone | kAllAround | kForInlined, FlatElementwiseRoots())

#define HONE_DECLARE(replace, ...) \
  absl::StatusOr<xla::HloInstruction*> replace(xla::HloInstruction* root);
HONE_IMPLEMENTATIONS(HONE_DECLARE)
#undef HONE_DECLARE

// Of those that are tried at many opcodes, beside the function.
std::vector<Op> ConstantSubgraphsRoots();
std::vector<Op> WriteOutSmallRoots();
std::vector<Op> FlatElementwiseRoots();
std::vector<Op> SharedOnceRoots();
std::vector<Op> LoopKernelsRoots();
std::vector<Op> ProductKernelsRoots();
std::vector<Op> ConvolutionKernelsRoots();
std::vector<Op> DepthwiseKernelsRoots();

namespace {

using Replace = absl::StatusOr<xla::HloInstruction*> (*)(xla::HloInstruction* root);

// A function as a rule.
class FunctionRule : public InstructionRule {
 public:
  FunctionRule(std::string name, Replace replace, std::vector<Op> roots)
      : name_(std::move(name)), replace_(replace), roots_(std::move(roots)) {}

  std::string name() const override { return name_; }
  std::vector<Op> root_opcodes() const override { return roots_; }
  absl::StatusOr<xla::HloInstruction*> Replacement(xla::HloInstruction* root) const override {
    return replace_(root);
  }

 private:
  const std::string name_;
  const Replace replace_;
  const std::vector<Op> roots_;
};

const InstructionRule* Rule(std::string name, Replace replace, std::vector<Op> roots) {
  return new FunctionRule(std::move(name), replace, std::move(roots));
}

}  // namespace

const std::vector<Implementation>& Implementations() {
#define HONE_ROW(replace, name, meaning, traits, ...) \
  {Rule(name, replace, {__VA_ARGS__}), meaning, traits},
  static const auto* const kAll = new std::vector<Implementation>{HONE_IMPLEMENTATIONS(HONE_ROW)};
#undef HONE_ROW
  return *kAll;
}

const InstructionRule* FindImplementation(std::string_view name) {
  for (const Implementation& implementation : Implementations()) {
    if (implementation.rule->name() == name) return implementation.rule;
  }
  return nullptr;
}

}  // namespace hone::compiler
