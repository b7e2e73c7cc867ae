// Values that XLA:CPU would compute in several places, once. Its fusion takes a producer into each
// of its users, and these into theirs: what is computed again doubles with every such step, as in
// networks of exchanges that are written out, and in gradients of running products.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "absl/status/statusor.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "compiler/implementations/kernel_parts.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

// Operations that are computed again and again for each element, from which on it is written to
// memory and read again.
constexpr int kMuch = 8;
constexpr size_t kPlaces = kMuch + 1;  // as many as are counted
constexpr int64_t kLeastElements = 64;

// Elements are where others are, or the same everywhere: to compute them again costs nothing.
bool OnlyMoves(const HloInstruction& one) {
  switch (one.opcode()) {
    case HloOpcode::kBitcast:
    case HloOpcode::kBroadcast:
    case HloOpcode::kIota:
    case HloOpcode::kReshape:
    case HloOpcode::kReverse:
    case HloOpcode::kSlice:
    case HloOpcode::kTranspose:
      return true;
    default:
      return false;
  }
}

// Is part of a kernel with what it takes and with what takes it (CanBeLoopFused in
// xla/service/cpu/cpu_instruction_fusion.cc).
bool IsFused(const HloInstruction& one) {
  switch (one.opcode()) {
    case HloOpcode::kConcatenate:
    case HloOpcode::kDynamicSlice:
    case HloOpcode::kDynamicUpdateSlice:
    case HloOpcode::kGather:
    case HloOpcode::kPad:
    case HloOpcode::kReduce:
      return one.shape().IsArray();
    default:
      return OnlyMoves(one) || (one.IsElementwise() && one.operand_count() > 0);
  }
}

bool MayBeKept(const HloInstruction& one) {
  return IsFused(one) && !OnlyMoves(one) && emit::Free(one) &&
         xla::ShapeUtil::ElementsIn(one.shape()) >= kLeastElements;
}

// Of one element; roots and quotients take several times as long as sums, functions longer.
int OperationsOf(const HloInstruction& one) {
  switch (one.opcode()) {
    case HloOpcode::kBitcast:
    case HloOpcode::kIota:
    case HloOpcode::kReshape:
      return 0;
    case HloOpcode::kBroadcast:
      return one.dimensions().empty() ? 0 : 1;
    case HloOpcode::kDivide:
    case HloOpcode::kRsqrt:
    case HloOpcode::kSqrt:
      return kMuch / 2;
    case HloOpcode::kReduce:
    case HloOpcode::kRemainder:
      return kMuch;
    default:
      return IsFunction(one.opcode()) ? kMuch : 1;
  }
}

// In how many places each value of a computation is computed, kPlaces at most, where those that
// would be in so many are computed once. A kernel computes an element once, however many of its
// values take it, unless they take it from elsewhere, as behind a slice.
class Places {
 public:
  bool AreMany(const HloInstruction* value) {
    const size_t now = HashOf(*value->parent());
    if (hash_ != now) Count(*value->parent());
    hash_ = now;
    return IsWorthIt(*value);
  }

 private:
  // Of one that has been counted.
  bool IsWorthIt(const HloInstruction& value) {
    const auto places = static_cast<int>(places_[value.unique_id()].size());
    return (places - 1) * operations_[value.unique_id()] >= kMuch;
  }

  static size_t HashOf(const HloComputation& computation) {
    size_t hash = 0;
    for (const HloInstruction* one : computation.instructions()) {
      hash = absl::HashOf(hash, one->unique_id(), one->opcode());
      for (const HloInstruction* operand : one->operands()) {
        hash = absl::HashOf(hash, operand->unique_id());
      }
    }
    return hash;
  }

  void Count(const HloComputation& computation) {
    const auto order = computation.MakeInstructionPostOrder();
    operations_.clear();
    for (const HloInstruction* one : order) {
      int operations = 0;
      if (IsFused(*one)) {
        operations = OperationsOf(*one);
        for (const HloInstruction* operand : one->operands()) {
          operations += operations_[operand->unique_id()];
        }
      }
      operations_[one->unique_id()] = std::min(operations, kMuch);
    }
    places_.clear();
    for (auto one = order.rbegin(); one != order.rend(); ++one) {  // users first
      std::vector<size_t> places;
      const auto add = [&](size_t place) {
        if (places.size() < kPlaces && !absl::c_linear_search(places, place)) {
          places.push_back(place);
        }
      };
      const size_t itself = absl::HashOf((*one)->unique_id());  // where others find it in memory
      if (*one == computation.root_instruction()) add(itself);
      for (const HloInstruction* user : (*one)->users()) {
        const std::vector<size_t>& of_user = places_[user->unique_id()];
        if (!IsFused(*user)) {
          add(itself);
        } else if (IsWorthIt(*user) && MayBeKept(*user)) {
          add(absl::HashOf(user->unique_id()));
        } else {
          for (const size_t place : of_user) {
            add(user->IsElementwise() ? place : absl::HashOf(place, user->unique_id()));
          }
        }
      }
      places_[(*one)->unique_id()] = std::move(places);
    }
  }

  size_t hash_ = 0;  // of the computation that was counted
  absl::flat_hash_map<int64_t, std::vector<size_t>> places_;
  absl::flat_hash_map<int64_t, int> operations_;  // kMuch at most
};

}  // namespace

absl::StatusOr<HloInstruction*> SharedOnce(HloInstruction* root) {
  // One that is taken by one other is in as many places as that.
  const bool is_alone = root->user_count() == 1 && MayBeKept(*root->users()[0]);
  if (is_alone || root->user_count() == 0 || !MayBeKept(*root) ||
      absl::c_all_of(root->users(), [](const HloInstruction* user) { return !IsFused(*user); }) ||
      IsInOneKernel(*root->parent())) {
    return nullptr;
  }
  thread_local Places places;
  if (!places.AreMany(root)) return nullptr;
  return emit::Kept(root->parent()->AddInstruction(root->Clone()));
}

std::vector<HloOpcode> SharedOnceRoots() {
  std::vector<HloOpcode> roots = emit::ElementwiseOpcodes();
  for (const HloOpcode more :
       {HloOpcode::kConcatenate, HloOpcode::kDynamicSlice, HloOpcode::kDynamicUpdateSlice,
        HloOpcode::kGather, HloOpcode::kPad, HloOpcode::kReduce}) {
    roots.push_back(more);
  }
  return roots;
}

}  // namespace hone::compiler
