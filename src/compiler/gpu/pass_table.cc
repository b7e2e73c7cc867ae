// The list of XLA:GPU's passes that hone can run. To add one: include its header, add its row.
//
// The first row of a name holds the options that XLA's GPU compiler uses (gpu_compiler.cc,
// nvptx_compiler.cc), so that a recorded stock sequence maps onto rows by name.
#include "compiler/gpu/pass_table.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "compiler/gpu/mlir_context.h"
#include "compiler/passes/rows.h"
#include "xla/hlo/transforms/collectives/all_gather_broadcast_reorder.h"
#include "xla/hlo/transforms/collectives/all_gather_remove_degenerate_dims.h"
#include "xla/hlo/transforms/collectives/all_reduce_contiguous.h"
#include "xla/hlo/transforms/collectives/collective_permute_combiner.h"
#include "xla/hlo/transforms/collectives/collective_quantizer.h"
#include "xla/hlo/transforms/collectives/collectives_schedule_linearizer.h"
#include "xla/hlo/transforms/expanders/convolution_4d_expander.h"
#include "xla/hlo/transforms/expanders/convolution_pred_expander.h"
#include "xla/hlo/transforms/expanders/permutation_sort_expander.h"
#include "xla/hlo/transforms/expanders/ragged_dot_rewriter.h"
#include "xla/hlo/transforms/expanders/reduce_decomposer.h"
#include "xla/hlo/transforms/expanders/stable_sort_expander.h"
#include "xla/hlo/transforms/simplifiers/algebraic_simplifier.h"
#include "xla/hlo/transforms/simplifiers/all_gather_pad_ds_simplifier.h"
#include "xla/hlo/transforms/simplifiers/all_gather_permuted_ds_simplifier.h"
#include "xla/hlo/transforms/simplifiers/all_reduce_folder.h"
#include "xla/hlo/transforms/simplifiers/convert_mover.h"
#include "xla/hlo/transforms/simplifiers/dot_dimension_merger.h"
#include "xla/hlo/transforms/simplifiers/dot_merger.h"
#include "xla/hlo/transforms/simplifiers/float_normalization.h"
#include "xla/hlo/transforms/simplifiers/hlo_computation_deduplicator.h"
#include "xla/hlo/transforms/simplifiers/sub_byte_collective_normalization.h"
#include "xla/service/all_reduce_reassociate.h"
#include "xla/service/copy_insertion.h"
#include "xla/service/gather_expander.h"
#include "xla/service/gpu/alias_info.h"
#include "xla/service/gpu/conv_layout_normalization.h"
#include "xla/service/gpu/gpu_float_support.h"
#include "xla/service/gpu/matmul_utils.h"
#include "xla/service/gpu/reduction_utils.h"
#include "xla/service/gpu/transforms/add_tracking_suffix_to_instruction_names.h"
#include "xla/service/gpu/transforms/algebraic_simplifier.h"
#include "xla/service/gpu/transforms/algorithm_checker.h"
#include "xla/service/gpu/transforms/alias_passthrough_params.h"
#include "xla/service/gpu/transforms/block_scaling_rewriter.h"
#include "xla/service/gpu/transforms/collectives/all_gather_dynamic_slice_simplifier.h"
#include "xla/service/gpu/transforms/collectives/all_gather_optimizer.h"
#include "xla/service/gpu/transforms/collectives/all_reduce_combiner.h"
#include "xla/service/gpu/transforms/collectives/all_reduce_decomposer.h"
#include "xla/service/gpu/transforms/collectives/all_reduce_splitter.h"
#include "xla/service/gpu/transforms/collectives/collective_select_folder.h"
#include "xla/service/gpu/transforms/composite_rewriter.h"
#include "xla/service/gpu/transforms/conv_padding_legalization.h"
#include "xla/service/gpu/transforms/conv_rewriter.h"
#include "xla/service/gpu/transforms/copy_fusion.h"
#include "xla/service/gpu/transforms/cublas_pad_for_gemms.h"
#include "xla/service/gpu/transforms/cudnn_custom_call_converter.h"
#include "xla/service/gpu/transforms/cudnn_fused_conv_rewriter.h"
#include "xla/service/gpu/transforms/cudnn_norm_rewriter.h"
#include "xla/service/gpu/transforms/cudnn_pad_for_convolutions.h"
#include "xla/service/gpu/transforms/cudnn_simplify_padding.h"
#include "xla/service/gpu/transforms/dot_algorithm_rewriter.h"
#include "xla/service/gpu/transforms/dot_dimension_sorter.h"
#include "xla/service/gpu/transforms/dot_normalizer.h"
#include "xla/service/gpu/transforms/dot_operand_converter.h"
#include "xla/service/gpu/transforms/dot_strength_reduction.h"
#include "xla/service/gpu/transforms/double_buffer_loop_unrolling.h"
#include "xla/service/gpu/transforms/estimate_cub_scratch_size.h"
#include "xla/service/gpu/transforms/explicit_collectives_group_async_wrapper.h"
#include "xla/service/gpu/transforms/explicit_stream_annotation_async_wrapper.h"
#include "xla/service/gpu/transforms/fusion_block_level_rewriter.h"
#include "xla/service/gpu/transforms/fusion_dynamic_memcpy_rewriter.h"
#include "xla/service/gpu/transforms/fusion_wrapper.h"
#include "xla/service/gpu/transforms/gemm_broadcast_folding_rewriter.h"
#include "xla/service/gpu/transforms/gemm_fusion.h"
#include "xla/service/gpu/transforms/gemm_fusion_swap_operands.h"
#include "xla/service/gpu/transforms/gemm_rewriter.h"
#include "xla/service/gpu/transforms/gemm_workspace_rewriter.h"
#include "xla/service/gpu/transforms/gemv_rewriter.h"
#include "xla/service/gpu/transforms/hoist_fused_bitcasts.h"
#include "xla/service/gpu/transforms/layout_assignment.h"
#include "xla/service/gpu/transforms/move_copy_to_users.h"
#include "xla/service/gpu/transforms/multi_output_fusion.h"
#include "xla/service/gpu/transforms/nest_gemm_fusion.h"
#include "xla/service/gpu/transforms/priority_fusion.h"
#include "xla/service/gpu/transforms/ragged_all_to_all_canonicalizer.h"
#include "xla/service/gpu/transforms/ragged_all_to_all_decomposer.h"
#include "xla/service/gpu/transforms/reduce_scatter_creator.h"
#include "xla/service/gpu/transforms/reduction_degenerate_dim_remover.h"
#include "xla/service/gpu/transforms/reduction_dimension_grouper.h"
#include "xla/service/gpu/transforms/reduction_layout_normalizer.h"
#include "xla/service/gpu/transforms/reduction_splitter.h"
#include "xla/service/gpu/transforms/rename_fusions.h"
#include "xla/service/gpu/transforms/sanitize_constant_names.h"
#include "xla/service/gpu/transforms/scalar_constant_sinker.h"
#include "xla/service/gpu/transforms/scaled_dot_rewriter.h"
#include "xla/service/gpu/transforms/scatter_expander.h"
#include "xla/service/gpu/transforms/scatter_slice_simplifier.h"
#include "xla/service/gpu/transforms/softmax_rewriter_triton.h"
#include "xla/service/gpu/transforms/sort_iota_fusion.h"
#include "xla/service/gpu/transforms/sort_rewriter.h"
#include "xla/service/gpu/transforms/splitk_rewriter.h"
#include "xla/service/gpu/transforms/stream_attribute_annotator.h"
#include "xla/service/gpu/transforms/stream_attribute_async_wrapper.h"
#include "xla/service/gpu/transforms/topk_specializer.h"
#include "xla/service/gpu/transforms/topk_splitter.h"
#include "xla/service/gpu/transforms/tree_reduction_rewriter.h"
#include "xla/service/gpu/transforms/triangular_solve_rewriter.h"
#include "xla/service/gpu/transforms/variadic_op_splitter.h"
#include "xla/service/gpu/transforms/windowed_einsum_handler.h"
#include "xla/service/layout_normalization.h"
#include "xla/service/loop_schedule_linearizer.h"
#include "xla/service/reduce_scatter_reassociate.h"
#include "xla/service/scan_expander.h"
#include "xla/service/scatter_expander.h"
#include "xla/service/transpose_folding.h"

namespace hone::compiler::gpu {
namespace {

using xla::HloPassInterface;

// Of rows that only XLA:CPU's code generator has a use for.
constexpr const char* kCpuClasses[] = {
    "ConvCanonicalization", "CpuAllReduceCombiner", "CpuInstructionFusion",
    "CpuLayoutAssignment",  "CpuMultiOutputFusion", "FusionWrapper",
    "LibraryRewriter",      "OneDnnOpsRewriter",    "ParallelTaskAssigner",
    "SmallWhileLoopHoistingPass"};

// The GPU compiler's, before layout assignment. min and max keep NaN, as in the CPU's table.
xla::AlgebraicSimplifierOptions GpuAlgebra(bool layout_sensitive) {
  xla::AlgebraicSimplifierOptions options;
  options.set_is_layout_sensitive(layout_sensitive);
  options.set_supports_non_canonical_dots(false);
  options.set_enable_conv_operand_swap(false);
  options.set_minmax_propagate_nan(true);
  options.set_enable_unconditional_reduce_of_concat_replacement(false);
  return options;
}

// Assigns layouts under the entry computation's own layout, as the compiler does.
class LayoutAssignmentOfModule : public xla::HloModulePass {
 public:
  explicit LayoutAssignmentOfModule(const xla::gpu::GpuTargetConfig* config) : config_(*config) {}
  absl::string_view name() const override { return "layout-assignment"; }

 protected:
  absl::StatusOr<bool> RunImpl(xla::HloModule* module, const Threads& threads) override {
    const auto& device = config_.device_description;
    xla::ChannelLayoutConstraints channels;
    return xla::gpu::GpuLayoutAssignment(module->mutable_entry_computation_layout(),
                                         device.gpu_compute_capability(), device, &channels)
        .Run(module, threads);
  }

 private:
  const xla::gpu::GpuTargetConfig& config_;
};

std::vector<PassEntry> BuildTable(const xla::gpu::GpuTargetConfig& config) {
  using namespace xla;       // NOLINT: the rows below name XLA's classes only
  using namespace xla::gpu;  // NOLINT
  const auto* const device = &config.device_description;
  const auto capability = device->gpu_compute_capability();
  const auto cuda = device->cuda_compute_capability();
  const auto toolkit = device->runtime_version();
  const auto dnn = config.dnn_version_info;
  const auto* const alias = new GpuAliasInfo(*device);  // as long as the table lives
  const HloCostAnalysis::ShapeSizeFunction size = PointerSizedBytes;
  const auto normalise = [capability](PrimitiveType low, PrimitiveType high) {
    return [=]() -> std::unique_ptr<HloPassInterface> {
      static auto* const supports = new std::map<PrimitiveType, GpuFloatSupport>;
      return std::make_unique<FloatNormalization>(&supports->try_emplace(low, capability, low, high).first->second);
    };
  };
  const auto fusion = [device, alias](bool input_twice) {
    return [=]() -> std::unique_ptr<HloPassInterface> {
      GpuHloCostAnalysis::Options options;
      options.count_multiple_input_accesses = input_twice;
      return std::make_unique<PriorityFusion>(nullptr, *device, alias, options, MlirContext());
    };
  };
  const auto gemm = [capability, toolkit](GemmRewriterOptions::DType type, GemmRewriterOptions::BiasMode bias, bool lt) {
    return [=]() -> std::unique_ptr<HloPassInterface> {
      GemmRewriterOptions options;
      options.dtype = type;
      options.bias_mode = bias;
      options.enable_cublaslt = lt;
      return std::make_unique<GemmRewriter>(capability, toolkit, options);
    };
  };
  // clang-format off: one row a pass
  return {
      // ---- Simplifiers: rewrite, share, fold and delete.
      Row("algsimp", "GpuAlgebraicSimplifier", kSimplify, "applies algebraic identities to a fixed point", "the GPU compiler's, before layout assignment", kInSimplify, Make<GpuAlgebraicSimplifier>(GpuAlgebra(false), capability)),
      Row("algsimp:layout_sensitive", "GpuAlgebraicSimplifier", kSimplify, "applies algebraic identities that keep layouts", "the GPU compiler's, after layout assignment", kOutside, Make<GpuAlgebraicSimplifier>(GpuAlgebra(true), capability)),
      Row("convert-mover", "ConvertMover", kSimplify, "moves converts past broadcasts, reshapes and the like, towards where there is less to convert", "", kInSimplify, Make<ConvertMover>()),
      Row("dot_dimension_merger", "DotDimensionMerger", kSimplify, "merges neighbouring dimensions of dots", "", kOutside, Make<DotDimensionMerger>()),
      Row("dot-merger", "DotMerger", kSimplify, "computes dots that share an operand as one", "up to 32 MiB", kInSimplify, Make<DotMerger>(int64_t{32} << 20)),
      Row("dot-merger:all", "DotMerger", kSimplify, "computes dots that share an operand as one, whatever their size", "no limit", kInSimplify, Make<DotMerger>(int64_t{1} << 60)),
      Row("computation-deduplicator", "HloComputationDeduplicator", kSimplify, "lets calls of equal computations share one", "", kInSimplify, Make<HloComputationDeduplicator>(false)),
      Row("cudnn_simplify_padding", "CudnnSimplifyPadding", kSimplify, "drops padding that cuDNN's convolutions were given and that is sliced off again", "", kOutside, Make<CudnnSimplifyPadding>()),
      Row("reduction-degenerate-dim-remover", "ReductionDegenerateDimRemover", kSimplify, "drops dimensions of size one from reduces", "", kOutside, Make<ReductionDegenerateDimRemover>()),
      Row("reduction-dimension-grouper", "ReductionDimensionGrouper", kSimplify, "groups adjacent reduced dimensions", "", kOutside, Make<ReductionDimensionGrouper>()),
      Row("scatter-slice-simplifier", "ScatterSliceSimplifier", kSimplify, "scatters straight into what is sliced of the result", "", kInSimplify, Make<ScatterSliceSimplifier>()),
      Row("move_copy_to_users", "MoveCopyToUsers", kSimplify, "moves copies below elementwise and shape operations", "", kOutside, Make<MoveCopyToUsers>()),
      Row("permutation_sort_simplifier", "PermutationSortExpander", kSimplify, "makes sorts of permutations scatters", "", kOutside, Make<PermutationSortExpander>()),
      Row("scalar-constant-sinker", "ScalarConstantSinker", kSimplify, "moves scalar constants into fusions", "", kOutside, Make<ScalarConstantSinker>()),
      // ---- Expanders: write operations with simpler ones.
      Row("block-scaling-rewriter", "BlockScalingRewriter", kExpand, "expands block-scaled dots that cuDNN does not take", "the target's cuDNN", kOutside, Make<BlockScalingRewriter>(dnn)),
      Row("composite-rewriter", "CompositeRewriter", kExpand, "makes composite calls the dots that they stand for", "", kOutside, Make<CompositeRewriter>()),
      Row("convolution_4d_expander", "Convolution4DExpander", kExpand, "drops dimensions of size one from convolutions", "", kOutside, Make<Convolution4DExpander>()),
      Row("convolution-pred-expander", "ConvolutionPredExpander", kExpand, "computes convolutions of booleans in f16", "", kOutside, Make<ConvolutionPredExpander>()),
      Row("dot_normalizer", "DotNormalizer", kExpand, "gives dots without contracted dimensions one of size one", "", kOutside, Make<DotNormalizer>()),
      Row("dot-strength-reduction", "DotStrengthReduction", kExpand, "makes dots of vectors multiplications and reduces", "the target's", kOutside, Make<DotStrengthReduction>(capability)),
      Row("dot-algorithm-rewriter", "DotAlgorithmRewriter", kExpand, "splits f32 dots into several bf16 ones, where their algorithm says so", "", kOutside, Make<DotAlgorithmRewriter>()),
      Row("gather_expander", "GatherExpander", kExpand, "makes simple gathers dynamic slices", "mode=kEliminateSimpleGathers", kOutside, Make<GatherExpander>(GatherExpander::kEliminateSimpleGathers)),
      Row("gemv-rewriter", "GemvRewriter", kExpand, "gives products of a matrix and a vector a dimension of size one", "", kOutside, Make<GemvRewriter>()),
      Row("gpu_scatter_expander", "GpuScatterExpander", kExpand, "makes scatters loops where the GPU has no atomic operation for them", "", kOutside, Make<GpuScatterExpander>()),
      Row("ragged_dot_rewriter", "RaggedDotRewriter", kExpand, "computes ragged dots as dots", "", kOutside, Make<RaggedDotRewriter>()),
      Row("reduce-decomposer", "ReduceDecomposer", kExpand, "splits reduces that change the layout into a reduce and a copy", "", kOutside, Make<ReduceDecomposer>()),
      Row("reduction-layout-normalizer", "ReductionLayoutNormalizer", kExpand, "gives reduces row-major operands, by bitcasts", "", kOutside, Make<ReductionLayoutNormalizer>()),
      Row("reduction-splitter", "ReductionSplitter", kExpand, "splits reduces over dimensions that do not lie together", "ignore_small_dims=false", kOutside, Make<ReductionSplitter>(*device, false)),
      Row("reduction-splitter:ignore_small", "ReductionSplitter", kExpand, "splits reduces over dimensions that do not lie together, but for small ones", "ignore_small_dims=true", kOutside, Make<ReductionSplitter>(*device, true)),
      Row("scaled-dot-rewriter", "ScaledDotRewriter", kExpand, "computes scaled dots as dots", "", kOutside, Make<ScaledDotRewriter>()),
      Row("scan_expander", "ScanExpander", kExpand, "makes scans loops", "", kOutside, Make<ScanExpander>()),
      Row("scatter_expander", "ScatterExpander", kExpand, "makes simple scatters dynamic updates of slices", "mode=kEliminateSimpleScatters", kOutside, Make<ScatterExpander>(ScatterExpander::kEliminateSimpleScatters)),
      Row("splitk-rewriter", "SplitkRewriter", kExpand, "splits the contracted dimension of dots that keep too few cores busy", "the target's", kOutside, Make<SplitkRewriter>(*device)),
      Row("stable-sort-expander", "StableSortExpander", kExpand, "makes stable sorts by a further key", "", kOutside, Make<StableSortExpander>()),
      Row("topk-splitter", "TopKSplitter", kExpand, "takes the largest of parts, then of those", "more than 2^20 elements", kOutside, Make<TopKSplitter>()),
      Row("tree-reduction-rewriter", "gpu::TreeReductionRewriter", kExpand, "splits large reduces in two, so that no atomic operation is needed", "the target's", kOutside, Make<xla::gpu::TreeReductionRewriter>(*device)),
      Row("variadic-op-splitter", "VariadicOpSplitter", kExpand, "splits concatenates of very many operands", "", kOutside, Make<VariadicOpSplitter>()),
      // ---- Legalisers: what the code generator demands.
      Row("algorithm-checker", "AlgorithmChecker", kLegalise, "checks that the GPU has the dots' algorithms; changes nothing", "the target's", kOutside, Make<AlgorithmChecker>(capability)),
      Row("float-normalization-bf16", "FloatNormalization", kLegalise, "computes bf16 operations in f32 where the GPU cannot compute in bf16", "the target's", kOutside, normalise(BF16, F32)),
      Row("float-normalization-f8e5m2", "FloatNormalization", kLegalise, "computes f8e5m2 operations in f16 where the GPU has none", "the target's", kOutside, normalise(F8E5M2, F16)),
      Row("float-normalization-f8e4m3", "FloatNormalization", kLegalise, "computes f8e4m3 operations in f16 where the GPU has none", "the target's", kOutside, normalise(F8E4M3, F16)),
      Row("float-normalization-f8e4m3fn", "FloatNormalization", kLegalise, "computes f8e4m3fn operations in f16 where the GPU has none", "the target's", kOutside, normalise(F8E4M3FN, F16)),
      Row("operand_converter", "DotOperandConverter", kLegalise, "gives the operands of a dot one type", "", kOutside, Make<DotOperandConverter>()),
      Row("alias_passthrough_params", "AliasPassthroughParams", kLegalise, "lets parameters that are returned share the results' memory", "", kOutside, Make<AliasPassthroughParams>()),
      Row("sanitize-constant-names", "SanitizeConstantNames", kLegalise, "gives constants names that PTX can have", "", kOutside, Make<SanitizeConstantNames>()),
      Row("rename-instructions", "AddTrackingSuffixToInstructionNames", kLegalise, "marks instructions' names, to be followed through fusion", "", kOutside, Make<AddTrackingSuffixToInstructionNames>()),
      Row("rename_fusions", "RenameFusions", kLegalise, "names fusions after what they compute", "", kOutside, Make<RenameFusions>()),
      Row("loop-schedule-linearizer", "LoopScheduleLinearizer", kLegalise, "orders what a loop's body reads before what it writes in place", "the GPU's aliasing", kOutside, Make<LoopScheduleLinearizer>(alias)),
      Row("stream-attribute-annotator", "StreamAttributeAnnotator", kLegalise, "notes on which stream instructions run", "the target's", kOutside, Make<StreamAttributeAnnotator>(*device)),
      Row("async-stream-attribute-wrapper", "StreamAttributeAsyncWrapper", kLegalise, "wraps what runs on another stream in asynchronous calls", "", kOutside, Make<StreamAttributeAsyncWrapper>()),
      Row("explicit-stream-annotation-async-wrapper", "ExplicitStreamAnnotationAsyncWrapper", kLegalise, "wraps calls that the user put on a stream", "", kOutside, Make<ExplicitStreamAnnotationAsyncWrapper>()),
      Row("estimate-cub-scratch-size", "EstimateCubScratchSize", kLegalise, "gives CUB's sorts their scratch memory", "CUDA", kOutside, Make<EstimateCubScratchSize>(std::string("CUDA"))),
      // ---- Layouts.
      InPlace(Row("layout-assignment", "GpuLayoutAssignment", kLayout, "chooses a layout for every tensor, as GPU kernels want them, and inserts copies", "the entry's own layout, the target's", kOutside, Make<LayoutAssignmentOfModule>(&config))),
      Row("layout_normalization", "LayoutNormalization", kLayout, "makes every layout row-major, by bitcasts", "the GPU's custom calls", kOutside, [] { return std::make_unique<LayoutNormalization>(&NormalizeLayoutForGpuCustomCalls); }),
      Row("dot_dimension_sorter", "DotDimensionSorter", kLayout, "sorts a dot's contracted dimensions as they lie in memory", "", kOutside, Make<DotDimensionSorter>()),
      // ---- Fusion, and calls of library kernels.
      Row("priority-fusion", "PriorityFusion", kFuse, "fuses the producer that XLA's model of the GPU says gains most, then the next", "count_multiple_input_accesses=true", kOutside, fusion(true)),
      Row("priority-fusion:once", "PriorityFusion", kFuse, "as priority-fusion, with an operand that is read twice counted once", "count_multiple_input_accesses=false", kOutside, fusion(false)),
      Row("multi_output_fusion", "gpu::MultiOutputFusion", kFuse, "fuses siblings, and producers into consumers that are not the only ones", "the target's", kOutside, Make<xla::gpu::MultiOutputFusion>(*device, alias, size, MlirContext())),
      Row("fusion-wrapper", "gpu::FusionWrapper", kFuse, "wraps lone operations in fusions, for the fusion emitters", "the target's", kOutside, Make<xla::gpu::FusionWrapper>(*device)),
      Row("copy_fusion", "CopyFusion", kFuse, "moves copies of a fusion's results into it", "the target's", kOutside, Make<CopyFusion>(*device)),
      Row("sort-iota-fusion", "SortIotaFusion", kFuse, "fuses iotas into the sorts that take them", "", kOutside, Make<SortIotaFusion>()),
      Row("hoist-fused-bitcasts", "HoistFusedBitcasts", kFuse, "moves bitcasts out of fusions of dots", "", kOutside, Make<HoistFusedBitcasts>()),
      Row("nest_gemm_fusion", "NestGemmFusion", kFuse, "nests what feeds a fused dot, for the tiled emitter", "the target's", kOutside, Make<NestGemmFusion>(*device, MlirContext())),
      Row("triton-gemm-rewriter", "GemmFusion", kFuse, "fuses dots with their neighbours, for Triton", "the target's", kOutside, Make<GemmFusion>(capability)),
      Row("gemm-fusion-swap-operands", "GemmFusionSwapOperands", kFuse, "swaps operands of fused dots where that suits the tensor cores", "", kOutside, Make<GemmFusionSwapOperands>()),
      Row("triton-softmax-rewriter", "SoftmaxRewriterTriton", kFuse, "makes softmax and norms of rows one kernel", "only_fuse_if_profitable=false", kOutside, Make<SoftmaxRewriterTriton>(*device, size, alias, MlirContext(), false)),
      Row("triton-softmax-rewriter:profitable", "SoftmaxRewriterTriton", kFuse, "makes softmax and norms of rows one kernel where XLA's model says that it is faster", "only_fuse_if_profitable=true", kOutside, Make<SoftmaxRewriterTriton>(*device, size, alias, MlirContext(), true)),
      Row("fusion-block-level-rewriter", "FusionBlockLevelRewriter", kFuse, "has fusions emitted tile by tile where XLA's model says that it is faster", "the target's", kOutside, Make<FusionBlockLevelRewriter>(*device, size, MlirContext())),
      Row("fusion-dynamic-memcpy-rewriter", "FusionDynamicMemcpyRewriter", kFuse, "makes fusions that only move a slice copies", "", kOutside, Make<FusionDynamicMemcpyRewriter>()),
      Row("cublas-gemm-rewriter", "GemmRewriter", kFuse, "makes dots with what follows them calls of cuBLAS", "all types but f8, with bias", kOutside, gemm(GemmRewriterOptions::DType::kNonFp8Only, GemmRewriterOptions::BiasMode::kBias, false)),
      Row("cublas-gemm-rewriter:f8", "GemmRewriter", kFuse, "makes dots of f8 with what follows them calls of cuBLAS", "f8 only", kOutside, gemm(GemmRewriterOptions::DType::kFp8Only, GemmRewriterOptions::BiasMode::kBias, false)),
      Row("cublas-gemm-rewriter:no_bias", "GemmRewriter", kFuse, "makes dots calls of cuBLAS, and leaves what is added", "all types but f8, without bias", kOutside, gemm(GemmRewriterOptions::DType::kNonFp8Only, GemmRewriterOptions::BiasMode::kNoBias, false)),
      Row("cublas-gemm-rewriter:lt", "GemmRewriter", kFuse, "makes dots with what follows them calls of cuBLASLt", "all types but f8, cuBLASLt", kOutside, gemm(GemmRewriterOptions::DType::kNonFp8Only, GemmRewriterOptions::BiasMode::kBias, true)),
      Row("cublas-gemm-broadcast-folding-rewriter", "GemmBroadcastFoldingRewriter", kFuse, "has cuBLAS read a broadcast operand again and again", "", kOutside, Make<GemmBroadcastFoldingRewriter>()),
      Row("gemm-workspace-rewriter", "GemmWorkspaceRewriter", kFuse, "gives cuBLAS its workspace", "the target's", kOutside, Make<GemmWorkspaceRewriter>(capability, static_cast<stream_executor::StreamExecutor*>(nullptr))),
      Row("cublas-pad-for-gemms", "CublasPadForGemms", kFuse, "pads dots to what tensor cores take", "f16, multiples of 8", kOutside, Make<CublasPadForGemms>(capability, PrimitiveType::F16, int32_t{8})),
      Row("cublas-pad-for-gemms:bf16", "CublasPadForGemms", kFuse, "pads dots to what tensor cores take", "bf16, multiples of 8", kOutside, Make<CublasPadForGemms>(capability, PrimitiveType::BF16, int32_t{8})),
      Row("cublas-pad-for-gemms:s8", "CublasPadForGemms", kFuse, "pads dots to what tensor cores take", "s8, multiples of 4", kOutside, Make<CublasPadForGemms>(capability, PrimitiveType::S8, int32_t{4})),
      Row("conv-rewriter", "ConvRewriter", kFuse, "makes convolutions and their gradients calls of cuDNN", "the target's", kOutside, Make<ConvRewriter>(capability, dnn)),
      Row("conv-padding-legalization", "ConvPaddingLegalization", kFuse, "pads apart what cuDNN cannot pad", "", kOutside, Make<ConvPaddingLegalization>()),
      Row("cudnn_pad_for_convolutions", "CudnnPadForConvolutions", kFuse, "pads convolutions to what tensor cores take", "the target's", kOutside, Make<CudnnPadForConvolutions>(cuda)),
      Row("cudnn-fused-convolution-rewriter", "CudnnFusedConvRewriter", kFuse, "has cuDNN add, scale and activate what it convolves", "the target's", kOutside, Make<CudnnFusedConvRewriter>(cuda, dnn, toolkit)),
      Row("cudnn-custom-call-converter", "CuDnnCustomCallConverter", kFuse, "makes calls of cuDNN that were written as such fusions", "", kOutside, Make<CuDnnCustomCallConverter>()),
      Row("norm-rewriter", "CudnnNormRewriter", kFuse, "makes layer norms calls of cuDNN", "the target's", kOutside, Make<CudnnNormRewriter>(cuda)),
      Row("sort-rewriter", "SortRewriter", kFuse, "makes sorts calls of CUB", "the target's", kOutside, Make<SortRewriter>(*device)),
      Row("topk-specializer", "TopkSpecializer", kFuse, "leaves small TopK calls to a kernel of XLA's, the rest becomes a sort", "the target's", kOutside, Make<TopkSpecializer>(capability)),
      Row("transpose-folding", "TransposeFolding", kFuse, "folds transposes into dots whose kernel can read them so", "the GPU compiler's: dots only", kOutside, []() -> std::unique_ptr<HloPassInterface> { return std::make_unique<TransposeFolding>(CanFoldTransposeOperandIntoDot, TransposeFolding::NeverFoldTranspose); }),
      Row("triangular-solve-rewriter", "TriangularSolveRewriter", kFuse, "makes triangular solves calls of cuBLAS", "", kOutside, Make<TriangularSolveRewriter>()),
      // ---- Schedules and copies.
      Row("copy-insertion", "CopyInsertion", kSchedule, "inserts the copies that buffer sharing needs", "the GPU's aliasing", kOutside, Make<CopyInsertion>(alias)),
      Row("loop-double-buffer-transformer", "DoubleBufferLoopUnrolling", kSchedule, "unrolls loops by two, so that copies may run beside them", "strategy=double_buffer", kOutside, Make<DoubleBufferLoopUnrolling>()),
      Row("loop-double-buffer-transformer:full", "DoubleBufferLoopUnrolling", kSchedule, "unrolls loops of known trip count", "strategy=full", kOutside, Make<DoubleBufferLoopUnrolling>(DoubleBufferLoopUnrolling::UnrollStrategy::kFullUnroll)),
      // ---- Collectives and many devices.
      Row("all-gather-bcast-reorder", "AllGatherBroadcastReorder", kCollective, "gathers before it broadcasts", "", kOutside, Make<AllGatherBroadcastReorder>()),
      Row("all-gather-dynamic-slice-simplifier", "AllGatherDynamicSliceSimplifier", kCollective, "drops all-gathers of which each device takes its own slice", "", kOutside, Make<AllGatherDynamicSliceSimplifier>()),
      Row("all-gather-optimizer", "AllGatherOptimizer", kCollective, "gathers the result of an operation on two gathered operands", "", kOutside, Make<AllGatherOptimizer>()),
      Row("all-gather-pad-ds-simplifier", "AllGatherPadDsSimplifier", kCollective, "drops all-gathers of padded operands of which slices are taken", "", kOutside, Make<AllGatherPadDsSimplifier>()),
      Row("all-gather-remove-degenerate-dims", "AllGatherRemoveDegenerateDims", kCollective, "drops dimensions of size one from all-gathers", "", kOutside, Make<AllGatherRemoveDegenerateDims>()),
      Row("all-gather-to-collective-permute-simplifier", "AllGatherDynamicSlicePermutedOffsetSimplifier", kCollective, "makes all-gathers of which each device takes another's slice permutes", "", kOutside, Make<AllGatherDynamicSlicePermutedOffsetSimplifier>()),
      Row("all-reduce-contiguous", "AllReduceContiguous", kCollective, "all-reduces joined operands", "", kOutside, Make<AllReduceContiguous>()),
      Row("all-reduce-decomposer", "AllReduceDecomposer", kCollective, "makes all-reduces all-gathers and reduces", "", kOutside, Make<AllReduceDecomposer>()),
      Row("all-reduce-folder", "AllReduceFolder", kCollective, "makes two all-reduces in a row one", "", kOutside, Make<AllReduceFolder>()),
      Row("all-reduce-reassociate", "AllReduceReassociate", kCollective, "adds before it all-reduces", "", kOutside, Make<AllReduceReassociate>()),
      Row("all-reduce-splitter", "AllReduceSplitter", kCollective, "splits all-reduces so that a reduce-scatter can be made of one", "", kOutside, Make<AllReduceSplitter>()),
      Row("collective-permute-combiner", "CollectivePermuteCombiner", kCollective, "combines independent small collective permutes", "up to 1 GiB, 256 operands", kOutside, Make<CollectivePermuteCombiner>(int64_t{1} << 30, int64_t{256})),
      Row("collective-quantizer", "CollectiveQuantizer", kCollective, "sends what is converted to a narrower type in that type", "", kOutside, Make<CollectiveQuantizer>()),
      Row("collective-select-folder", "CollectiveSelectFolder", kCollective, "drops selects between operands of collective permutes that are known", "", kOutside, Make<CollectiveSelectFolder>()),
      Row("collectives-schedule-linearizer", "CollectivesScheduleLinearizer", kCollective, "orders collectives alike on all devices", "", kOutside, Make<CollectivesScheduleLinearizer>()),
      Row("explicit-collectives-group-async-wrapper", "ExplicitCollectivesGroupAsyncWrapper", kCollective, "wraps groups of collectives that the user named", "", kOutside, Make<ExplicitCollectivesGroupAsyncWrapper>()),
      Row("ragged-all-to-all-canonicalizer", "RaggedAllToAllCanonicalizer", kCollective, "gives ragged all-to-alls the form that NCCL takes", "", kOutside, Make<RaggedAllToAllCanonicalizer>()),
      Row("ragged-all-to-all-decomposer", "RaggedAllToAllDecomposer", kCollective, "makes ragged all-to-alls dense ones", "", kOutside, Make<RaggedAllToAllDecomposer>()),
      Row("reduce-scatter-creator", "ReduceScatterCreator", kCollective, "makes all-reduces of which each device takes its slice reduce-scatters", "", kOutside, Make<ReduceScatterCreator>()),
      Row("reduce-scatter-reassociate", "ReduceScatterReassociate", kCollective, "adds before it reduce-scatters", "", kOutside, Make<ReduceScatterReassociate>()),
      Row("sub-byte-collective-normalization", "SubByteCollectiveNormalization", kCollective, "sends types narrower than a byte in bytes", "", kOutside, Make<SubByteCollectiveNormalization>()),
      Row("windowed-einsum-handler", "WindowedEinsumHandler", kCollective, "lets the steps of windowed einsums overlap", "", kOutside, Make<WindowedEinsumHandler>()),
  };
  // clang-format on
}

}  // namespace

std::vector<PassEntry> GpuPasses(const xla::gpu::GpuTargetConfig& config) {
  std::vector<PassEntry> table = BuildTable(config);
  std::set<std::string> taken;
  for (const PassEntry& row : table) taken.insert(row.info.name);
  for (PassEntry& row : CpuPasses()) {
    const bool of_cpu = std::find(std::begin(kCpuClasses), std::end(kCpuClasses),
                                  row.info.class_name) != std::end(kCpuClasses);
    if (of_cpu || taken.count(row.info.name) != 0) continue;
    table.push_back(std::move(row));
  }
  return table;
}

std::vector<ExcludedPass> ExcludedFromGpuPasses() {
  return {
      {"AutotunerPass", "measures kernels on a GPU"},
      {"CuDnnCustomCallCompiler", "has cuDNN make plans on a GPU"},
      {"CuDnnFusionCompiler", "has cuDNN make plans on a GPU"},
      {"TritonFusionNumericsVerifier", "runs kernels on a GPU"},
      {"PGLEAccuracyChecker", "checks a profile that the user recorded on a GPU"},
      {"SchedulingInstructionAnnotator", "notes the schedule in a log's metadata only"},
      {"AsyncCollectiveCreator", "its options say which collectives are asynchronous on the user's machines"},
      {"AsyncCollectiveAnnotator", "its options say which collectives are asynchronous on the user's machines"},
      {"CollectiveBackendAssigner", "needs the user's machines and how they are linked"},
      {"AllReduceBlueConnect", "needs the number of devices a host"},
      {"GpuAllGatherCombiner", "its thresholds come from the user's machines; all-gather passes are in the table"},
      {"GpuAllReduceCombiner", "its thresholds come from the user's machines: all-reduce-combiner is its form without"},
      {"GpuReduceScatterCombiner", "its thresholds come from the user's machines"},
      {"CollectivePipeliner", "needs the compiler's own scheduling configuration"},
      {"DynamicSliceFusionRewriter", "asks the platform of a GPU"},
      {"CustomKernelFusionRewriter", "its hand-written kernels are tried only where a flag asks for them"},
      {"HostOffloader", "moves arrays to the host's memory only where the program says so"},
      {"WhileLoopAllReduceCodeMotion", "moves gradients' all-reduces out of loops over several devices"},
  };
}

}  // namespace hone::compiler::gpu
