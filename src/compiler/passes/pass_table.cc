// The one list of XLA passes that hone can run. To add one: include its header, add its row.
//
// The first row of a name holds the options that XLA's CPU compiler uses (cpu_compiler.cc), so that a
// recorded stock sequence maps onto rows by name; rows ":variant" hold other options.
#include "compiler/passes/pass_table.h"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>

#include "compiler/passes/host_target.h"
#include "compiler/passes/rows.h"
#include "xla/backends/cpu/transforms/collectives/all_reduce_combiner.h"
#include "xla/hlo/analysis/alias_info.h"
#include "xla/hlo/ir/hlo_sharding_metadata.h"
#include "xla/hlo/transforms/collectives/all_reduce_combiner.h"
#include "xla/hlo/transforms/expanders/bitcast_dtypes_expander.h"
#include "xla/hlo/transforms/expanders/cholesky_expander.h"
#include "xla/hlo/transforms/expanders/comparison_expander.h"
#include "xla/hlo/transforms/expanders/dot_decomposer.h"
#include "xla/hlo/transforms/expanders/dynamic_index_splitter.h"
#include "xla/hlo/transforms/expanders/eigh_expander.h"
#include "xla/hlo/transforms/expanders/logistic_expander.h"
#include "xla/hlo/transforms/expanders/optimization_barrier_expander.h"
#include "xla/hlo/transforms/expanders/qr_expander.h"
#include "xla/hlo/transforms/expanders/reduce_decomposer.h"
#include "xla/hlo/transforms/expanders/reshape_decomposer.h"
#include "xla/hlo/transforms/expanders/rng_bit_generator_expander.h"
#include "xla/hlo/transforms/expanders/rng_expander.h"
#include "xla/hlo/transforms/expanders/stochastic_convert_decomposer.h"
#include "xla/hlo/transforms/literal_canonicalizer.h"
#include "xla/hlo/transforms/memory_space_propagation.h"
#include "xla/hlo/transforms/operand_upcaster.h"
#include "xla/hlo/transforms/shape_canonicalizer.h"
#include "xla/hlo/transforms/simplifiers/algebraic_simplifier.h"
#include "xla/hlo/transforms/simplifiers/batch_dot_simplification.h"
#include "xla/hlo/transforms/simplifiers/broadcast_canonicalizer.h"
#include "xla/hlo/transforms/simplifiers/conditional_canonicalizer.h"
#include "xla/hlo/transforms/simplifiers/convolution_group_converter.h"
#include "xla/hlo/transforms/simplifiers/dynamic_dimension_simplifier.h"
#include "xla/hlo/transforms/simplifiers/flatten_call_graph.h"
#include "xla/hlo/transforms/simplifiers/float_normalization.h"
#include "xla/hlo/transforms/simplifiers/gather_simplifier.h"
#include "xla/hlo/transforms/simplifiers/hlo_constant_folding.h"
#include "xla/hlo/transforms/simplifiers/hlo_dce.h"
#include "xla/hlo/transforms/simplifiers/hlo_memory_scheduler.h"
#include "xla/hlo/transforms/simplifiers/optimize_input_output_buffer_alias.h"
#include "xla/hlo/transforms/simplifiers/reduce_window_resizer.h"
#include "xla/hlo/transforms/simplifiers/reduce_window_rewriter.h"
#include "xla/hlo/transforms/simplifiers/reshape_mover.h"
#include "xla/hlo/transforms/simplifiers/result_caster.h"
#include "xla/hlo/transforms/simplifiers/simplify_fp_conversions.h"
#include "xla/hlo/transforms/simplifiers/slice_sinker.h"
#include "xla/hlo/transforms/simplifiers/sort_simplifier.h"
#include "xla/hlo/transforms/simplifiers/sub_byte_normalization.h"
#include "xla/hlo/transforms/simplifiers/tree_reduction_rewriter.h"
#include "xla/hlo/transforms/simplifiers/tuple_simplifier.h"
#include "xla/hlo/transforms/simplifiers/zero_sized_hlo_elimination.h"
#include "xla/hlo/transforms/while_loop_trip_count_annotator.h"
#include "xla/literal_pool.h"
#include "xla/service/all_reduce_promotion.h"
#include "xla/service/all_to_all_decomposer.h"
#include "xla/service/batched_gather_scatter_normalizer.h"
#include "xla/service/batchnorm_expander.h"
#include "xla/service/call_inliner.h"
#include "xla/service/change_op_data_type.h"
#include "xla/service/conditional_simplifier.h"
#include "xla/service/conditional_to_select.h"
#include "xla/service/copy_insertion.h"
#include "xla/service/cpu/conv_canonicalization.h"
#include "xla/service/cpu/cpu_float_support.h"
#include "xla/service/cpu/cpu_instruction_fusion.h"
#include "xla/service/cpu/cpu_layout_assignment.h"
#include "xla/service/cpu/cpu_multi_output_fusion.h"
#include "xla/service/cpu/fusion_wrapper.h"
#include "xla/service/cpu/onednn_ops_rewriter.h"
#include "xla/service/cpu/parallel_task_assignment.h"
#include "xla/service/cpu/small_while_loop_hoisting_pass.h"
#include "xla/service/cpu_gpu_shape_verifier.h"
#include "xla/service/dynamic_padder.h"
#include "xla/service/float_support.h"
#include "xla/service/gather_expander.h"
#include "xla/service/hlo_cse.h"
#include "xla/service/hlo_domain_isolator.h"
#include "xla/service/hlo_domain_remover.h"
#include "xla/service/hlo_domain_verifier.h"
#include "xla/service/hlo_verifier.h"
#include "xla/service/instruction_fusion.h"
#include "xla/service/layout_assignment.h"
#include "xla/service/map_inliner.h"
#include "xla/service/scatter_expander.h"
#include "xla/service/scatter_simplifier.h"
#include "xla/service/select_and_scatter_expander.h"
#include "xla/service/sharding_propagation.h"
#include "xla/service/sharding_remover.h"
#include "xla/service/topk_rewriter.h"
#include "xla/service/transpose_folding.h"
#include "xla/service/triangular_solve_expander.h"
#include "xla/service/while_loop_constant_sinking.h"
#include "xla/service/while_loop_invariant_code_motion.h"
#include "xla/service/while_loop_simplifier.h"
#include "xla/shape_pool.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloModule;
using xla::HloOpcode;
using xla::HloPassInterface;
// ---- Options that passes point to and that must outlive them.

const xla::AliasInfo* DefaultAliasInfo() {
  static const auto* const info = new xla::AliasInfo;
  return info;
}

// Normalises `low` to `high` (F32 unless said) wherever the CPU backend cannot compute in it.
auto MakeFloatNormalization(xla::PrimitiveType low, xla::PrimitiveType high) {
  return [=]() -> std::unique_ptr<HloPassInterface> {
    static const auto* const bf16 = new xla::cpu::CpuFloatSupport(xla::BF16, LibraryTakes);
    if (low == xla::BF16) return std::make_unique<xla::FloatNormalization>(bf16);
    static auto* const others = new std::map<xla::PrimitiveType, xla::FloatSupport>;
    return std::make_unique<xla::FloatNormalization>(&others->try_emplace(low, low, high).first->second);
  };
}

// ---- Passes whose options come from the module they run on.

// Assigns layouts under the entry computation's own layout, as the compiler does.
template <typename Assign>
class LayoutAssignmentOfModule : public xla::HloModulePass {
 public:
  absl::string_view name() const override { return "layout-assignment"; }

 protected:
  absl::StatusOr<bool> RunImpl(HloModule* module, const Threads& threads) override {
    xla::ChannelLayoutConstraints channels;
    if constexpr (std::is_same_v<Assign, xla::cpu::CpuLayoutAssignment>) {
      return Assign(module->mutable_entry_computation_layout(), HostTarget(), &channels)
          .Run(module, threads);
    } else {
      return Assign(module->mutable_entry_computation_layout(), &channels).Run(module, threads);
    }
  }
};

// ---- Option sets.

// The CPU compiler's, before layout assignment. min and max keep NaN: the sound choice; the compiler
// follows --xla_cpu_enable_fast_min_max, whose default only forgoes max(x, -inf) -> x.
xla::AlgebraicSimplifierOptions CpuAlgebra() {
  xla::AlgebraicSimplifierOptions options;
  options.set_enable_dot_strength_reduction(false);
  options.set_minmax_propagate_nan(true);
  options.set_supports_non_canonical_dots(false);
  options.set_executing_on_cpu(true);
  options.set_rewrite_no_op_bitcast_convert_to_bitcast(true);
  return options;
}

// The CPU compiler's options with one setter called.
template <typename Value>
auto Algebra(void (xla::AlgebraicSimplifierOptions::*set)(Value), Value value) {
  xla::AlgebraicSimplifierOptions options = CpuAlgebra();
  (options.*set)(value);
  return Make<xla::AlgebraicSimplifier>(options);
}
using AlgebraOptions = xla::AlgebraicSimplifierOptions;

std::unique_ptr<HloPassInterface> MakeCseOfFusions() {
  return std::make_unique<xla::HloCSE>(
      /*is_layout_sensitive=*/false, /*ignore_control_dependencies=*/false,
      [](const xla::HloComputation* computation) { return computation->IsFusionComputation(); });
}

std::unique_ptr<HloPassInterface> MakeCseKeepingConstants() {
  return std::make_unique<xla::HloCSE>(
      /*is_layout_sensitive=*/false, /*ignore_control_dependencies=*/false,
      /*should_eliminate_computation=*/nullptr, /*should_eliminate_instruction=*/nullptr,
      /*should_combine_constant=*/[](const HloInstruction*) { return false; });
}

bool LibraryDeclines(const HloInstruction* instruction) { return !LibraryTakes(*instruction); }

// Dots and convolutions that no library takes.
bool IsUnclaimedDotOrConvolution(const HloInstruction* instruction) {
  return (instruction->opcode() == HloOpcode::kDot ||
          instruction->opcode() == HloOpcode::kConvolution) &&
         !LibraryTakes(*instruction);
}

auto MakeGroupConverter(bool batch_groups_only) {
  return [=]() -> std::unique_ptr<HloPassInterface> {
    return std::make_unique<xla::ConvolutionGroupConverter>(
        [batch_groups_only](HloInstruction* convolution) {
          if (LibraryTakes(*convolution)) return false;
          const xla::PrimitiveType type = convolution->shape().element_type();
          return batch_groups_only || (type != xla::F16 && type != xla::F32);
        },
        /*is_cost_viable=*/[](HloInstruction*) { return false; }, batch_groups_only);
  };
}

std::unique_ptr<HloPassInterface> MakeCpuTransposeFolding() {
  return std::make_unique<xla::TransposeFolding>(
      [](const HloInstruction& dot, int64_t operand) -> absl::StatusOr<bool> {
        if (!xla::cpu::DotImplementationCanHandleTranspose(dot, *HostTarget(), true)) return false;
        return xla::TransposeFolding::IsRowColumnTransposeDotOperand(dot, operand);
      },
      xla::TransposeFolding::NeverFoldTranspose);
}

template <typename Algorithm>
std::unique_ptr<HloPassInterface> MakeMemoryScheduler() {
  return std::make_unique<xla::HloMemoryScheduler>(std::make_unique<Algorithm>(
      DefaultAliasInfo(), xla::BufferValue::SizeFunction([](const xla::BufferValue& buffer) {
        return PointerSizedBytes(buffer.shape());
      })));
}

std::unique_ptr<HloPassInterface> MakeVerifier(bool layout_sensitive) {
  xla::HloVerifierOpts options;
  options.layout_sensitive = layout_sensitive;
  options.allow_mixed_precision = true;
  return std::make_unique<xla::HloVerifier>(
      std::make_unique<xla::CpuGpuVerifierMetadata>(std::move(options)));
}

std::vector<PassEntry> BuildTable() {
  using namespace xla;       // NOLINT: the rows below name XLA's classes only
  using namespace xla::cpu;  // NOLINT
  // clang-format off: one row a pass
  return {
      // ---- Simplifiers: rewrite, share, fold and delete.
      Row("algsimp", "AlgebraicSimplifier", kSimplify, "applies algebraic identities to a fixed point", "the CPU compiler's, before layout assignment", kInSimplify, Make<AlgebraicSimplifier>(CpuAlgebra())),
      Row("algsimp:generic", "AlgebraicSimplifier", kSimplify, "applies algebraic identities under XLA's default options", "", kInSimplify, Make<AlgebraicSimplifier>(AlgebraicSimplifierOptions())),
      Row("algsimp:single_pass", "AlgebraicSimplifier", kSimplify, "applies algebraic identities in one sweep only", "cpu, run_to_fixed_point=false", kInSimplify, Algebra(&AlgebraOptions::set_run_to_fixed_point, false)),
      Row("algsimp:dot_strength_reduction", "AlgebraicSimplifier", kSimplify, "as algsimp, and turns small dots into multiply and reduce", "cpu, dot_strength_reduction=true", kInSimplify, Algebra(&AlgebraOptions::set_enable_dot_strength_reduction, true)),
      Row("algsimp:keep_outer_products", "AlgebraicSimplifier", kSimplify, "as algsimp, but leaves outer-product dots as dots", "cpu, dot_to_multiply_rewrite=false", kInSimplify, Algebra(&AlgebraOptions::set_enable_dot_to_multiply_rewrite, false)),
      Row("algsimp:no_sink_broadcast", "AlgebraicSimplifier", kSimplify, "as algsimp, but does not move broadcasts below elementwise ops", "cpu, sink_broadcast=false", kInSimplify, Algebra(&AlgebraOptions::set_enable_sink_broadcast, false)),
      Row("algsimp:keep_reduce_window", "AlgebraicSimplifier", kSimplify, "as algsimp, but does not turn reduce-window into reduce", "cpu, window_reduce_to_reduce_replacement=false", kInSimplify, Algebra(&AlgebraOptions::set_enable_window_reduce_to_reduce_replacement, false)),
      Row("algsimp:keep_reduce_of_reshape", "AlgebraicSimplifier", kSimplify, "as algsimp, but does not reduce through reshapes", "cpu, reduce_of_reshape=false", kInSimplify, Algebra(&AlgebraOptions::set_enable_reduce_of_reshape, false)),
      Row("algsimp:reduce_through_shared", "AlgebraicSimplifier", kSimplify, "as algsimp, and reduces through transposes and reshapes that have other users", "cpu, unconditionally_simplify_reduce_of_transpose_or_reshape=true", kInSimplify, Algebra(&AlgebraOptions::set_unconditionally_simplify_reduce_of_transpose_or_reshape, true)),
      Row("algsimp:associative_reordering", "AlgebraicSimplifier", kSimplify, "as algsimp, and re-associates chains of dots where that halves their flops", "cpu, associative_reordering=true, threshold=2", kInSimplify, Algebra(&AlgebraOptions::set_use_associative_reordering, true)),
      Row("algsimp:raise_through_dot", "AlgebraicSimplifier", kSimplify, "as algsimp, and moves slices and reduces of a dot onto its operands where that halves its flops", "cpu, raise_slice_and_reduce_through_dot=true, threshold=2", kInSimplify, Algebra(&AlgebraOptions::set_raise_slice_and_reduce_through_dot, true)),
      Row("algsimp:convert_constants", "AlgebraicSimplifier", kSimplify, "as algsimp, and folds converts of constants into comparisons and arithmetic", "cpu, convert_constant_folding=true", kInSimplify, Algebra(&AlgebraOptions::set_use_convert_constant_folding, true)),
      Row("algsimp:conv_scale_first", "AlgebraicSimplifier", kSimplify, "as algsimp, and moves a multiply after a convolution and add before them", "cpu, conv_add_multiply_reorder=true", kInSimplify, Algebra(&AlgebraOptions::set_enable_conv_add_multiply_reorder, true)),
      Row("algsimp:scalar_multiply", "AlgebraicSimplifier", kSimplify, "as algsimp, and moves scalar multiplies to the smallest tensor around a convolution: wrongly out of a select", "cpu, scalar_multiply_reduction=true", kInSimplify, Algebra(&AlgebraOptions::set_enable_scalar_multiply_reduction, true)),
      Row("algsimp:keep_convolutions", "AlgebraicSimplifier", kSimplify, "as algsimp, but leaves convolutions alone", "cpu, conv_simplification=false", kInSimplify, Algebra(&AlgebraOptions::set_enable_conv_simplification, false)),
      Row("algsimp:no_conv_swap", "AlgebraicSimplifier", kSimplify, "as algsimp, but does not swap a convolution's operands", "cpu, conv_operand_swap=false", kInSimplify, Algebra(&AlgebraOptions::set_enable_conv_operand_swap, false)),
      Row("algsimp:keep_negative_padding", "AlgebraicSimplifier", kSimplify, "as algsimp, but does not turn negative padding into slices", "cpu, negative_padding_replacement=false", kInSimplify, Algebra(&AlgebraOptions::set_enable_negative_padding_replacement, false)),
      Row("algsimp:keep_dynamic_slice", "AlgebraicSimplifier", kSimplify, "as algsimp, but leaves dynamic-slices at constant places dynamic", "cpu, disable_dynamic_slice_to_slice_conversion=true", kInSimplify, Algebra(&AlgebraOptions::set_disable_dynamic_slice_to_slice_conversion, true)),
      Row("algsimp:keep_reshape_transpose", "AlgebraicSimplifier", kSimplify, "as algsimp, but does not turn reshape and transpose into slices and concatenate", "cpu, rewrite_reshape_transpose_as_slice_concatenate=false", kInSimplify, Algebra(&AlgebraOptions::set_rewrite_reshape_transpose_as_slice_concatenate, false)),
      Row("algsimp:conditionals", "AlgebraicSimplifier", kSimplify, "as algsimp, and simplifies conditionals", "cpu, conditional_simplification=true", kInSimplify, Algebra(&AlgebraOptions::set_enable_conditional_simplification, true)),
      Row("algsimp:no_op_reduce_precision", "AlgebraicSimplifier", kSimplify, "as algsimp, and drops reduce-precision to the operand's own format", "cpu, remove_no_op_reduce_precision=true", kInSimplify, Algebra(&AlgebraOptions::set_enable_remove_no_op_reduce_precision, true)),
      Row("algsimp:dot_parameter_right", "AlgebraicSimplifier", kSimplify, "as algsimp, and makes a parameter the right operand of a dot", "cpu, move_dot_param_to_rhs=true", kInSimplify, Algebra(&AlgebraOptions::set_enable_move_dot_param_to_rhs, true)),
      Row("algsimp:keep_degenerate_broadcast", "AlgebraicSimplifier", kSimplify, "as algsimp, but leaves degenerate dimensions of broadcasts", "cpu, broadcast_degenerate_dimension=false", kInSimplify, Algebra(&AlgebraOptions::set_enable_broadcast_degenerate_dimension, false)),
      Row("algsimp:keep_reduce_of_concat", "AlgebraicSimplifier", kSimplify, "as algsimp, but splits a reduce of a concatenate only between equal shapes", "cpu, unconditional_reduce_of_concat_replacement=false", kInSimplify, Algebra(&AlgebraOptions::set_enable_unconditional_reduce_of_concat_replacement, false)),
      Row("algsimp:fast_math", "AlgebraicSimplifier", kSimplify, "as algsimp under finite-math rules: results may differ for NaN and infinity", "cpu, fast_math=true", kOutside, Algebra(&AlgebraOptions::set_enable_fast_math, true)),
      Row("algsimp:floats_are_real", "AlgebraicSimplifier", kSimplify, "as algsimp, taking floats for real numbers: results may differ", "cpu, floats_are_real=true", kOutside, Algebra(&AlgebraOptions::set_enable_floats_are_real, true)),
      Row("algsimp:layout_sensitive", "AlgebraicSimplifier", kLayout, "algsimp for after layout assignment: keeps layouts and makes free reshapes bitcasts", "the CPU compiler's, after layout assignment: cpu, layout_sensitive=true", kOutside, Algebra(&AlgebraOptions::set_is_layout_sensitive, true)),
      Row("batch-dot-simplification", "BatchDotSimplification", kSimplify, "drops batch dimensions of size one from dots", "", kInSimplify, Make<BatchDotSimplification>()),
      Silent(Row("batch-dot-simplification:fix", "BatchDotSimplification", kSimplify, "drops batch dimensions of size one from dots, to a fixed point", "run to a fixed point", kInSimplify, Make<Fix<BatchDotSimplification>>())),
      Row("broadcast_canonicalizer", "BroadcastCanonicalizer", kSimplify, "sorts the dimensions of every broadcast", "", kInSimplify, Make<BroadcastCanonicalizer>()),
      Row("call-inliner", "CallInliner", kSimplify, "inlines functions that have a single call site", "single_call_site=true", kInSimplify, Make<CallInliner>(true)),
      Row("call-inliner:every_call_site", "CallInliner", kSimplify, "inlines every call", "", kInSimplify, Make<CallInliner>()),
      Row("call-inliner:update_domain", "CallInliner", kSimplify, "inlines every call and updates the domains it leaves", "update_domain=true", kInSimplify, Make<CallInliner>(false, true)),
      Silent(Row("call-inliner:fix", "CallInliner", kSimplify, "inlines single-site calls again and again until none is left", "single_call_site=true, run to a fixed point", kInSimplify, Make<Fix<CallInliner>>(true))),
      Row("constant_folding", "HloConstantFolding", kSimplify, "computes constant expressions where that surely pays", "", kInSimplify, Make<HloConstantFolding>()),
      Row("constant_folding:aggressive", "HloConstantFolding", kSimplify, "computes every constant expression, whole loops too: may take long", "level=aggressive", kInSimplify, Make<HloConstantFolding>(HloConstantFolding::Level::kAggressive)),
      Row("cse", "HloCSE", kSimplify, "shares equal constants and equal instructions on equal operands", "layout_sensitive=false", kInSimplify, Make<HloCSE>(false)),
      Row("cse:layout_sensitive", "HloCSE", kSimplify, "shares equal expressions whose layouts are equal too", "layout_sensitive=true", kInSimplify, Make<HloCSE>(true)),
      Row("cse:ignore_control_dependencies", "HloCSE", kSimplify, "shares equal expressions whatever orders them", "layout_sensitive=false, ignore_control_dependencies=true", kInSimplify, Make<HloCSE>(false, true)),
      Row("cse:only_fusion_computations", "HloCSE", kSimplify, "shares equal expressions inside fusions only", "layout_sensitive=false, should_eliminate_computation=fusions", kInSimplify, MakeCseOfFusions),
      Row("cse:keep_constants", "HloCSE", kSimplify, "shares equal expressions but not equal constants", "layout_sensitive=false, should_combine_constant=never", kInSimplify, MakeCseKeepingConstants),
      Silent(Row("cse:fix", "HloCSE", kSimplify, "shares equal expressions, to a fixed point", "layout_sensitive=false, run to a fixed point", kInSimplify, Make<Fix<HloCSE>>(false))),
      Row("cse_barrier_expander", "OptimizationBarrierExpander", kExpand, "removes optimization barriers: what they kept apart may now be shared and moved", "", kOutside, Make<OptimizationBarrierExpander>()),
      Row("dce", "HloDCE", kSimplify, "removes dead instructions and dead computations", "", kInSimplify, Make<HloDCE>()),
      Row("dce:call_analysis", "HloDCE", kSimplify, "removes dead code, dead parameters of called computations too", "use_call_analysis=true", kInSimplify, Make<HloDCE>(false, true)),
      Row("dce:cross_partition_collectives", "HloDCE", kSimplify, "removes dead code, dead cross-partition collectives too", "remove_cross_partition_collective_ops=true", kInSimplify, Make<HloDCE>(true)),
      Row("dynamic-dimension-simplifier", "DynamicDimensionSimplifier", kSimplify, "simplifies arithmetic on sizes of dynamic dimensions", "", kInSimplify, Make<DynamicDimensionSimplifier>()),
      Row("optimize_input_output_buffer_alias", "OptimizeInputOutputBufferAlias", kSchedule, "lets outputs reuse the buffers of donated inputs", "registered_buffer_donor_only=true", kOutside, Make<OptimizeInputOutputBufferAlias>(true)),
      Row("optimize_input_output_buffer_alias:every_input", "OptimizeInputOutputBufferAlias", kSchedule, "lets outputs reuse the buffers of any input: the caller then loses its arguments", "registered_buffer_donor_only=false", kOutside, Make<OptimizeInputOutputBufferAlias>(false)),
      Row("reshape-mover", "ReshapeMover", kSimplify, "sinks reshapes and transposes below elementwise ops", "", kInSimplify, Make<ReshapeMover>()),
      Row("reshape-mover:cheap_broadcast", "ReshapeMover", kSimplify, "sinks reshapes and transposes, taking reshaped 1-d broadcasts for free", "reshape_of_1d_broadcast_is_cheap=true", kInSimplify, Make<ReshapeMover>(ReshapeMoverOptions{true})),
      Silent(Row("reshape-mover:fix", "ReshapeMover", kSimplify, "sinks reshapes and transposes, to a fixed point", "run to a fixed point", kInSimplify, Make<Fix<ReshapeMover>>())),
      Row("simplify-conditional", "ConditionalSimplifier", kSimplify, "replaces conditionals of known predicate by their branch, and drops unused parts", "", kInSimplify, Make<ConditionalSimplifier>()),
      Silent(Row("simplify-conditional:fix", "ConditionalSimplifier", kSimplify, "simplifies conditionals, to a fixed point", "run to a fixed point", kInSimplify, Make<Fix<ConditionalSimplifier>>())),
      Row("simplify-fp-conversions", "SimplifyFPConversions", kLegalise, "shortens chains of float conversions: may keep precision that the program dropped", "", kOutside, Make<SimplifyFPConversions>()),
      Row("simplify-sorts", "SortSimplifier", kSimplify, "removes operands of a sort whose sorted values nobody uses", "", kInSimplify, Make<SortSimplifier>()),
      Row("simplify-while-loops", "WhileLoopSimplifier", kSimplify, "removes loops of zero or one trip, unused loop state and nested loop tuples", "", kInSimplify, Make<WhileLoopSimplifier>()),
      Row("simplify-while-loops:compare", "WhileLoopSimplifier", kSimplify, "as simplify-while-loops, and removes comparisons that the trip count decides", "simplify_compare_instrs=true", kInSimplify, Make<WhileLoopSimplifier>(true)),
      Silent(Row("simplify-while-loops:fix", "WhileLoopSimplifier", kSimplify, "simplifies loops, to a fixed point", "run to a fixed point", kInSimplify, Make<Fix<WhileLoopSimplifier>>())),
      Row("slice-sinker", "SliceSinker", kSimplify, "merges elementwise ops on slices of the same tensors and slices their result", "", kInSimplify, Make<SliceSinker>()),
      Silent(Row("slice-sinker:fix", "SliceSinker", kSimplify, "sinks slices, to a fixed point", "run to a fixed point", kInSimplify, Make<Fix<SliceSinker>>())),
      Row("tuple-simplifier", "TupleSimplifier", kSimplify, "removes tuples that are taken apart again", "", kInSimplify, Make<TupleSimplifier>()),
      Row("tuple-simplifier:exclude_entry", "TupleSimplifier", kSimplify, "removes needless tuples outside the entry computation", "exclude_entry_computation=true", kInSimplify, Make<TupleSimplifier>(true)),
      Silent(Row("tuple-simplifier:fix", "TupleSimplifier", kSimplify, "removes needless tuples, to a fixed point", "run to a fixed point", kInSimplify, Make<Fix<TupleSimplifier>>())),
      Row("while-loop-constant-sinking", "WhileLoopConstantSinking", kSimplify, "copies constants that a loop carries unchanged into its body and condition", "", kInSimplify, Make<WhileLoopConstantSinking>()),
      Row("while-loop-constant-sinking:broadcasts", "WhileLoopConstantSinking", kSimplify, "sinks constants and broadcasts of constants into loops", "sink_broadcast_of_constants=true", kInSimplify, Make<WhileLoopConstantSinking>(true)),
      Row("while-loop-constant-sinking:scalars", "WhileLoopConstantSinking", kSimplify, "sinks scalar constants into loops", "sink_only_scalar_constants=true", kInSimplify, Make<WhileLoopConstantSinking>(false, true)),
      Row("while-loop-invariant-code-motion", "WhileLoopInvariantCodeMotion", kSimplify, "moves loop-invariant instructions out of loop bodies", "", kInSimplify, Make<WhileLoopInvariantCodeMotion>()),
      Row("while-loop-invariant-code-motion:constants", "WhileLoopInvariantCodeMotion", kSimplify, "moves invariant instructions and all constants out of loops", "hoist_constants=true", kInSimplify, Make<WhileLoopInvariantCodeMotion>(true)),
      Row("while-loop-invariant-code-motion:reshapes", "WhileLoopInvariantCodeMotion", kSimplify, "moves invariant instructions and lone reshapes out of loops", "hoist_reshapes=true", kInSimplify, Make<WhileLoopInvariantCodeMotion>(false, true)),
      Row("while-loop-invariant-code-motion:no_growth", "WhileLoopInvariantCodeMotion", kSimplify, "moves invariant instructions out of loops unless their result outgrows their operands", "hoist_size_inflation_ratio=1", kInSimplify, Make<WhileLoopInvariantCodeMotion>(false, false, true, std::optional<float>(1.0f))),
      Row("while-loop-invariant-code-motion:only_constants", "WhileLoopInvariantCodeMotion", kSimplify, "moves only constants out of loops", "hoist_constants=true, hoist_other=false", kInSimplify, Make<WhileLoopInvariantCodeMotion>(true, false, false)),
      Silent(Row("while-loop-invariant-code-motion:fix", "WhileLoopInvariantCodeMotion", kSimplify, "moves invariant instructions out of nested loops, to a fixed point", "run to a fixed point", kInSimplify, Make<Fix<WhileLoopInvariantCodeMotion>>())),
      Row("zero_sized_hlo_elimination", "ZeroSizedHloElimination", kSimplify, "replaces instructions without elements by empty constants", "", kInSimplify, Make<ZeroSizedHloElimination>()),
      Row("literal-canonicalizer", "LiteralCanonicalizer", kSimplify, "shares the storage of equal large literals: saves the compiler's memory only", "pool=default, min_size_bytes=0", kInSimplify, Make<LiteralCanonicalizer>(LiteralPool::Default(), size_t{0})),
      Row("shape-canonicalizer", "ShapeCanonicalizer", kSimplify, "shares the storage of equal shapes: saves the compiler's memory only", "pool=default", kInSimplify, Make<ShapeCanonicalizer>(ShapePool::Default())),
      // ---- Simple where gathers and scatters are: they replace one instruction by several.
      Row("gather_expander", "GatherExpander", kExpand, "turns gathers that need no loop into dynamic-slices", "mode=eliminate_simple", kOutside, Make<GatherExpander>(GatherExpander::kEliminateSimpleGathers)),
      Row("gather_expander:all", "GatherExpander", kExpand, "turns every gather into a loop of dynamic-slices", "mode=eliminate_all", kOutside, Make<GatherExpander>(GatherExpander::kEliminateAllGathers)),
      Row("gather_simplifier", "GatherSimplifier", kExpand, "rewrites gathers as transposes, reshapes and a gather along the first dimensions", "", kOutside, Make<GatherSimplifier>()),
      Row("scatter_expander", "ScatterExpander", kExpand, "turns scatters that need no loop into dynamic-update-slices", "mode=eliminate_simple", kOutside, Make<ScatterExpander>(ScatterExpander::kEliminateSimpleScatters)),
      Row("scatter_expander:all", "ScatterExpander", kExpand, "turns every scatter into a loop of dynamic-update-slices", "mode=eliminate_all", kOutside, Make<ScatterExpander>(ScatterExpander::kEliminateAllScatters)),
      Row("scatter_expander:indeterministic", "ScatterExpander", kExpand, "turns scatters whose result may depend on order into loops", "mode=eliminate_indeterministic", kOutside, Make<ScatterExpander>(ScatterExpander::kEliminateIndeterministicScatters)),
      Row("scatter_simplifier", "ScatterSimplifier", kExpand, "rewrites scatters as transposes, reshapes and a scatter along the first dimensions", "", kOutside, Make<ScatterSimplifier>()),
      Row("batched_gather_scatter_normalizer", "BatchedGatherScatterNormalizer", kExpand, "rewrites gathers and scatters with batch dimensions as ones without", "", kOutside, Make<BatchedGatherScatterNormalizer>()),
      Row("select_and_scatter_expander", "SelectAndScatterExpander", kExpand, "rewrites select-and-scatter as a windowed reduction and a scatter", "", kOutside, Make<SelectAndScatterExpander>()),
      // ---- Expanders: one complicated operation becomes many plain ones.
      Row("all_to_all_decomposer", "AllToAllDecomposer", kCollective, "rewrites an array all-to-all as a tuple all-to-all", "", kOutside, Make<AllToAllDecomposer>()),
      Row("all_to_all_decomposer:array", "AllToAllDecomposer", kCollective, "gives an array all-to-all at least rank three, with its split dimension first", "decompose_to_tuple=false, min_array_rank=3", kOutside, Make<AllToAllDecomposer>(false, int64_t{3})),
      Row("batchnorm_expander", "BatchNormExpander", kExpand, "rewrites batch-norm training, inference and gradient as plain arithmetic", "training, inference, grad", kOutside, Make<BatchNormExpander>(true, true, true)),
      Row("batchnorm_expander:inference", "BatchNormExpander", kExpand, "rewrites batch-norm inference as plain arithmetic", "inference", kOutside, Make<BatchNormExpander>(false, true, false)),
      Row("batchnorm_expander:training", "BatchNormExpander", kExpand, "rewrites batch-norm training and its gradient as plain arithmetic", "training, grad", kOutside, Make<BatchNormExpander>(true, false, true)),
      Row("bitcast_dtypes_expander", "BitcastDtypesExpander", kExpand, "rewrites bitcast-convert between types of different width as shifts and a reduce", "", kOutside, Make<BitcastDtypesExpander>()),
      Row("cholesky_expander", "CholeskyExpander", kExpand, "rewrites cholesky as blocked loops", "", kOutside, Make<CholeskyExpander>()),
      Row("comparison-expander", "ComparisonExpander", kExpand, "rewrites total-order comparisons of floats as integer comparisons", "", kOutside, Make<ComparisonExpander>()),
      Row("conditional-to-select", "ConditionalToSelect", kExpand, "turns conditionals inside maps into selects of both branches", "", kOutside, Make<ConditionalToSelect>()),
      Row("convolution-canonicalization", "ConvCanonicalization", kExpand, "transposes convolutions into the dimension order that Eigen takes", "the host's target", kOutside, []() -> std::unique_ptr<HloPassInterface> { return std::make_unique<ConvCanonicalization>(HostTarget()); }),
      Row("convolution-group-converter", "ConvolutionGroupConverter", kExpand, "rewrites convolutions with batch groups as ones without", "the CPU compiler's: convert_batch_groups_only=true", kOutside, MakeGroupConverter(true)),
      Row("convolution-group-converter:feature_groups", "ConvolutionGroupConverter", kExpand, "rewrites convolutions with feature groups, but f16 and f32, as ones without", "the CPU compiler's: convert_batch_groups_only=false", kOutside, MakeGroupConverter(false)),
      Row("dot_decomposer", "DotDecomposer", kExpand, "reshapes dots into canonical form: batch, then one free and one contracted dimension", "", kOutside, Make<DotDecomposer>()),
      Row("dynamic-index-splitter", "DynamicIndexSplitter", kExpand, "splits index vectors of dynamic slices into scalars", "", kOutside, Make<DynamicIndexSplitter>()),
      Row("eigh_expander", "EighExpander", kExpand, "rewrites symmetric eigendecompositions as Jacobi loops", "", kOutside, Make<EighExpander>()),
      Row("logistic-expander", "LogisticExpander", kExpand, "rewrites logistic as 1 / (1 + exp(-x))", "", kOutside, Make<LogisticExpander>()),
      Row("map-inline", "MapInliner", kSimplify, "replaces maps by the elementwise operation they apply", "", kInSimplify, Make<MapInliner>()),
      Row("qr_expander", "QrExpander", kExpand, "rewrites QR decompositions as Householder loops", "", kOutside, Make<QrExpander>()),
      Row("reduce-window-resizer", "ReduceWindowResizer", kExpand, "reshapes 1-d reduce-windows to 2-d ones", "", kOutside, Make<ReduceWindowResizer>()),
      Silent(Row("reduce-window-rewriter", "ReduceWindowRewriter", kExpand, "rewrites long scans and 1-d reduce-windows as trees, to a fixed point", "base_length=16, run to a fixed point", kOutside, Make<Fix<ReduceWindowRewriter>>(int64_t{16}))),
      Row("reduce-window-rewriter:once", "ReduceWindowRewriter", kExpand, "rewrites long scans and 1-d reduce-windows one level down", "base_length=16", kOutside, Make<ReduceWindowRewriter>(int64_t{16})),
      Silent(Row("reduce-window-rewriter:base_128", "ReduceWindowRewriter", kExpand, "rewrites scans longer than 128 as trees, to a fixed point", "base_length=128, run to a fixed point", kOutside, Make<Fix<ReduceWindowRewriter>>(int64_t{128}))),
      Row("rng-bit-generator-expander", "RngBitGeneratorExpander", kExpand, "rewrites rng-bit-generator as Philox or ThreeFry arithmetic", "default_algorithm=philox", kOutside, Make<RngBitGeneratorExpander>(RandomAlgorithm::RNG_PHILOX)),
      Row("rng-bit-generator-expander:three_fry", "RngBitGeneratorExpander", kExpand, "as rng-bit-generator-expander, but the default algorithm, which any may be, is ThreeFry", "default_algorithm=three_fry", kOutside, Make<RngBitGeneratorExpander>(RandomAlgorithm::RNG_THREE_FRY)),
      Row("rng-expander", "RngExpander", kExpand, "rewrites stateful rng as Philox arithmetic", "", kOutside, Make<RngExpander>()),
      Row("stochastic_convert_decomposer", "StochasticConvertDecomposer", kExpand, "rewrites stochastic-convert as plain operations", "", kOutside, Make<StochasticConvertDecomposer>()),
      Row("topk-decomposer", "TopkDecomposer", kExpand, "rewrites the topk instruction as a sort and slices", "predicate=topk instructions", kOutside, Make<TopkDecomposer>([](const HloInstruction* instruction) { return instruction->opcode() == HloOpcode::kTopK; })),
      Row("tree_reduction_rewriter", "TreeReductionRewriter", kExpand, "splits long reductions into windows first: smaller rounding error", "", kOutside, Make<TreeReductionRewriter>()),
      Row("tree_reduction_rewriter:window_1024", "TreeReductionRewriter", kExpand, "splits reductions longer than 1024 into windows first", "reduce_window_size=1024", kOutside, Make<TreeReductionRewriter>(int64_t{1024})),
      Row("triangular_solve_expander", "TriangularSolveExpander", kExpand, "rewrites triangular-solve as blocked loops", "", kOutside, Make<TriangularSolveExpander>()),
      Row("triangular_solve_expander:block_32", "TriangularSolveExpander", kExpand, "rewrites triangular-solve as loops over blocks of 32", "block_size=32", kOutside, Make<TriangularSolveExpander>(int64_t{32})),
      // ---- Legalisers: types, dynamic shapes, and what later parts of the compiler take for granted.
      Row("change-op-data-type", "ChangeOpDataType", kLegalise, "computes f16 dots and convolutions in f32", "f16 to f32, dots and convolutions that no library takes", kOutside, Make<ChangeOpDataType>(F16, F32, HloPredicate(IsUnclaimedDotOrConvolution))),
      Row("change-op-data-type:bf16", "ChangeOpDataType", kLegalise, "computes bf16 dots and convolutions in f32", "bf16 to f32, dots and convolutions that no library takes", kOutside, Make<ChangeOpDataType>(BF16, F32, HloPredicate(IsUnclaimedDotOrConvolution))),
      Row("conditional-canonicalizer", "ConditionalCanonicalizer", kLegalise, "gives every conditional tuples for operands and result", "", kOutside, Make<ConditionalCanonicalizer>()),
      Row("dynamic_padder", "DynamicPadder", kLegalise, "replaces dynamic shapes by padded static ones and masks the padding", "shape_check_mode=ignore", kOutside, Make<DynamicPadder>()),
      Row("dynamic_padder:keep_static_outputs", "DynamicPadder", kLegalise, "as dynamic_padder, but leaves the outputs padded", "slice_dynamic_output=false", kOutside, []() -> std::unique_ptr<HloPassInterface> { DynamicPadderOptions options; options.slice_dynamic_output = false; return std::make_unique<DynamicPadder>(options); }),
      Row("bf16-mixed-precision-removal", "BFloat16MixedPrecisionRemoval", kLegalise, "converts the operands of instructions that mix f32 and bf16", "", kOutside, Make<BFloat16MixedPrecisionRemoval>()),
      Row("float-normalization-bf16", "FloatNormalization", kLegalise, "computes bf16 operations in f32 where the backend has no bf16", "bf16 to f32", kOutside, MakeFloatNormalization(BF16, F32)),
      Row("float-normalization-f8e5m2", "FloatNormalization", kLegalise, "computes f8e5m2 operations in f16", "f8e5m2 to f16", kOutside, MakeFloatNormalization(F8E5M2, F16)),
      Row("float-normalization-f8e4m3", "FloatNormalization", kLegalise, "computes f8e4m3 operations in f16", "f8e4m3 to f16", kOutside, MakeFloatNormalization(F8E4M3, F16)),
      Row("float-normalization-f8e4m3fn", "FloatNormalization", kLegalise, "computes f8e4m3fn operations in f16", "f8e4m3fn to f16", kOutside, MakeFloatNormalization(F8E4M3FN, F16)),
      Row("float-normalization-f8e4m3b11fnuz", "FloatNormalization", kLegalise, "computes f8e4m3b11fnuz operations in f16", "f8e4m3b11fnuz to f16", kOutside, MakeFloatNormalization(F8E4M3B11FNUZ, F16)),
      Row("float-normalization-f8e5m2fnuz", "FloatNormalization", kLegalise, "computes f8e5m2fnuz operations in f16", "f8e5m2fnuz to f16", kOutside, MakeFloatNormalization(F8E5M2FNUZ, F16)),
      Row("float-normalization-f8e4m3fnuz", "FloatNormalization", kLegalise, "computes f8e4m3fnuz operations in f16", "f8e4m3fnuz to f16", kOutside, MakeFloatNormalization(F8E4M3FNUZ, F16)),
      Row("float-normalization-f8e3m4", "FloatNormalization", kLegalise, "computes f8e3m4 operations in f16", "f8e3m4 to f16", kOutside, MakeFloatNormalization(F8E3M4, F16)),
      Row("float-normalization-s4", "FloatNormalization", kLegalise, "computes s4 operations in s8", "s4 to s8", kOutside, MakeFloatNormalization(S4, S8)),
      Row("float-normalization-u4", "FloatNormalization", kLegalise, "computes u4 operations in u8", "u4 to u8", kOutside, MakeFloatNormalization(U4, U8)),
      Row("float-normalization-f4e2m1fn", "FloatNormalization", kLegalise, "computes f4e2m1fn operations in f16", "f4e2m1fn to f16", kOutside, MakeFloatNormalization(F4E2M1FN, F16)),
      Row("float-normalization-f8e8m0fnu", "FloatNormalization", kLegalise, "computes f8e8m0fnu operations in f32", "f8e8m0fnu to f32", kOutside, MakeFloatNormalization(F8E8M0FNU, F32)),
      Row("hlo-verifier", "HloVerifier", kLegalise, "checks that the module is well formed; changes nothing", "layout_sensitive=false, allow_mixed_precision=true", kOutside, [] { return MakeVerifier(false); }),
      Row("hlo-verifier:layout_sensitive", "HloVerifier", kLegalise, "checks that the module and its layouts are well formed; changes nothing", "layout_sensitive=true, allow_mixed_precision=true", kOutside, [] { return MakeVerifier(true); }),
      Row("operand_upcaster", "OperandUpcaster", kLegalise, "widens the operands of instructions whose result is wider", "filter: what no library takes", kOutside, Make<OperandUpcaster>(HloPredicate(LibraryDeclines))),
      Row("operand_upcaster:all", "OperandUpcaster", kLegalise, "widens the operands of every instruction whose result is wider", "", kOutside, Make<OperandUpcaster>()),
      Row("result_caster", "ResultCaster", kLegalise, "computes in the operands' type and converts the result to the type asked for", "", kOutside, Make<ResultCaster>()),
      InPlace(Row("sharding-remover", "ShardingRemover", kLegalise, "removes sharding annotations: a single device has no use for them", "", kOutside, Make<ShardingRemover>())),
      InPlace(Row("sub-byte-size-setter", "SubByteNormalization", kLegalise, "marks 4-bit and narrower types as packed in layouts", "mode=set_element_size", kOutside, Make<SubByteNormalization>(SubByteNormalization::SET_ELEMENT_SIZE))),
      InPlace(Row("sub-byte-size-removal", "SubByteNormalization", kLegalise, "marks 4-bit and narrower types as not packed in layouts", "mode=remove_element_size", kOutside, Make<SubByteNormalization>(SubByteNormalization::REMOVE_ELEMENT_SIZE))),
      InPlace(Row("while-loop-trip-count-annotator", "WhileLoopTripCountAnnotator", kLegalise, "writes known trip counts onto loops: no later pass may then change how often they run", "", kOutside, Make<WhileLoopTripCountAnnotator>())),
      Row("flatten-call-graph", "FlattenCallGraph", kLegalise, "gives every call site a computation of its own", "", kOutside, Make<FlattenCallGraph>()),
      // ---- Layouts.
      InPlace(Row("layout-assignment", "CpuLayoutAssignment", kLayout, "chooses a layout for every tensor, as CPU kernels want them, and inserts copies", "the entry's own layout, the host's target", kOutside, Make<LayoutAssignmentOfModule<CpuLayoutAssignment>>())),
      InPlace(Row("layout-assignment:generic", "LayoutAssignment", kLayout, "chooses a layout for every tensor without a backend's wishes", "the entry's own layout", kOutside, Make<LayoutAssignmentOfModule<LayoutAssignment>>())),
      InPlace(Row("memory-space-propagation", "MemorySpacePropagation", kLayout, "copies memory spaces from fusions' operands and results into them", "", kOutside, Make<MemorySpacePropagation>())),
      Row("reduce-decomposer", "ReduceDecomposer", kLayout, "splits reduces that change the layout into a reduce and a copy", "", kOutside, Make<ReduceDecomposer>()),
      Row("reshape-decomposer", "ReshapeDecomposer", kLayout, "splits reshapes that move data into bitcasts and copies", "", kOutside, Make<ReshapeDecomposer>()),
      // ---- Fusion, and calls of library kernels.
      Row("fusion", "CpuInstructionFusion", kFuse, "fuses producers into their consumers by the CPU's rules", "may_duplicate=true", kOutside, Make<CpuInstructionFusion>(DefaultAliasInfo(), true)),
      Row("fusion:no_duplication", "CpuInstructionFusion", kFuse, "fuses producers of one consumer by the CPU's rules", "may_duplicate=false", kOutside, Make<CpuInstructionFusion>(DefaultAliasInfo(), false)),
      Row("fusion:generic", "InstructionFusion", kFuse, "fuses producers into their consumers by XLA's common rules", "may_duplicate=true", kOutside, Make<InstructionFusion>(InstructionFusion::IsExpensive, DefaultAliasInfo(), true)),
      Row("cpu_multi_output_fusion", "CpuMultiOutputFusion", kFuse, "fuses siblings into one loop with several outputs", "", kOutside, Make<CpuMultiOutputFusion>(DefaultAliasInfo())),
      Row("fusion-wrapper", "FusionWrapper", kFuse, "wraps lone operations in fusions for the fusion emitter", "new and tiled emitters", kOutside, Make<FusionWrapper>(true, true)),
      Row("fusion-wrapper:untiled", "FusionWrapper", kFuse, "wraps lone operations in fusions for the loop emitter", "new emitter, not tiled", kOutside, Make<FusionWrapper>(true, false)),
      Row("dot-library-rewriter", "LibraryRewriter", kFuse, "makes fusions that YNNPACK computes", "the fusion types of default flags", kOutside, NewLibraryRewriter),
      Row("onednn-ops-rewriter", "OneDnnOpsRewriter", kFuse, "replaces softmax and layer-norm patterns by oneDNN calls", "", kOutside, Make<OneDnnOpsRewriter>()),
      Row("topk-rewriter", "TopkRewriter", kFuse, "replaces sorts of which the first k are kept by a TopK call", "f32 only", kOutside, Make<TopkRewriter>([](const HloSortInstruction* sort, int64_t) { return sort->operand(0)->shape().element_type() == F32; })),
      Row("transpose-folding", "TransposeFolding", kFuse, "folds transposes into dots whose kernel can read them so", "the CPU compiler's: dots only", kOutside, MakeCpuTransposeFolding),
      Row("transpose-folding:all", "TransposeFolding", kFuse, "folds transposes into dots and convolutions", "", kOutside, Make<TransposeFolding>()),
      Row("small-while-loop-hoisting", "SmallWhileLoopHoistingPass", kFuse, "makes small loops functions that compile to one kernel", "small_buffer_access_size=1024", kOutside, Make<SmallWhileLoopHoistingPass>(int64_t{1024})),
      // ---- Schedules, copies and parallel tasks.
      Row("copy-insertion", "CopyInsertion", kSchedule, "inserts the copies that buffer sharing needs", "", kOutside, Make<CopyInsertion>(DefaultAliasInfo())),
      Row("copy-insertion:region_analysis", "CopyInsertion", kSchedule, "inserts the copies that a region-based live-range analysis finds needed", "use_region_based_live_range_analysis=-1", kOutside, Make<CopyInsertion>(DefaultAliasInfo(), int64_t{-1})),
      Row("cpu-parallel-task-assigner", "ParallelTaskAssigner", kSchedule, "splits large operations into tasks for a thread pool", "max_parallelism=8, the host's target", kOutside, []() -> std::unique_ptr<HloPassInterface> { return std::make_unique<ParallelTaskAssigner>(8, PointerSizedBytes, HostTarget()); }),
      Row("hlo-descheduler", "HloDescheduler", kSchedule, "removes the schedule", "", kOutside, Make<HloDescheduler>()),
      Row("hlo-memory-scheduler", "HloMemoryScheduler", kSchedule, "orders instructions by the best of the list, depth-first and post orders for peak memory", "algorithm=default", kOutside, MakeMemoryScheduler<DefaultMemoryScheduler>),
      Row("hlo-memory-scheduler:list", "HloMemoryScheduler", kSchedule, "orders instructions to free large buffers early", "algorithm=list", kOutside, MakeMemoryScheduler<ListMemoryScheduler>),
      Row("hlo-memory-scheduler:depth_first", "HloMemoryScheduler", kSchedule, "orders instructions depth first", "algorithm=depth_first", kOutside, MakeMemoryScheduler<DFSMemoryScheduler>),
      Row("hlo-memory-scheduler:post_order", "HloMemoryScheduler", kSchedule, "orders instructions in post order", "algorithm=post_order", kOutside, MakeMemoryScheduler<PostOrderScheduler>),
      Row("hlo-memory-scheduler:breadth_first", "HloMemoryScheduler", kSchedule, "orders instructions breadth first, for concurrency", "algorithm=breadth_first", kOutside, MakeMemoryScheduler<BFScheduler>),
      Row("hlo-trivial-scheduler", "HloTrivialScheduler", kSchedule, "orders instructions as the module lists them", "", kOutside, Make<HloTrivialScheduler>()),
      // ---- Collectives and many devices.
      Row("all-reduce-combiner", "AllReduceCombiner", kCollective, "combines independent small all-reduces", "no limit in bytes, 256 operands", kOutside, Make<AllReduceCombiner>(std::numeric_limits<int64_t>::max(), int64_t{256})),
      Row("cpu-all-reduce-combiner", "CpuAllReduceCombiner", kCollective, "combines independent all-reduces by the CPU's rules", "no limit in bytes, 256 operands", kOutside, Make<CpuAllReduceCombiner>(std::numeric_limits<int64_t>::max(), int64_t{256})),
      Row("all-reduce-promotion", "AllReducePromotion", kCollective, "computes bf16 all-reduces in f32", "bf16 to f32", kOutside, []() -> std::unique_ptr<HloPassInterface> { const std::pair<PrimitiveType, PrimitiveType> types[] = {{BF16, F32}}; return std::make_unique<AllReducePromotion>(types); }),
      Row("domain_isolator", "HloDomainIsolator", kCollective, "puts domain instructions between different shardings", "sharding domains", kOutside, Make<HloDomainIsolator>([] { return HloDomainIsolator::DomainCreator(ShardingDomainCreator{}); })),
      Silent(Row("domain_remover", "HloDomainRemover", kCollective, "removes sharding domains and makes shardings agree", "sharding domains", kOutside, Make<HloDomainRemover>("sharding", ShardingMetadata::NormalizeShardingDomain))),
      Row("domain_verifier", "HloDomainVerifier", kCollective, "checks that domains agree; changes nothing", "sharding domains", kOutside, Make<HloDomainVerifier>(std::vector<std::string>{"sharding"})),
      InPlace(Row("sharding-propagation", "ShardingPropagation", kCollective, "gives instructions the shardings of their neighbours", "is_spmd=true", kOutside, Make<ShardingPropagation>(true))),
  };
  // clang-format on
}

}  // namespace

std::vector<PassEntry> CpuPasses() { return BuildTable(); }

std::vector<ExcludedPass> ExcludedFromCpuPasses() {
  return {
      {"HloPassInterface", "abstract: the root of all passes"},
      {"HloModulePass", "abstract: the base of passes over one module"},
      {"OpExpanderPass", "abstract: the base of passes that expand one kind of instruction"},
      {"HloPassPipeline", "a sequence of passes, not a pass: hone makes its own sequences"},
      {"HloPassFix", "a template that repeats a pass to a fixed point: in the table as rows \":fix\""},
      {"MultiOutputFusion", "abstract: CpuMultiOutputFusion is its form for the CPU"},
      {"FusionWrapperBase", "abstract: FusionWrapper is its form for the CPU"},
      {"OneDnnContractionRewriter",
       "its header needs oneDNN's and LLVM's; the stock pipeline runs it only under an experimental flag"},
      {"ShardyXLA", "its header needs MLIR's and Shardy's; the stock pipeline runs it only when asked to"},
      {"SpmdPartitioner", "needs a mesh of devices, and its header does not compile with g++ 12"},
      {"StatefulRngSpmdPartitioner",
       "needs a mesh of devices, and its header does not compile with g++ 12"},
  };
}

}  // namespace hone::compiler
