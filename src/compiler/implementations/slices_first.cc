// Slices that a loop takes of an array which it then overwrites: rows and columns of eliminations,
// factorisations and shortest paths. XLA:CPU's fusion takes them into the kernel that writes the
// array, which then reads elsewhere than it writes, so that the array is copied on each trip. As
// kernels of their own, before it, they are small, and the array is written in place.
#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "compiler/implementations/kernel_parts.h"
#include "compiler/implementations/loop_state.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kLeastBytes = 8 << 10;  // of the array: a smaller one is copied at once
constexpr int64_t kMostShare = 4;         // a slice has this part of it, or less
constexpr size_t kMostBehind = 500;       // instructions between a slice and what is written

// Whether what is made of it in kernels of XLA's ends in `written`.
bool IsTakenInto(const HloInstruction& slice, const HloInstruction& written) {
  absl::flat_hash_set<const HloInstruction*> seen;
  std::vector<const HloInstruction*> pending = {&slice};
  while (!pending.empty() && seen.size() < kMostBehind) {
    const HloInstruction* const one = pending.back();
    pending.pop_back();
    for (const HloInstruction* user : one->users()) {
      if (user == &written) return true;
      const bool fused = user->IsElementwise() || user->opcode() == HloOpcode::kBroadcast ||
                         user->opcode() == HloOpcode::kReshape ||
                         user->opcode() == HloOpcode::kBitcast ||
                         user->opcode() == HloOpcode::kTranspose ||
                         user->opcode() == HloOpcode::kDynamicUpdateSlice;
      if (fused && seen.insert(user).second) pending.push_back(user);
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<HloInstruction*> SlicesFirst(HloInstruction* root) {
  const HloInstruction* const array = root->operand(0);
  const HloInstruction* const written = NextOf(*array);
  if (written == nullptr || written == array || !emit::Free(*root) || root->user_count() == 0 ||
      !xla::ShapeUtil::Compatible(array->shape(), written->shape()) ||
      xla::ShapeUtil::ByteSizeOf(array->shape()) < kLeastBytes ||
      xla::ShapeUtil::ElementsIn(root->shape()) * kMostShare >
          xla::ShapeUtil::ElementsIn(array->shape()) ||
      absl::c_any_of(
          root->users(),
          [](const HloInstruction* user) { return user->opcode() == HloOpcode::kAddDependency; }) ||
      IsInOneKernel(*root->parent()) || !IsTakenInto(*root, *written)) {
    return nullptr;
  }
  return emit::Kept(root->parent()->AddInstruction(root->Clone()));
}

}  // namespace hone::compiler
