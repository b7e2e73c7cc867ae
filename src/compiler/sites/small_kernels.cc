#include "compiler/sites/small_kernels.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/kernel_parts.h"
#include "compiler/sites/keys.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;
using Instructions = std::vector<HloInstruction*>;

constexpr int64_t kMostElements = 2048;
constexpr int64_t kMostMultiplyAdds = 2048;  // of a dot: others are better off in a library
constexpr int64_t kMostConstant = 64;        // elements, that are written into the kernel
constexpr int kLeastKernels = 4;             // that one takes the place of
constexpr size_t kMostTogether = 48;         // LLVM takes long for longer functions

bool IsSmallArray(const HloInstruction& value) {
  return value.shape().IsArray() && value.shape().is_static() &&
         xla::ShapeUtil::ElementsIn(value.shape()) <= kMostElements;
}

// What XLA's emitter of whole computations writes as plain loops.
bool MayBeFused(const HloInstruction& part) {
  switch (part.opcode()) {
    case HloOpcode::kBitcast:
    case HloOpcode::kBroadcast:
    case HloOpcode::kConcatenate:
    case HloOpcode::kConstant:
    case HloOpcode::kDynamicSlice:
    case HloOpcode::kGather:
    case HloOpcode::kIota:
    case HloOpcode::kPad:
    case HloOpcode::kParameter:
    case HloOpcode::kReduce:
    case HloOpcode::kReshape:
    case HloOpcode::kReverse:
    case HloOpcode::kSlice:
    case HloOpcode::kTranspose:
      return true;
    case HloOpcode::kMap:
    case HloOpcode::kRng:
      return false;
    default:
      return part.IsElementwise() && part.operand_count() > 0;
  }
}

bool IsSmall(const HloInstruction& instruction) {
  if (!IsSmallArray(instruction) || !emit::Free(instruction) ||
      !absl::c_all_of(instruction.operands(),
                      [](const HloInstruction* operand) { return IsSmallArray(*operand); })) {
    return false;
  }
  switch (instruction.opcode()) {
    case HloOpcode::kBitcast:
      return true;
    case HloOpcode::kDot:
      return emit::TermsOf(instruction) * xla::ShapeUtil::ElementsIn(instruction.shape()) <=
             kMostMultiplyAdds;
    case HloOpcode::kFusion:
      return instruction.IsLoopFusion() &&
             absl::c_all_of(instruction.fused_instructions(),
                            [](const HloInstruction* part) { return MayBeFused(*part); });
    default:
      return false;
  }
}

bool IsCopiedInto(const HloInstruction& value) {
  return value.opcode() == HloOpcode::kConstant && IsSmallArray(value) &&
         xla::ShapeUtil::ElementsIn(value.shape()) <= kMostConstant;
}

// The small instructions in groups, operands first: those of a group have as many changes between
// small and others behind them.
std::vector<Instructions> Groups(HloComputation* computation) {
  const Instructions order = computation->MakeInstructionPostOrder();
  struct Place {
    int64_t changes = 0;
    bool small_behind = false;  // something small of as many changes needs it
  };
  absl::flat_hash_map<const HloInstruction*, Place> places;
  std::map<int64_t, Instructions> by_changes;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    Place place;
    const auto take = [&](const HloInstruction* behind) {
      const Place other = places.at(behind);
      if (other.changes > place.changes) place = {other.changes, false};
      place.small_behind |= other.changes == place.changes && other.small_behind;
    };
    absl::c_for_each((*it)->users(), take);
    absl::c_for_each((*it)->control_successors(), take);
    if (IsSmall(**it)) {
      place.small_behind = true;
      by_changes[place.changes].push_back(*it);
    } else if (place.small_behind) {
      place = {place.changes + 1, false};
    }
    places[*it] = place;
  }
  std::vector<Instructions> groups;
  for (auto& [changes, members] : by_changes) {
    std::reverse(members.begin(), members.end());
    for (size_t from = 0; from < members.size(); from += kMostTogether) {
      const size_t to = std::min(members.size(), from + kMostTogether);
      groups.emplace_back(members.begin() + static_cast<std::ptrdiff_t>(from),
                          members.begin() + static_cast<std::ptrdiff_t>(to));
    }
  }
  return groups;
}

// Computations that are run as they stand: the entry's, and those of loops and choices in it.
bool IsRun(const HloComputation& computation) {
  if (computation.IsEntryComputation()) return true;
  const auto callers = computation.caller_instructions();
  return !callers.empty() && absl::c_all_of(callers, [&](const HloInstruction* caller) {
    switch (caller->opcode()) {
      case HloOpcode::kWhile:
        return caller->while_body() == &computation && IsRun(*caller->parent());
      case HloOpcode::kConditional:
      case HloOpcode::kCall:
        return IsRun(*caller->parent());
      default:
        return false;
    }
  });
}

// A bitcast is no kernel: what others need of it is made of what it is one of.
SmallKernels KernelsOf(const Instructions& group) {
  SmallKernels kernels;
  const absl::flat_hash_set<const HloInstruction*> members(group.begin(), group.end());
  absl::flat_hash_set<const HloInstruction*> outside;  // bitcasts that others need
  for (auto it = group.rbegin(); it != group.rend(); ++it) {
    const bool needed = *it == (*it)->parent()->root_instruction() ||
                        absl::c_any_of((*it)->users(), [&](const HloInstruction* user) {
                          return !members.contains(user) || outside.contains(user);
                        });
    if (needed && (*it)->opcode() == HloOpcode::kBitcast) {
      outside.insert(*it);
    } else if (needed) {
      kernels.results.push_back(*it);
    }
  }
  std::reverse(kernels.results.begin(), kernels.results.end());
  kernels.members = group;
  return kernels;
}

int CountKernels(const Instructions& members) {
  return static_cast<int>(absl::c_count_if(members, [](const HloInstruction* member) {
    return member->opcode() != HloOpcode::kBitcast;
  }));
}

}  // namespace

std::vector<SmallKernels> FindSmallKernels(HloComputation* computation) {
  std::vector<SmallKernels> found;
  if (!IsRun(*computation) || IsInOneKernel(*computation)) return found;
  for (const Instructions& group : Groups(computation)) {
    if (CountKernels(group) < kLeastKernels) continue;
    found.push_back(KernelsOf(group));
    for (const HloInstruction* member : group) {
      found.back().hash = Mix(found.back().hash, member->opcode() == HloOpcode::kFusion
                                                     ? HashFusion(*member)
                                                     : HashWithOperands(*member));
    }
  }
  return found;
}

absl::Status Join(const SmallKernels& kernels) {
  HloComputation* const computation = kernels.members.front()->parent();
  HloComputation::Builder contents(absl::StrCat(kernels.members.back()->name(), "_kernel"));
  Instructions given;
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> inside;
  for (HloInstruction* member : kernels.members) {
    Instructions operands;
    for (HloInstruction* operand : member->operands()) {
      HloInstruction*& copy = inside[operand];
      if (copy == nullptr && IsCopiedInto(*operand)) {
        copy = contents.AddInstruction(operand->Clone());
      } else if (copy == nullptr) {
        copy = contents.AddInstruction(HloInstruction::CreateParameter(
            static_cast<int64_t>(given.size()), operand->shape(), absl::StrCat("p", given.size())));
        given.push_back(operand);
      }
      operands.push_back(copy);
    }
    inside[member] =
        contents.AddInstruction(member->CloneWithNewOperands(member->shape(), operands));
  }
  Instructions values;
  for (const HloInstruction* result : kernels.results) values.push_back(inside.at(result));
  HloInstruction* const root = contents.AddInstruction(HloInstruction::CreateTuple(values));
  HloInstruction* const call = emit::OneKernel(computation, given, contents.Build(root));
  for (size_t i = 0; i < kernels.results.size(); ++i) {
    HloInstruction* const value = computation->AddInstruction(HloInstruction::CreateGetTupleElement(
        kernels.results[i]->shape(), call, static_cast<int64_t>(i)));
    TF_RETURN_IF_ERROR(kernels.results[i]->ReplaceAllUsesWith(value));
  }
  for (auto it = kernels.members.rbegin(); it != kernels.members.rend(); ++it) {
    if ((*it)->user_count() > 0 || *it == computation->root_instruction()) continue;  // a bitcast
    TF_RETURN_IF_ERROR(computation->RemoveInstruction(*it));
  }
  return absl::OkStatus();
}

}  // namespace hone::compiler
