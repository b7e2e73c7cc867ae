// Where passes of the stock XLA:GPU pipeline decide about one instruction: what computes a dot,
// whether a reduce becomes two, whether a convolution is simplified, which collectives are
// combined. Taken over as in sites/pipeline_intercept.cc.
#include "compiler/gpu/choices_intercept.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/sites/pipeline_intercept.h"
#include "compiler/sites/real.h"
#include "xla/backends/gpu/codegen/triton/support_legacy.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/transforms/collectives/all_gather_combiner.h"
#include "xla/hlo/transforms/collectives/all_reduce_combiner.h"
#include "xla/hlo/transforms/simplifiers/algebraic_simplifier.h"
#include "xla/service/gpu/matmul_utils.h"
#include "xla/service/gpu/reduction_utils.h"
#include "xla/service/gpu/transforms/gemm_rewriter.h"
#include "xla/service/reduce_scatter_combiner.h"
#include "xla/stream_executor/device_description.h"

namespace hone::compiler {
namespace gpu {

const char* const kTriton = "triton";

namespace {

constexpr const char* kCublas = "cublas";
constexpr const char* kCublasLt = "cublaslt";
constexpr const char* kLoop = "loop";
constexpr const char* kSplit = "split";
constexpr const char* kWhole = "whole";
constexpr const char* kSimplify = "simplify";
constexpr const char* kKeep = "keep";
constexpr const char* kCombine = "combine";

// What ReductionSplitter leaves alone by itself.
constexpr int64_t kLeastSplitDimension = 128;
// Two kernels need something to share.
constexpr int64_t kLeastTreeDimension = 256;

// The pass that runs on this thread: the functions serve others too.
enum class Pass { kNone, kGemmFusion, kGemmRewriter, kTreeReduction, kReductionSplitter };
thread_local Pass running = Pass::kNone;
thread_local const xla::HloInstruction* reduce = nullptr;  // that TreeReductionRewriter asks about
thread_local const stream_executor::GpuComputeCapability* capability = nullptr;

PipelineObserver* ObserverOf(Pass pass) {
  return running == pass ? CurrentPipelineObserver() : nullptr;
}

using Threads = absl::flat_hash_set<absl::string_view>;
using RunImpl = absl::StatusOr<bool> (*)(void*, xla::HloModule*, const Threads&);

absl::StatusOr<bool> Run(Pass which, RunImpl real, void* pass, xla::HloModule* module,
                         const Threads& threads) {
  running = which;
  absl::StatusOr<bool> changed = real(pass, module, threads);
  running = Pass::kNone;
  return changed;
}

// GemmRewriter gives all dots to cuBLAS, or all to cuBLASLt.
struct GemmRun {
  bool lt = false;                            // what it gives them to now
  bool other = false;                         // some want the other
  const xla::HloInstruction* left = nullptr;  // the dot that it is to leave alone
};
thread_local GemmRun gemms;

std::string Choose(PipelineObserver& observer, CompileSiteKind kind,
                   const xla::HloInstruction& instruction, std::vector<std::string> choices,
                   uint32_t stock) {
  return observer.Choose(observer.SiteOf(kind, instruction, std::move(choices), stock));
}

// `too_small`: for cuBLAS, as XLA has it.
hone::CompileSite GemmSite(PipelineObserver& observer, const xla::HloInstruction& dot,
                           bool too_small) {
  std::vector<std::string> choices = {kCublas, kCublasLt};
  uint32_t stock = dot.GetModule()->config().debug_options().xla_gpu_enable_cublaslt();
  if (capability != nullptr && xla::gpu::legacy_triton::CanTritonHandleGEMM(
                                   *xla::Cast<xla::HloDotInstruction>(&dot), *capability)) {
    choices.emplace_back(kTriton);
  }
  if (xla::gpu::IsDotSupportedByClassicalEmitters(dot)) {
    if (too_small) stock = static_cast<uint32_t>(choices.size());
    choices.emplace_back(kLoop);
  }
  return observer.SiteOf(CompileSiteKind::kGemm, dot, std::move(choices), stock);
}

bool Combines(const xla::HloInstruction& collective) {
  PipelineObserver* const observer = CurrentPipelineObserver();
  return observer == nullptr || Choose(*observer, CompileSiteKind::kCollective, collective,
                                       {kCombine, kKeep}, 0) == kCombine;
}

}  // namespace

ScopedCapability::ScopedCapability(const stream_executor::GpuComputeCapability& of) {
  capability = &of;
}
ScopedCapability::~ScopedCapability() { capability = nullptr; }

}  // namespace gpu
}  // namespace hone::compiler

using hone::CompileSiteKind;
using hone::compiler::CurrentPipelineObserver;
using hone::compiler::PipelineObserver;
using hone::compiler::Real;
using namespace hone::compiler::gpu;  // NOLINT: what this file has for itself

// xla::gpu::GemmFusion::RunImpl. As GemmRewriter, it makes dots something else, one after another.
extern "C" absl::StatusOr<bool>
_ZN3xla3gpu10GemmFusion7RunImplEPNS_9HloModuleERKN4absl12lts_2025081413flat_hash_setISt17basic_string_viewIcSt11char_traitsIcEENS5_18container_internal10StringHashENSB_8StringEqESaISA_EEE(
    void* pass, xla::HloModule* module, const Threads& threads) {
  static const auto real = Real<RunImpl>(__func__);
  if (PipelineObserver* const observer = CurrentPipelineObserver()) {
    observer->NameAll(*module, xla::HloOpcode::kDot);
  }
  return Run(Pass::kGemmFusion, real, pass, module, threads);
}

// xla::gpu::TreeReductionRewriter::RunImpl
extern "C" absl::StatusOr<bool>
_ZN3xla3gpu21TreeReductionRewriter7RunImplEPNS_9HloModuleERKN4absl12lts_2025081413flat_hash_setISt17basic_string_viewIcSt11char_traitsIcEENS5_18container_internal10StringHashENSB_8StringEqESaISA_EEE(
    void* pass, xla::HloModule* module, const Threads& threads) {
  static const auto real = Real<RunImpl>(__func__);
  return Run(Pass::kTreeReduction, real, pass, module, threads);
}

// xla::gpu::ReductionSplitter::RunImpl
extern "C" absl::StatusOr<bool>
_ZN3xla3gpu17ReductionSplitter7RunImplEPNS_9HloModuleERKN4absl12lts_2025081413flat_hash_setISt17basic_string_viewIcSt11char_traitsIcEENS5_18container_internal10StringHashENSB_8StringEqESaISA_EEE(
    void* pass, xla::HloModule* module, const Threads& threads) {
  static const auto real = Real<RunImpl>(__func__);
  return Run(Pass::kReductionSplitter, real, pass, module, threads);
}

namespace xla {
namespace gpu {

// ---- Dots.

// GemmFusion asks it of a dot before it makes a fusion of it.
CodegenDecision legacy_triton::IsTritonSupportedInstruction(
    const HloInstruction& instruction, const stream_executor::GpuComputeCapability& capability) {
  static const auto real = Real<CodegenDecision (*)(const HloInstruction&,
                                                    const stream_executor::GpuComputeCapability&)>(
      "_ZN3xla3gpu13legacy_triton28IsTritonSupportedInstructionERKNS_14HloInstructionERKN15stream_"
      "executor20GpuComputeCapabilityE");
  CodegenDecision can = real(instruction, capability);
  PipelineObserver* const observer = ObserverOf(Pass::kGemmFusion);
  if (observer == nullptr || !can || instruction.opcode() != HloOpcode::kDot) return can;
  // What becomes of the others GemmRewriter asks later: it knows which are too small for cuBLAS.
  const hone::CompileSite site = GemmSite(*observer, instruction, /*too_small=*/false);
  if (!observer->Plans(site, kTriton)) return CodegenDecision::Forbid("decided otherwise");
  observer->Choose(site);
  return can;
}

absl::StatusOr<bool> GemmRewriter::RunImpl(HloModule* module, const Threads& threads) {
  static const auto real = Real<absl::StatusOr<bool> (*)(GemmRewriter*, HloModule*,
                                                         const Threads&)>(
      "_ZN3xla3gpu12GemmRewriter7RunImplEPNS_9HloModuleERKN4absl12lts_2025081413flat_hash_setISt17"
      "basic_string_viewIcSt11char_traitsIcEENS5_18container_internal10StringHashENSB_"
      "8StringEqESaIS"
      "A_EEE");
  PipelineObserver* const observer = CurrentPipelineObserver();
  if (observer == nullptr) return real(this, module, threads);
  observer->NameAll(*module, HloOpcode::kDot);
  const bool stock = options_.enable_cublaslt;
  bool changed = false;
  for (const bool lt : {stock, !stock}) {
    if (lt != stock && !gemms.other) break;
    gemms = {lt};
    options_.enable_cublaslt = lt;
    running = Pass::kGemmRewriter;
    const absl::StatusOr<bool> ran = real(this, module, threads);
    running = Pass::kNone;
    options_.enable_cublaslt = stock;
    if (!ran.ok()) return ran;
    changed |= *ran;
  }
  gemms = {};
  return changed;
}

// GemmRewriter asks it of each dot; one that is, and that the classical emitters support, it leaves
// alone.
absl::StatusOr<bool> IsMatrixMultiplicationTooSmallForRewriting(const HloInstruction& dot,
                                                                int64_t threshold) {
  static const auto real = Real<absl::StatusOr<bool> (*)(const HloInstruction&, int64_t)>(
      "_ZN3xla3gpu42IsMatrixMultiplicationTooSmallForRewritingERKNS_14HloInstructionEl");
  absl::StatusOr<bool> too_small = real(dot, threshold);
  PipelineObserver* const observer = ObserverOf(Pass::kGemmRewriter);
  if (observer == nullptr || !too_small.ok()) return too_small;
  gemms.left = nullptr;
  const std::string chosen = observer->Choose(GemmSite(*observer, dot, *too_small));
  if (chosen == kTriton) return too_small;  // GemmFusion has not taken it
  if (chosen == kLoop) return true;
  if ((chosen == kCublasLt) == gemms.lt) return false;
  gemms.other = true;
  gemms.left = &dot;
  return true;
}

bool IsDotSupportedByClassicalEmitters(const HloInstruction& dot) {
  static const auto real = Real<bool (*)(const HloInstruction&)>(
      "_ZN3xla3gpu33IsDotSupportedByClassicalEmittersERKNS_14HloInstructionE");
  return gemms.left == &dot || real(dot);
}

// ---- Reduces.

ReductionDimensions GetReductionKindAndContiguousComponents(const HloInstruction& instruction) {
  static const auto real = Real<ReductionDimensions (*)(const HloInstruction&)>(
      "_ZN3xla3gpu39GetReductionKindAndContiguousComponentsERKNS_14HloInstructionE");
  if (running == Pass::kTreeReduction) reduce = &instruction;
  return real(instruction);
}

// TreeReductionRewriter asks it of the reduce that it has just asked the above of; what is not free
// of races XLA can only split.
bool ReductionIsRaceFree(const ReductionDimensions& dimensions,
                         const stream_executor::DeviceDescription& device) {
  static const auto real =
      Real<bool (*)(const ReductionDimensions&, const stream_executor::DeviceDescription&)>(
          "_ZN3xla3gpu19ReductionIsRaceFreeERKNS0_19ReductionDimensionsERKN15stream_executor17"
          "DeviceDescriptionE");
  const bool free = real(dimensions, device);
  PipelineObserver* const observer = ObserverOf(Pass::kTreeReduction);
  const HloInstruction* const asked = std::exchange(reduce, nullptr);
  if (observer == nullptr || asked == nullptr || !free) return free;
  const absl::Span<const int64_t> reduced = asked->dimensions();
  const int64_t last = *std::max_element(reduced.begin(), reduced.end());
  if (asked->operand(0)->shape().dimensions(last) < kLeastTreeDimension) return free;
  return Choose(*observer, CompileSiteKind::kReduction, *asked, {kWhole, kSplit}, 0) == kWhole;
}

// ReductionSplitter leaves alone what it is true of.
bool IsReductionFromOrToContiguousDimensions(const HloInstruction& instruction,
                                             const stream_executor::DeviceDescription& device) {
  static const auto real =
      Real<bool (*)(const HloInstruction&, const stream_executor::DeviceDescription&)>(
          "_ZN3xla3gpu39IsReductionFromOrToContiguousDimensionsERKNS_14HloInstructionERKN15stream_"
          "executor17DeviceDescriptionE");
  const bool contiguous = real(instruction, device);
  PipelineObserver* const observer = ObserverOf(Pass::kReductionSplitter);
  if (observer == nullptr || contiguous || instruction.dimensions().size() < 2 ||
      !instruction.shape().IsArray()) {
    return contiguous;
  }
  int64_t largest = 0;
  for (int64_t dimension : instruction.dimensions()) {
    largest = std::max(largest, instruction.operand(0)->shape().dimensions(dimension));
  }
  if (largest < kLeastSplitDimension) return contiguous;
  return Choose(*observer, CompileSiteKind::kReduction, instruction, {kSplit, kWhole}, 0) == kWhole;
}

}  // namespace gpu

// ---- Convolutions: a site is what the simplifier changes.

absl::Status AlgebraicSimplifierVisitor::HandleConvolution(HloInstruction* convolution) {
  static const auto real = Real<absl::Status (*)(AlgebraicSimplifierVisitor*, HloInstruction*)>(
      "_ZN3xla26AlgebraicSimplifierVisitor17HandleConvolutionEPNS_14HloInstructionE");
  PipelineObserver* const observer = CurrentPipelineObserver();
  if (observer == nullptr) return real(this, convolution);
  const hone::CompileSite site = observer->SiteOf(CompileSiteKind::kConvolution, *convolution,
                                                  {kSimplify, kKeep}, /*stock=*/0);
  if (observer->Plans(site, kKeep)) {
    observer->Choose(site);
    return absl::OkStatus();
  }
  const bool used = convolution->user_count() > 0 || convolution->IsRoot();
  if (absl::Status status = real(this, convolution); !status.ok()) return status;
  // What was replaced is of no use.
  if (used && convolution->user_count() == 0 && !convolution->IsRoot()) observer->Choose(site);
  return absl::OkStatus();
}

// ---- Collectives: those of one key are combined.

std::optional<AllReduceCombiner::GroupKey> AllReduceCombiner::CombineKey(
    const HloInstruction* instruction, const HloDomainMap& domains) {
  static const auto real = Real<std::optional<GroupKey> (*)(const HloInstruction*,
                                                            const HloDomainMap&)>(
      "_ZN3xla17AllReduceCombiner10CombineKeyB5cxx11EPKNS_14HloInstructionERKNS_12HloDomainMapE");
  auto key = real(instruction, domains);
  return key && Combines(*instruction) ? std::move(key) : std::nullopt;
}

std::optional<AllGatherCombiner::GroupKey> AllGatherCombiner::CombineKey(
    const HloInstruction* instruction, const HloDomainMap& domains, bool by_dimension,
    bool different_types) {
  static const auto real = Real<std::optional<GroupKey> (*)(const HloInstruction*,
                                                            const HloDomainMap&, bool, bool)>(
      "_ZN3xla17AllGatherCombiner10CombineKeyB5cxx11EPKNS_14HloInstructionERKNS_12HloDomainMapEbb");
  auto key = real(instruction, domains, by_dimension, different_types);
  return key && Combines(*instruction) ? std::move(key) : std::nullopt;
}

std::optional<ReduceScatterCombiner::GroupKey> ReduceScatterCombiner::CombineKey(
    const HloInstruction* instruction, const HloDomainMap& domains, bool by_dimension) {
  static const auto real =
      Real<std::optional<GroupKey> (*)(const HloInstruction*, const HloDomainMap&, bool)>(
          "_ZN3xla21ReduceScatterCombiner10CombineKeyB5cxx11EPKNS_14HloInstructionERKNS_12"
          "HloDomainMapEb");
  auto key = real(instruction, domains, by_dimension);
  return key && Combines(*instruction) ? std::move(key) : std::nullopt;
}

}  // namespace xla
