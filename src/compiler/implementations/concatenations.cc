// Arrays that are put together from parts, as by a shift that goes round, or that get an edge.
#include "compiler/implementations/concatenations.h"

#include <map>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "compiler/implementations/kernel_parts.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hone::compiler {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kFewElements = 256;

// What takes its operands from memory in any case.
bool ReadsMemory(const HloInstruction& user) {
  switch (user.opcode()) {
    case HloOpcode::kCall:
    case HloOpcode::kConditional:
    case HloOpcode::kConvolution:
    case HloOpcode::kCustomCall:
    case HloOpcode::kDot:
    case HloOpcode::kFft:
    case HloOpcode::kReduceWindow:
    case HloOpcode::kScatter:
    case HloOpcode::kSort:
    case HloOpcode::kTuple:
    case HloOpcode::kWhile:
      return true;
    default:
      return false;
  }
}

// What may be a constant once its function is inlined.
bool IsPaddedWithArgument(const HloInstruction& root) {
  return root.opcode() == HloOpcode::kPad && root.operand(1)->opcode() == HloOpcode::kParameter &&
         absl::c_any_of(root.parent()->caller_instructions(), [](const HloInstruction* caller) {
           return caller->opcode() == HloOpcode::kCall;
         });
}

}  // namespace

// Of what a function returns the users are those of its calls.
bool OthersMayTakeItIn(const HloInstruction& value) {
  const HloComputation& computation = *value.parent();
  if (value.IsRoot() && !computation.IsEntryComputation()) {
    return absl::c_any_of(computation.caller_instructions(), [](const HloInstruction* caller) {
      return caller->opcode() == HloOpcode::kCall;
    });
  }
  return absl::c_any_of(value.users(),
                        [](const HloInstruction* user) { return !ReadsMemory(*user); });
}

HloInstruction* ConcatenationKernel(HloInstruction* root) {
  HloComputation::Builder builder(absl::StrCat(root->name(), "_kernel"));
  std::vector<HloInstruction*> given;
  std::map<HloInstruction*, HloInstruction*> inside;
  const auto parameter = [&](HloInstruction* value) {
    HloInstruction*& known = inside[value];
    if (known != nullptr) return known;
    // A constant that such a kernel is given and a loop begins with makes XLA:CPU abort.
    if (value->opcode() == HloOpcode::kConstant) {
      return known = builder.AddInstruction(value->Clone());
    }
    const auto number = static_cast<int64_t>(given.size());
    given.push_back(value);
    known = builder.AddInstruction(
        HloInstruction::CreateParameter(number, value->shape(), absl::StrCat("part_", number)));
    return known;
  };
  std::vector<HloInstruction*> parts;
  for (HloInstruction* part : root->operands()) {
    if (part->opcode() != HloOpcode::kSlice) {
      parts.push_back(parameter(part));
      continue;
    }
    HloInstruction* whole = parameter(part->mutable_operand(0));
    parts.push_back(builder.AddInstruction(part->CloneWithNewOperands(part->shape(), {whole})));
  }
  HloInstruction* whole = builder.AddInstruction(root->CloneWithNewOperands(root->shape(), parts));
  // A large array as the root would be shared out among threads, which such a kernel does not know.
  builder.AddInstruction(HloInstruction::CreateTuple({whole}));
  HloInstruction* kernel = emit::OneKernel(root->parent(), given, builder.Build());
  return root->parent()->AddInstruction(
      HloInstruction::CreateGetTupleElement(root->shape(), kernel, 0));
}

// XLA:CPU fuses a concatenation or pad into each of its users, which then ask of every element
// which part it is in, compute that part once for each shift that they read, and are no loops over
// vectors any more.
absl::StatusOr<HloInstruction*> ConcatenateOnce(HloInstruction* root) {
  if (!emit::Free(*root) || emit::Product(emit::SizesOf(*root)) < kFewElements ||
      IsInOneKernel(*root->parent()) || !OthersMayTakeItIn(*root) || IsPaddedWithArgument(*root)) {
    return nullptr;
  }
  return ConcatenationKernel(root);
}

}  // namespace hone::compiler
