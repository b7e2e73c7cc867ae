#include "compiler/implementations/transpose_kernels.h"

#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/kernel_parts.h"
#include "core/native_kernel.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;
using Sizes = std::vector<int64_t>;

constexpr int64_t kLeastMoved = 1 << 14;  // elements: of fewer, all lines are in the cache
constexpr int64_t kLeastAlong = 4;        // of what runs along memory, before and after

// A permutation without dimensions of 1, and those that stay neighbours as one.
struct Moves {
  Sizes sizes, permutation;
};
Moves MovesOf(const Sizes& sizes, const Sizes& permutation) {
  Sizes order;
  for (const int64_t d : permutation) {
    if (sizes[d] != 1) order.push_back(d);
  }
  const auto next = [&](int64_t d) {
    do {
      ++d;
    } while (d < static_cast<int64_t>(sizes.size()) && sizes[d] == 1);
    return d;
  };
  std::vector<std::pair<int64_t, int64_t>> groups;  // first dimension and size, in the new order
  int64_t last = -1;
  for (const int64_t d : order) {
    if (last >= 0 && d == next(last)) {
      groups.back().second *= sizes[d];
    } else {
      groups.emplace_back(d, sizes[d]);
    }
    last = d;
  }
  auto sorted = groups;
  absl::c_sort(sorted);
  Moves moves;
  for (const auto& [first, size] : sorted) moves.sizes.push_back(size);
  for (const auto& group : groups) {
    moves.permutation.push_back(absl::c_find(sorted, group) - sorted.begin());
  }
  return moves;
}

bool IsWorthIt(const Moves& moves) {
  const size_t rank = moves.sizes.size();
  if (rank < 2 || rank > kMostKernelRank || emit::Product(moves.sizes) < kLeastMoved) return false;
  const auto last = static_cast<int64_t>(rank) - 1, along = moves.permutation.back();
  return along != last && moves.sizes[last] >= kLeastAlong && moves.sizes[along] >= kLeastAlong;
}

// Null where it is not worth a kernel.
HloInstruction* TransposeCall(HloInstruction* value, const Sizes& permutation) {
  const xla::PrimitiveType own = value->shape().element_type(), type = KernelType(own);
  const Moves moves = MovesOf(emit::SizesOf(*value), permutation);
  if (!IsWorthIt(moves) || IsInOneKernel(*value->parent()) ||
      (type != xla::F32 && type != xla::F64 && type != xla::S32)) {
    return nullptr;
  }
  Sizes sizes;
  for (const int64_t d : permutation) sizes.push_back(value->shape().dimensions(d));
  std::string task = absl::StrCat(
      loops::kKernelTaskBegin, "input x ", TaskType(own), "[", absl::StrJoin(moves.sizes, ","),
      "];y = transpose x permutation=", absl::StrJoin(moves.permutation, ","), ";output y;");
  return KernelCall(value->parent(), xla::ShapeUtil::MakeShape(own, sizes), type,
                    {emit::Convert(value, type)}, std::move(task));
}

}  // namespace

HloInstruction* TransposedByKernel(HloInstruction* value, const Sizes& permutation) {
  HloInstruction* const call = TransposeCall(value, permutation);
  return call != nullptr ? call : emit::Transpose(value, permutation);
}

// A kernel in place of a transpose that others than dots take: these read transposed operands.
absl::StatusOr<HloInstruction*> TransposeKernels(HloInstruction* root) {
  if (!IsArray(root->shape()) || !emit::Free(*root)) return nullptr;
  if (root->user_count() > 0 && absl::c_all_of(root->users(), [](const HloInstruction* user) {
        return user->opcode() == HloOpcode::kDot || user->opcode() == HloOpcode::kTranspose;
      })) {
    return nullptr;
  }
  return TransposeCall(root->mutable_operand(0),
                       Sizes(root->dimensions().begin(), root->dimensions().end()));
}

}  // namespace hone::compiler
