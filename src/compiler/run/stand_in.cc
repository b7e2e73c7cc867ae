#include "compiler/run/stand_in.h"

#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/custom_calls/custom_calls.h"
#include "compiler/run/execute.h"
#include "compiler/xla_names.h"
#include "core/comparison.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/literal_util.h"
#include "xla/primitive_util.h"
#include "xla/service/custom_call_target_registry.h"
#include "xla/shape_util.h"

// xla/ffi/ffi_api.h needs MLIR's headers, which the wheel lacks, and g++ refuses the C header below
// it. Only whether a handler exists is asked, so its contents are room enough and no more.
namespace xla::ffi {
struct HandlerRegistration {
  void* contents[64];
};
absl::StatusOr<HandlerRegistration> FindHandler(absl::string_view name, absl::string_view platform);
}  // namespace xla::ffi

namespace hone::compiler {
namespace {

// Custom calls that XLA's own passes take out or that XLA:CPU compiles itself.
bool CompilerKnows(absl::string_view target) {
  static const std::set<absl::string_view>* const kKnown = new std::set<absl::string_view>{
      "Sharding",    "SPMDFullToShardShape", "SPMDShardToFullShape", "TopK",
      "PadToStatic", "SliceToDynamic",       "AllocateBuffer",       "AssumeGatherIndicesInBound"};
  return kKnown->count(target) > 0;
}

bool Runs(const std::string& target) {
  return CompilerKnows(target) ||
         xla::CustomCallTargetRegistry::Global()->Lookup(target, "Host") != nullptr ||
         xla::ffi::FindHandler(target, "Host").ok();
}

uint32_t Hash(absl::string_view text) {  // FNV-1a
  uint32_t hash = 2166136261u;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

class StandIn {
 public:
  explicit StandIn(HloInstruction* call)
      : computation_(call->parent()), target_(Hash(call->custom_call_target())) {
    for (HloInstruction* operand : call->operands()) Flatten(operand);
  }

  HloInstruction* Result(const Shape& shape) {
    if (!shape.IsTuple()) return Leaf(shape);
    std::vector<HloInstruction*> parts;
    for (const Shape& part : shape.tuple_shapes()) parts.push_back(Result(part));
    return Make(HloInstruction::CreateTuple(parts));
  }

 private:
  HloInstruction* Make(std::unique_ptr<HloInstruction> instruction) {
    return computation_->AddInstruction(std::move(instruction));
  }

  void Flatten(HloInstruction* operand) {
    if (!operand->shape().IsTuple()) {
      operands_.push_back(operand);
      return;
    }
    const int64_t parts = operand->shape().tuple_shapes().size();
    for (int64_t k = 0; k < parts; ++k) {
      Flatten(Make(HloInstruction::CreateGetTupleElement(operand, k)));
    }
  }

  // Draws differ between operands and between result leaves.
  uint32_t Draw() { return target_ = target_ * 1664525u + 1013904223u; }

  HloInstruction* Binary(HloOpcode opcode, HloInstruction* a, HloInstruction* b) {
    return Make(HloInstruction::CreateBinary(a->shape(), opcode, a, b));
  }

  HloInstruction* Filled(const Shape& shape, double value) {
    HloInstruction* scalar = Make(HloInstruction::CreateConstant(
        *xla::LiteralUtil::CreateR0<double>(value).Convert(shape.element_type())));
    return Make(HloInstruction::CreateBroadcast(shape, scalar, {}));
  }

  HloInstruction* Converted(HloInstruction* x, xla::PrimitiveType type) {
    if (x->shape().element_type() == type) return x;
    return Make(HloInstruction::CreateConvert(ShapeUtil::ChangeElementType(x->shape(), type), x));
  }

  // An operand brought to the result's size: itself where it has it, else its flat elements,
  // repeated or cut.
  HloInstruction* Fitted(HloInstruction* x, const Shape& shape) {
    if (x->shape().dimensions() == shape.dimensions()) return x;
    const xla::PrimitiveType type = x->shape().element_type();
    const int64_t have = ShapeUtil::ElementsIn(x->shape());
    const int64_t want = ShapeUtil::ElementsIn(shape);
    HloInstruction* flat =
        Make(HloInstruction::CreateReshape(ShapeUtil::MakeShape(type, {have}), x));
    const int64_t copies = (want + have - 1) / have;
    if (copies > 1) {
      flat = Make(
          HloInstruction::CreateBroadcast(ShapeUtil::MakeShape(type, {copies, have}), flat, {1}));
      flat = Make(HloInstruction::CreateReshape(ShapeUtil::MakeShape(type, {copies * have}), flat));
    }
    if (flat->shape().dimensions(0) > want) {
      flat = Make(
          HloInstruction::CreateSlice(ShapeUtil::MakeShape(type, {want}), flat, {0}, {want}, {1}));
    }
    return Make(HloInstruction::CreateReshape(ShapeUtil::ChangeElementType(shape, type), flat));
  }

  HloInstruction* Leaf(const Shape& with_layout) {
    const Shape shape = ShapeUtil::MakeShape(with_layout.element_type(), with_layout.dimensions());
    const bool whole = xla::primitive_util::IsIntegralType(shape.element_type());
    HloInstruction* sum = nullptr;
    for (HloInstruction* operand : operands_) {
      const xla::PrimitiveType type = operand->shape().element_type();
      if (ShapeUtil::ElementsIn(operand->shape()) == 0) continue;
      const uint32_t draw = Draw();
      if (whole != xla::primitive_util::IsIntegralType(type) || type == xla::PRED) continue;
      HloInstruction* term = Converted(Fitted(operand, shape), shape.element_type());
      const double weight = whole ? (draw & 0x7F) | 1 : 0.5 + (draw >> 8) * 0x1.0p-24;
      term = Binary(HloOpcode::kMultiply, term, Filled(shape, weight));
      if (whole && xla::primitive_util::BitWidth(shape.element_type()) >= 32) {
        term = Binary(HloOpcode::kAdd, term,
                      Binary(HloOpcode::kShiftRightLogical, term, Filled(shape, 7)));
      }
      sum = sum == nullptr ? term : Binary(HloOpcode::kAdd, sum, term);
    }
    if (sum != nullptr) return sum;
    if (whole && !shape.dimensions().empty()) {
      return Make(HloInstruction::CreateIota(shape, shape.dimensions().size() - 1));
    }
    return Filled(shape, whole ? 0 : 1);
  }

  xla::HloComputation* computation_;
  uint32_t target_;
  std::vector<HloInstruction*> operands_;
};

bool OnlyArrays(const Shape& shape) {
  bool only = true;
  ShapeUtil::ForEachLeafShape(shape, [&](const Shape& leaf, const xla::ShapeIndex&) {
    only = only && leaf.IsArray() && leaf.is_static() &&
           xla::primitive_util::BitWidth(leaf.element_type()) >= 8;
  });
  return only;
}

}  // namespace

std::optional<std::string> WhyNotRunnableAsIs(const xla::HloModule& module) {
  if (auto why = WhyNotRunnable(module)) return why;
  if (const auto missing = MissingCustomCalls(module); !missing.empty()) {
    const std::string how = HowToGetCustomCall(*missing.begin());
    return "this machine has no custom call " + *missing.begin() + (how.empty() ? "" : "; " + how);
  }
  const int64_t bytes = ArgumentAndResultBytes(module);
  if (bytes > CompareOptions{}.most_bytes) {
    return "parameters and results take " + std::to_string(bytes >> 20) + " MiB";
  }
  return std::nullopt;
}

bool CallsPython(const xla::HloModule& module) {
  for (const xla::HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (instruction->opcode() == HloOpcode::kCustomCall &&
          absl::c_linear_search(kPythonCallbacks, instruction->custom_call_target())) {
        return true;
      }
    }
  }
  return false;
}

std::set<std::string> MissingCustomCalls(const xla::HloModule& module) {
  std::set<std::string> missing;
  for (const xla::HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (instruction->opcode() == HloOpcode::kCustomCall &&
          !Runs(instruction->custom_call_target())) {
        missing.insert(instruction->custom_call_target());
      }
    }
  }
  return missing;
}

absl::StatusOr<std::set<std::string>> ReplaceMissingCustomCalls(xla::HloModule* module) {
  const std::set<std::string> missing = MissingCustomCalls(*module);
  if (missing.empty()) return missing;
  for (xla::HloComputation* computation : module->computations()) {
    for (HloInstruction* call : computation->MakeInstructionPostOrder()) {
      if (call->opcode() != HloOpcode::kCustomCall ||
          missing.count(call->custom_call_target()) == 0) {
        continue;
      }
      bool plain = OnlyArrays(call->shape()) && call->called_computations().empty() &&
                   !xla::Cast<xla::HloCustomCallInstruction>(call)->custom_call_has_side_effect();
      for (const HloInstruction* operand : call->operands()) {
        plain = plain && OnlyArrays(operand->shape());
      }
      if (!plain) {
        return absl::UnimplementedError(absl::StrCat(
            "custom call ", call->custom_call_target(), " (", call->name(),
            ") is not in this XLA:CPU, and has side effects or takes more than arrays"));
      }
      HloInstruction* result = StandIn(call).Result(call->shape());
      absl::Status status = call->ReplaceAllUsesWith(result);
      if (!status.ok()) return status;
      status = computation->RemoveInstruction(call);
      if (!status.ok()) return status;
    }
  }
  return missing;
}

}  // namespace hone::compiler
