// Arrays whose elements are moved along a dimension, those at its end to its beginning, as stencils
// with periodic edges read them.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/implementations/dimensions.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "compiler/implementations/kernel_parts.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kFewElements = 256;
constexpr size_t kLeastRolls = 2;
constexpr int64_t kLargestEdge = 4;  // of the dimension, one in so many

// Elements [from, to) of an array along one dimension.
struct Piece {
  HloInstruction* array = nullptr;
  int64_t from = 0, to = 0;
};

Piece PieceOf(HloInstruction* value, int64_t dimension) {
  if (value->opcode() != HloOpcode::kSlice) return {value, 0, value->shape().dimensions(dimension)};
  HloInstruction* const array = value->mutable_operand(0);
  for (int64_t d = 0; d < RankOf(*array); ++d) {
    const bool whole = value->shape().dimensions(d) == array->shape().dimensions(d);
    if (value->slice_strides(d) != 1 || (d != dimension && !whole)) return {};
  }
  return {array, value->slice_starts(dimension), value->slice_limits(dimension)};
}

// An array that goes on beyond its ends, for `low` and `high` elements: 0 and a dimension's size
// less than that long for a roll, which begins at element -low.
struct Periodic {
  HloInstruction* array = nullptr;
  int64_t dimension = 0, low = 0, high = 0;

  int64_t size() const { return array->shape().dimensions(dimension); }
};

// A roll as what begins after the first elements of the array, or before them, and is as long.
std::optional<Periodic> RollOf(HloInstruction* root) {
  if (root->opcode() != HloOpcode::kConcatenate || root->operand_count() != 2) return std::nullopt;
  const int64_t dimension = root->concatenate_dimension();
  const Piece first = PieceOf(root->mutable_operand(0), dimension),
              second = PieceOf(root->mutable_operand(1), dimension);
  if (first.array == nullptr || first.array != second.array) return std::nullopt;
  const int64_t size = first.array->shape().dimensions(dimension);
  if (first.to != size || second.from != 0 || second.to != first.from) return std::nullopt;
  const int64_t by = first.from <= size / 2 ? first.from : first.from - size;
  return Periodic{first.array, dimension, -by, by};
}

// An array with its own elements at the ends: its last ones before it, its first ones behind.
std::optional<Periodic> EdgesOf(HloInstruction* root) {
  if (root->opcode() != HloOpcode::kConcatenate || root->operand_count() < 2 ||
      root->operand_count() > 3) {
    return std::nullopt;
  }
  const int64_t dimension = root->concatenate_dimension();
  HloInstruction* const array =
      root->mutable_operand(root->operand(0)->opcode() == HloOpcode::kSlice ? 1 : 0);
  Periodic edges{array, dimension, 0, 0};
  bool before = true;
  for (HloInstruction* operand : root->operands()) {
    if (operand == array) {
      before = false;
      continue;
    }
    const Piece piece = PieceOf(operand, dimension);
    if (operand->opcode() != HloOpcode::kSlice || piece.array != array) return std::nullopt;
    if (before ? piece.to != edges.size() : piece.from != 0) return std::nullopt;
    (before ? edges.low : edges.high) = piece.to - piece.from;
  }
  return before ? std::nullopt : std::make_optional(edges);
}

HloInstruction* WithEdges(const Periodic& wanted) {
  const int64_t size = wanted.size();
  std::vector<HloInstruction*> parts;
  if (wanted.low > 0) {
    parts.push_back(emit::SliceAlong(wanted.array, wanted.dimension, size - wanted.low, size));
  }
  parts.push_back(wanted.array);
  if (wanted.high > 0) {
    parts.push_back(emit::SliceAlong(wanted.array, wanted.dimension, 0, wanted.high));
  }
  return emit::Concatenate(parts, wanted.dimension);
}

}  // namespace

// Several rolls of one array along one dimension, as slices of the array with edges, which a kernel
// of its own makes. XLA:CPU asks of each element of each roll in which of its two parts it is, and
// makes no loops over vectors of that.
absl::StatusOr<HloInstruction*> RollsFromEdges(HloInstruction* root) {
  if (!emit::Free(*root) || IsInOneKernel(*root->parent()) ||
      xla::ShapeUtil::ElementsIn(root->shape()) < kFewElements) {
    return nullptr;
  }
  if (EdgesOf(root)) return ConcatenateOnce(root);
  const std::optional<Periodic> roll = RollOf(root);
  if (!roll) return nullptr;
  Periodic all = *roll;
  std::set<int64_t> rolls = {roll->high};
  HloInstruction* with_edges = nullptr;
  for (HloInstruction* user : roll->array->users()) {
    if (const auto edges = EdgesOf(user); edges && edges->array == roll->array &&
                                          edges->dimension == roll->dimension &&
                                          edges->low >= roll->low && edges->high >= roll->high) {
      with_edges = user;
    }
    for (HloInstruction* other : user->users()) {
      const std::optional<Periodic> another = RollOf(other);
      if (!another || another->array != roll->array || another->dimension != roll->dimension) {
        continue;
      }
      rolls.insert(another->high);
      all.low = std::max(all.low, another->low);
      all.high = std::max(all.high, another->high);
    }
  }
  all.low = std::max<int64_t>(all.low, 0);
  all.high = std::max<int64_t>(all.high, 0);
  if (with_edges == nullptr) {
    if (rolls.size() < kLeastRolls || kLargestEdge * (all.low + all.high) > all.size()) {
      return nullptr;
    }
    with_edges = WithEdges(all);
  }
  const int64_t from = EdgesOf(with_edges)->low + roll->high;
  return emit::SliceAlong(with_edges, roll->dimension, from, from + roll->size());
}

}  // namespace hone::compiler
