#include "compiler/run/stored_noise.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_format.h"
#include "compiler/custom_calls/stored_noise.h"
#include "compiler/run/rounding_noise.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/primitive_util.h"
#include "xla/xla_data.pb.h"

namespace hone::compiler {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

// What custom_calls/stored_noise.h takes.
bool IsMovable(const xla::Shape& shape) {
  const xla::PrimitiveType type = shape.element_type();
  return (xla::primitive_util::IsFloatingPointType(type) ||
          xla::primitive_util::IsComplexType(type)) &&
         xla::primitive_util::BitWidth(type) >= 16;
}

bool StoresBesideOthers(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kDynamicUpdateSlice ||
         instruction.opcode() == HloOpcode::kScatter;
}

// The noise of what an instruction computes anew and stores, in spacings; 0 where it only moves
// values, or stores beside others' what it computes.
double StoredSteps(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kFusion: {
      const HloComputation& fused = *instruction.fused_instructions_computation();
      if (StoresBesideOthers(*fused.root_instruction())) return 0;
      double steps = 0;
      for (const HloInstruction* inner : fused.instructions()) {
        if (Rounds(*inner) || SummedTerms(*inner) > 0) steps = std::max(steps, NoiseSteps(*inner));
      }
      return steps;
    }
    case HloOpcode::kCall: {  // a kernel that is computed in parts, or a few in one
      const HloInstruction& root = *instruction.to_apply()->root_instruction();
      if (root.opcode() == HloOpcode::kFusion) return StoredSteps(root);
      if (StoresBesideOthers(root)) return 0;
      double steps = 0;
      for (const HloInstruction* inner : instruction.to_apply()->instructions()) {
        const bool loops = inner->opcode() == HloOpcode::kWhile;
        steps = std::max(steps, loops ? 1 : StoredSteps(*inner));
      }
      return steps;
    }
    case HloOpcode::kCustomCall:
      return instruction.custom_call_target() == "TopK" ? 0 : 1;
    case HloOpcode::kDynamicUpdateSlice:
    case HloOpcode::kScatter:
      return 0;
    default:
      return Rounds(instruction) || SummedTerms(instruction) > 0 ? NoiseSteps(instruction) : 0;
  }
}

// How much of it a value's only user needs, where that adds it up; 0 elsewhere.
double StepsOfOnlyUser(const HloInstruction& value) {
  if (value.user_count() != 1) return 0;
  const HloInstruction& user = *value.users().front();
  const std::vector<int64_t> summed = SummedOperands(user);
  const bool all = absl::c_all_of(user.OperandIndices(&value),
                                  [&](int64_t k) { return absl::c_linear_search(summed, k); });
  return all && !summed.empty() ? NoiseSteps(user) : 0;
}

// A loop whose end hangs on values might not come to it: its condition knows nothing of the noise
// in its body.
bool IsCounted(const HloInstruction& loop) {
  const auto config = loop.backend_config<xla::WhileLoopBackendConfig>();
  return config.ok() && config->has_known_trip_count();
}

class Adder {
 public:
  absl::Status In(HloComputation* computation) {
    if (!seen_.insert(computation).second) return absl::OkStatus();
    for (HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
      absl::Status status;
      if (instruction->opcode() == HloOpcode::kWhile && IsCounted(*instruction)) {
        status = In(instruction->while_body());
      } else if (instruction->opcode() == HloOpcode::kConditional) {
        for (HloComputation* branch : instruction->branch_computations()) {
          if (status.ok()) status = In(branch);
        }
      } else if (const double steps = StoredSteps(*instruction); steps > 0) {
        status = Before(instruction, steps);
        if (status.ok()) status = Behind(instruction, steps);
      }
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  bool changed() const { return changed_; }

 private:
  // Sums that cancel are off by their terms' size: what is added up has noise of its own.
  absl::Status Before(HloInstruction* instruction, double steps) {
    if (steps == 1) return absl::OkStatus();  // that it has already
    for (const int64_t k : SummedOperands(*instruction)) {
      HloInstruction* const operand = instruction->mutable_operand(k);
      const auto made = made_.find(operand);
      if (!IsMovable(operand->shape()) || (made != made_.end() && made->second >= steps)) continue;
      absl::Status status =
          instruction->ReplaceOperandWith(k, Moved(operand, steps, /*in_place=*/false));
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status Behind(HloInstruction* instruction, double steps) {
    if (!instruction->shape().IsTuple()) return Replace(instruction, steps);
    const std::vector<HloInstruction*> users(instruction->users());
    for (HloInstruction* user : users) {
      if (user->opcode() != HloOpcode::kGetTupleElement) return absl::OkStatus();
    }
    for (HloInstruction* user : users) {
      if (absl::Status status = Replace(user, steps); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status Replace(HloInstruction* value, double steps) {
    if (!IsMovable(value->shape())) return absl::OkStatus();
    const std::vector<HloInstruction*> users(value->users());
    steps = std::max(steps, StepsOfOnlyUser(*value));
    HloInstruction* const moved = Moved(value, steps, /*in_place=*/true);
    made_[moved] = steps;
    HloComputation* const computation = value->parent();
    if (computation->root_instruction() == value) computation->set_root_instruction(moved);
    for (HloInstruction* user : users) {
      if (absl::Status status = value->ReplaceUseWith(user, moved); !status.ok()) return status;
    }
    changed_ = true;
    return absl::OkStatus();
  }

  HloInstruction* Moved(HloInstruction* value, double steps, bool in_place) {
    const std::string attributes = absl::StrFormat("{%s = %d : i64, %s = %.9e : f32}", kNoiseSalt,
                                                   ++salt_, kNoiseSteps, steps);
    HloInstruction* const moved = value->parent()->AddInstruction(HloInstruction::CreateCustomCall(
        value->shape(), {value}, kNoiseCall, {value->shape()}, attributes,
        xla::CustomCallApiVersion::API_VERSION_TYPED_FFI));
    if (in_place) {
      xla::Cast<xla::HloCustomCallInstruction>(moved)->set_output_to_operand_aliasing(
          {{{}, {0, {}}}});
    }
    return moved;
  }

  std::set<HloComputation*> seen_;
  std::map<const HloInstruction*, double> made_;  // in place, and how much
  int64_t salt_ = 0;
  bool changed_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<xla::HloModule>> AddStoredNoise(const xla::HloModule& optimised) {
  std::unique_ptr<xla::HloModule> noisy = optimised.Clone("");
  noisy->clear_schedule();
  Adder adder;
  if (absl::Status status = adder.In(noisy->entry_computation()); !status.ok()) return status;
  if (!adder.changed()) return nullptr;
  return noisy;
}

}  // namespace hone::compiler
