#include "compiler/sites/intercept.h"

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "compiler/sites/pipeline_intercept.h"
#include "compiler/sites/real.h"
#include "xla/hlo/ir/dfs_hlo_visitor_with_default.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/transforms/simplifiers/algebraic_simplifier.h"
#include "xla/service/cpu/cpu_instruction_fusion.h"
#include "xla/service/cpu/cpu_multi_output_fusion.h"
#include "xla/service/instruction_fusion.h"

namespace hone::compiler {
namespace {

// Null outside of passes that are observed, and inside of XLA's own work on one rewrite: replacing
// an instruction replaces its uses and removes it, which is one decision.
thread_local RewriteObserver* observer = nullptr;

// Within the algebraic simplifier an error aborts; it need not be ended, see its Run below.
thread_local bool errors_abort = false;

constexpr absl::string_view kEnded = "hone: no further rewrites are wanted";

absl::Status Ended() { return absl::CancelledError(kEnded); }

// What CpuInstructionFusion fuses into loops, but for concatenations, which cost it more than they
// save.
bool IsLoopEmitted(const xla::HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case xla::HloOpcode::kBitcast:
    case xla::HloOpcode::kBroadcast:
    case xla::HloOpcode::kDynamicSlice:
    case xla::HloOpcode::kGather:
    case xla::HloOpcode::kIota:
    case xla::HloOpcode::kPad:
    case xla::HloOpcode::kReduce:
    case xla::HloOpcode::kReshape:
    case xla::HloOpcode::kReverse:
    case xla::HloOpcode::kSlice:
    case xla::HloOpcode::kTranspose:
      return true;
    default:
      return instruction.IsElementwise() && instruction.opcode() != xla::HloOpcode::kConstant;
  }
}

bool Asks(const xla::HloInstruction* original) {
  return observer != nullptr && original->parent() != nullptr &&
         !original->parent()->IsFusionComputation();
}

}  // namespace

ScopedObserver::ScopedObserver(RewriteObserver* wanted) { observer = wanted; }
ScopedObserver::~ScopedObserver() { observer = nullptr; }

Unobserved::Unobserved() : observer_(std::exchange(observer, nullptr)) {}
Unobserved::~Unobserved() { observer = observer_; }

bool MayFuse(xla::HloInstruction* producer, xla::HloInstruction* consumer, int64_t operand) {
  return observer == nullptr ||
         observer->Ask({RewriteKind::kFuse, producer, consumer, consumer, operand}) == Answer::kMake;
}

int64_t RewritesMade() { return observer == nullptr ? -1 : observer->made(); }

bool IsEnded(const absl::Status& status) { return status.message() == kEnded; }

}  // namespace hone::compiler

// In what follows: ask, then let XLA do it unobserved. Declined rewrites leave the replacement without
// users; whoever observes removes it after the pass.
#define HONE_ASK(declined, ...)                                             \
  switch (hone::compiler::observer->Ask({__VA_ARGS__})) {                   \
    case hone::compiler::Answer::kMake:                                     \
      break;                                                                \
    case hone::compiler::Answer::kDecline:                                  \
      return declined;                                                      \
    case hone::compiler::Answer::kEnd:                                      \
      if (hone::compiler::errors_abort) return declined;                    \
      return hone::compiler::Ended();                                       \
  }                                                                         \
  hone::compiler::Unobserved unobserved

namespace xla {

using hone::RewriteKind;
using hone::compiler::Asks;
using hone::compiler::observer;
using hone::compiler::Real;

// ---- An instruction by another.

absl::StatusOr<bool> HloComputation::ReplaceInstruction(HloInstruction* old, HloInstruction* by,
                                                        bool sharding, bool relay, bool remove) {
  static const auto real =
      Real<absl::StatusOr<bool> (*)(HloComputation*, HloInstruction*, HloInstruction*, bool, bool,
                                    bool)>(
          "_ZN3xla14HloComputation18ReplaceInstructionEPNS_14HloInstructionES2_bbb");
  if (!Asks(old)) return real(this, old, by, sharding, relay, remove);
  HONE_ASK(false, RewriteKind::kReplaceInstruction, old, by);
  return real(this, old, by, sharding, relay, remove);
}

absl::Status HloComputation::ReplaceInstruction(HloInstruction* old, HloInstruction* by) {
  static const auto real =
      Real<absl::Status (*)(HloComputation*, HloInstruction*, HloInstruction*)>(
          "_ZN3xla14HloComputation18ReplaceInstructionEPNS_14HloInstructionES2_");
  if (!Asks(old)) return real(this, old, by);
  HONE_ASK(absl::OkStatus(), RewriteKind::kReplaceInstruction, old, by);
  return real(this, old, by);
}

absl::StatusOr<bool> HloComputation::ReplaceInstructionWithDifferentShape(
    HloInstruction* old, HloInstruction* by, bool sharding, bool relay, bool remove) {
  static const auto real =
      Real<absl::StatusOr<bool> (*)(HloComputation*, HloInstruction*, HloInstruction*, bool, bool,
                                    bool)>(
          "_ZN3xla14HloComputation36ReplaceInstructionWithDifferentShapeEPNS_14HloInstructionES2_"
          "bbb");
  if (!Asks(old)) return real(this, old, by, sharding, relay, remove);
  HONE_ASK(false, RewriteKind::kReplaceInstruction, old, by);
  return real(this, old, by, sharding, relay, remove);
}

absl::Status HloComputation::ReplaceInstructionWithDifferentShape(HloInstruction* old,
                                                                  HloInstruction* by) {
  static const auto real =
      Real<absl::Status (*)(HloComputation*, HloInstruction*, HloInstruction*)>(
          "_ZN3xla14HloComputation36ReplaceInstructionWithDifferentShapeEPNS_14HloInstructionES2_");
  if (!Asks(old)) return real(this, old, by);
  HONE_ASK(absl::OkStatus(), RewriteKind::kReplaceInstruction, old, by);
  return real(this, old, by);
}

absl::Status HloComputation::ReplaceWithNewInstruction(HloInstruction* old,
                                                       std::unique_ptr<HloInstruction> by) {
  if (!Asks(old)) return ReplaceInstruction(old, AddInstruction(std::move(by)));
  // Added first, for a declined replacement must still be somewhere: the pass may look at it.
  HloInstruction* const added = AddInstruction(std::move(by));
  HONE_ASK(absl::OkStatus(), RewriteKind::kReplaceInstruction, old, added);
  return ReplaceInstruction(old, added);
}

// ---- Some or all uses.

absl::Status HloInstruction::ReplaceAllUsesWith(HloInstruction* by, absl::string_view trigger) {
  static const auto real =
      Real<absl::Status (*)(HloInstruction*, HloInstruction*, absl::string_view)>(
          "_ZN3xla14HloInstruction18ReplaceAllUsesWithEPS0_St17basic_string_viewIcSt11char_"
          "traitsIcEE");
  if (!Asks(this)) return real(this, by, trigger);
  HONE_ASK(absl::OkStatus(), RewriteKind::kReplaceUses, this, by, nullptr, -1, trigger);
  return real(this, by, trigger);
}

absl::Status HloInstruction::ReplaceAllUsesWithDifferentShape(HloInstruction* by) {
  static const auto real = Real<absl::Status (*)(HloInstruction*, HloInstruction*)>(
      "_ZN3xla14HloInstruction32ReplaceAllUsesWithDifferentShapeEPS0_");
  if (!Asks(this)) return real(this, by);
  HONE_ASK(absl::OkStatus(), RewriteKind::kReplaceUses, this, by);
  return real(this, by);
}

absl::Status HloInstruction::ReplaceUsesWith(absl::Span<HloInstruction* const> users,
                                             HloInstruction* by) {
  static const auto real =
      Real<absl::Status (*)(HloInstruction*, absl::Span<HloInstruction* const>, HloInstruction*)>(
          "_ZN3xla14HloInstruction15ReplaceUsesWithEN4absl12lts_202508144SpanIKPS0_EES4_");
  if (!Asks(this)) return real(this, users, by);
  HONE_ASK(absl::OkStatus(), RewriteKind::kReplaceUses, this, by);
  return real(this, users, by);
}

absl::Status HloInstruction::ReplaceAllUsesWithDifferentShape(
    absl::Span<HloInstruction* const> users, HloInstruction* by) {
  static const auto real =
      Real<absl::Status (*)(HloInstruction*, absl::Span<HloInstruction* const>, HloInstruction*)>(
          "_ZN3xla14HloInstruction32ReplaceAllUsesWithDifferentShapeEN4absl12lts_202508144SpanIKPS0_"
          "EES4_");
  if (!Asks(this)) return real(this, users, by);
  HONE_ASK(absl::OkStatus(), RewriteKind::kReplaceUses, this, by);
  return real(this, users, by);
}

// ---- One operand of one instruction. Passes also mend what they have just made in this way: that is
// part of the rewrite for which they made it.

absl::Status HloInstruction::ReplaceUseWith(HloInstruction* user, HloInstruction* by) {
  static const auto real =
      Real<absl::Status (*)(HloInstruction*, HloInstruction*, HloInstruction*)>(
          "_ZN3xla14HloInstruction14ReplaceUseWithEPS0_S1_");
  if (!Asks(this) || !observer->IsOriginal(user)) return real(this, user, by);
  HONE_ASK(absl::OkStatus(), RewriteKind::kReplaceOperand, this, by, user);
  return real(this, user, by);
}

absl::Status HloInstruction::ReplaceUseWith(HloInstruction* user, int operand,
                                            HloInstruction* by) {
  static const auto real =
      Real<absl::Status (*)(HloInstruction*, HloInstruction*, int, HloInstruction*)>(
          "_ZN3xla14HloInstruction14ReplaceUseWithEPS0_iS1_");
  if (!Asks(this) || !observer->IsOriginal(user)) return real(this, user, operand, by);
  HONE_ASK(absl::OkStatus(), RewriteKind::kReplaceOperand, this, by, user, operand);
  return real(this, user, operand, by);
}

absl::Status HloInstruction::ReplaceUseWithDifferentShape(HloInstruction* user,
                                                          HloInstruction* by) {
  static const auto real =
      Real<absl::Status (*)(HloInstruction*, HloInstruction*, HloInstruction*)>(
          "_ZN3xla14HloInstruction28ReplaceUseWithDifferentShapeEPS0_S1_");
  if (!Asks(this) || !observer->IsOriginal(user)) return real(this, user, by);
  HONE_ASK(absl::OkStatus(), RewriteKind::kReplaceOperand, this, by, user);
  return real(this, user, by);
}

absl::Status HloInstruction::ReplaceUseWithDifferentShape(HloInstruction* user, int operand,
                                                          HloInstruction* by) {
  static const auto real =
      Real<absl::Status (*)(HloInstruction*, HloInstruction*, int, HloInstruction*)>(
          "_ZN3xla14HloInstruction28ReplaceUseWithDifferentShapeEPS0_iS1_");
  if (!Asks(this) || !observer->IsOriginal(user)) return real(this, user, operand, by);
  HONE_ASK(absl::OkStatus(), RewriteKind::kReplaceOperand, this, by, user, operand);
  return real(this, user, operand, by);
}

absl::Status HloInstruction::ReplaceOperandWith(int64_t operand, HloInstruction* by) {
  static const auto real = Real<absl::Status (*)(HloInstruction*, int64_t, HloInstruction*)>(
      "_ZN3xla14HloInstruction18ReplaceOperandWithElPS0_");
  if (!Asks(this) || !observer->IsOriginal(this)) return real(this, operand, by);
  HONE_ASK(absl::OkStatus(), RewriteKind::kReplaceOperand, mutable_operand(operand), by, this,
           operand);
  return real(this, operand, by);
}

absl::Status HloInstruction::ReplaceOperandWithDifferentShape(int64_t operand,
                                                              HloInstruction* by) {
  static const auto real = Real<absl::Status (*)(HloInstruction*, int64_t, HloInstruction*)>(
      "_ZN3xla14HloInstruction32ReplaceOperandWithDifferentShapeElPS0_");
  if (!Asks(this) || !observer->IsOriginal(this)) return real(this, operand, by);
  HONE_ASK(absl::OkStatus(), RewriteKind::kReplaceOperand, mutable_operand(operand), by, this,
           operand);
  return real(this, operand, by);
}

// ---- Removals. What still has users has them because its replacement was declined.

absl::Status HloComputation::RemoveInstruction(HloInstruction* instruction) {
  static const auto real = Real<absl::Status (*)(HloComputation*, HloInstruction*)>(
      "_ZN3xla14HloComputation17RemoveInstructionEPNS_14HloInstructionE");
  if (!Asks(instruction)) return real(this, instruction);
  if (!instruction->IsDead()) return absl::OkStatus();
  if (!observer->IsOriginal(instruction)) return real(this, instruction);
  HONE_ASK(absl::OkStatus(), RewriteKind::kRemove, instruction, nullptr);
  return real(this, instruction);
}

absl::Status HloComputation::RemoveInstructionAndUnusedOperands(
    HloInstruction* instruction, std::optional<absl::FunctionRef<void(HloInstruction*)>> cleanup,
    bool ignore_control_dependencies,
    std::optional<absl::FunctionRef<std::vector<HloInstruction*>(const HloComputation*)>> callers,
    bool remove_parameters) {
  static const auto real = Real<absl::Status (*)(
      HloComputation*, HloInstruction*, std::optional<absl::FunctionRef<void(HloInstruction*)>>,
      bool,
      std::optional<absl::FunctionRef<std::vector<HloInstruction*>(const HloComputation*)>>,
      bool)>(
      "_ZN3xla14HloComputation34RemoveInstructionAndUnusedOperandsEPNS_14HloInstructionESt8optionalI"
      "N4absl12lts_2025081411FunctionRefIFvS2_EEEEbS3_INS6_IFSt6vectorIS2_SaIS2_EEPKS0_EEEEb");
  if (!Asks(instruction)) {
    return real(this, instruction, cleanup, ignore_control_dependencies, callers,
                remove_parameters);
  }
  if (!instruction->IsDead()) return absl::OkStatus();
  if (observer->IsOriginal(instruction)) {
    HONE_ASK(absl::OkStatus(), RewriteKind::kRemove, instruction, nullptr);
    return real(this, instruction, cleanup, ignore_control_dependencies, callers,
                remove_parameters);
  }
  hone::compiler::Unobserved unobserved;
  return real(this, instruction, cleanup, ignore_control_dependencies, callers, remove_parameters);
}

// ---- Fusion. What fusing does to instructions is not asked about a second time: see Decider.

FusionDecision InstructionFusion::ShouldFuse(HloInstruction* consumer, int64_t operand) {
  static const auto real =
      Real<FusionDecision (*)(InstructionFusion*, HloInstruction*, int64_t)>(
          "_ZN3xla17InstructionFusion10ShouldFuseEPNS_14HloInstructionEl");
  FusionDecision decision = real(this, consumer, operand);
  if (observer == nullptr || !decision.CanFuse()) return decision;
  const auto answer = observer->Ask(
      {RewriteKind::kFuse, consumer->mutable_operand(operand), consumer, consumer, operand});
  if (answer == hone::compiler::Answer::kMake) return decision;
  return FusionDecision::Forbid("declined");
}

FusionDecision cpu::CpuInstructionFusion::ShouldFuse(HloInstruction* consumer, int64_t operand) {
  static const auto real =
      Real<FusionDecision (*)(CpuInstructionFusion*, HloInstruction*, int64_t)>(
          "_ZN3xla3cpu20CpuInstructionFusion10ShouldFuseEPNS_14HloInstructionEl");
  hone::compiler::RewriteObserver* const asked = observer;
  FusionDecision decision = [&] {
    hone::compiler::Unobserved unobserved;  // it calls its base's
    return real(this, consumer, operand);
  }();
  if (auto* const pipeline = hone::compiler::CurrentPipelineObserver()) {
    const HloInstruction& producer = *consumer->operand(operand);
    // What XLA thinks unprofitable, its code generator takes all the same.
    const bool legal =
        decision.CanFuse() ||
        (!ShouldSkip(consumer) && hone::compiler::IsLoopEmitted(producer) &&
         (consumer->IsLoopFusion() || hone::compiler::IsLoopEmitted(*consumer)) &&
         InstructionFusion::ShouldFuse(consumer, operand, ShouldFuseInPlaceOp,
                                       /*legality_check_only=*/true)
             .CanFuse());
    if (pipeline->Fuse(producer, *consumer, decision.CanFuse(), legal)) {
      return FusionDecision::Allow();
    }
    return decision.CanFuse() ? FusionDecision::Forbid("decided otherwise") : decision;
  }
  if (asked == nullptr || !decision.CanFuse()) return decision;
  const auto answer = asked->Ask(
      {RewriteKind::kFuse, consumer->mutable_operand(operand), consumer, consumer, operand});
  if (answer == hone::compiler::Answer::kMake) return decision;
  return FusionDecision::Forbid("declined");
}

bool cpu::CpuMultiOutputFusion::LegalToFuse(HloInstruction* first, HloInstruction* second) {
  static const auto real =
      Real<bool (*)(CpuMultiOutputFusion*, HloInstruction*, HloInstruction*)>(
          "_ZN3xla3cpu20CpuMultiOutputFusion11LegalToFuseEPNS_14HloInstructionES3_");
  if (!real(this, first, second)) return false;
  if (observer == nullptr) return true;
  return observer->Ask({RewriteKind::kFuse, first, second, second}) ==
         hone::compiler::Answer::kMake;
}

// ---- Passes that go on until nothing changes must see that a declined rewrite changed nothing.

bool AlgebraicSimplifierVisitor::Run(HloComputation* computation,
                                     const AlgebraicSimplifierOptions& options,
                                     AlgebraicSimplifier* simplifier) {
  static const auto real =
      Real<bool (*)(AlgebraicSimplifierVisitor*, HloComputation*,
                    const AlgebraicSimplifierOptions&, AlgebraicSimplifier*)>(
          "_ZN3xla26AlgebraicSimplifierVisitor3RunEPNS_14HloComputationERKNS_"
          "26AlgebraicSimplifierOptionsEPNS_19AlgebraicSimplifierE");
  const int64_t before = observer == nullptr ? -1 : observer->made();
  hone::compiler::errors_abort = true;
  const bool changed = real(this, computation, options, simplifier);
  hone::compiler::errors_abort = false;
  return changed && (observer == nullptr || observer->made() > before);
}

}  // namespace xla

#undef HONE_ASK
