// The largest few, without a heap for each row: XLA:CPU's takes some nanoseconds for an element.
// Both ways keep what top-k says of equal elements (the first ones), zeros and NaNs (IEEE 754's
// total order).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "compiler/implementations/kernel_parts.h"
#include "compiler/implementations/sorting.h"
#include "xla/comparison_util.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/literal_util.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::ComparisonDirection;
using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;
using xla::PrimitiveType;

constexpr int64_t kLeastOfAll = 256;
constexpr int64_t kMostRounds = 16, kMostOfRounds = 1024;  // maxima, of rows of so many
constexpr int64_t kLeastBlock = 8;
constexpr int64_t kLeastSaved = 3;  // one of so many elements is looked at again, at most

// Of the largest ones of rows.
struct TopK {
  HloInstruction* rows;  // [rows, size]
  int64_t k;
  int64_t count() const { return rows->shape().dimensions(0); }
  int64_t size() const { return rows->shape().dimensions(1); }
};

std::optional<TopK> TopKOf(HloInstruction* root) {
  if (!emit::Free(*root) || root->operand_count() != 1 || IsInOneKernel(*root->parent()))
    return std::nullopt;
  const auto* const top = xla::Cast<xla::HloTopKInstruction>(root);
  HloInstruction* const x = root->mutable_operand(0);
  const PrimitiveType type = x->shape().element_type();
  if (!top->largest() || !IsArray(x->shape()) || xla::primitive_util::IsComplexType(type) ||
      type == xla::PRED || xla::primitive_util::BitWidth(type) < 8 ||
      xla::ShapeUtil::ElementsIn(x->shape()) < kLeastOfAll) {
    return std::nullopt;
  }
  const auto last = static_cast<int64_t>(x->shape().dimensions().size()) - 1;
  return TopK{emit::Rows(x, last), top->k()};
}

HloInstruction* Filled(HloInstruction* like, int64_t value) {
  return emit::Broadcast(emit::Number(like->parent(), like->shape().element_type(), value),
                         emit::SizesOf(*like), {});
}

// All bits but the sign's of negative numbers turned over: of the bits of floats, integers in their
// order; and the other way round.
HloInstruction* Turned(HloInstruction* bits) {
  const int64_t width = xla::primitive_util::BitWidth(bits->shape().element_type());
  HloInstruction* const signs =
      emit::Binary(HloOpcode::kShiftRightArithmetic, bits, Filled(bits, width - 1));
  HloInstruction* const rest = emit::Binary(HloOpcode::kShiftRightLogical, signs, Filled(signs, 1));
  return emit::Binary(HloOpcode::kXor, bits, rest);
}

// Integers in the total order of elements.
HloInstruction* Keys(HloInstruction* x) {
  const PrimitiveType type = x->shape().element_type();
  if (!xla::primitive_util::IsFloatingPointType(type)) return x;
  const PrimitiveType wide = emit::SumType(type);
  return Turned(
      emit::BitcastConvert(emit::Convert(x, wide), wide == xla::F64 ? xla::S64 : xla::S32));
}

// Elements of the type that Keys made these of, or f32 for narrower floats.
HloInstruction* FromKeys(HloInstruction* keys, PrimitiveType type) {
  if (!xla::primitive_util::IsFloatingPointType(type)) return keys;
  return emit::BitcastConvert(Turned(keys), emit::SumType(type));
}

// Of an array's last dimension. In two steps where that can be: the first is of vectors, and each
// is of so few that XLA's tree-reduction-rewriter leaves it as it is, fused with what it reduces.
HloInstruction* ReduceLast(HloInstruction* x, HloOpcode opcode) {
  constexpr int64_t kFew = 32;
  std::vector<int64_t> sizes = emit::SizesOf(*x);
  const auto last = static_cast<int64_t>(sizes.size()) - 1;
  const int64_t size = sizes[last];
  HloInstruction* const start =
      emit::Scalar(x->parent(), emit::Identity(opcode, x->shape().element_type()));
  int64_t lanes = size > kFew ? kFew : 0;
  while (lanes > 1 && size % lanes != 0) --lanes;
  if (lanes > 1 && size / lanes <= kFew) {
    sizes[last] = size / lanes;
    sizes.push_back(lanes);
    x = emit::Reduce(emit::Reshape(x, sizes), start, {last}, opcode);
  }
  return emit::Reduce(x, start, {last}, opcode);
}

// A part of a top-k of rows.
HloInstruction* Part(HloInstruction* top, int64_t index) {
  return top->parent()->AddInstruction(HloInstruction::CreateGetTupleElement(top, index));
}

HloInstruction* TopOf(HloInstruction* rows, int64_t k) {
  return rows->parent()->AddInstruction(
      HloInstruction::CreateTopK(TopShape(*rows, k), rows, k, /*largest=*/true));
}

// Integers of each row, the least first.
HloInstruction* Ascending(HloInstruction* places) {
  return places->parent()->AddInstruction(HloInstruction::CreateSort(
      places->shape(), 1, {places},
      Comparing(places->GetModule(), xla::S32, ComparisonDirection::kLt), /*is_stable=*/false));
}

// In the top-k's place: the elements at these places of the rows.
HloInstruction* InPlaceOf(HloInstruction* root, const TopK& top, HloInstruction* places) {
  const auto last = static_cast<int64_t>(root->operand(0)->shape().dimensions().size()) - 1;
  const auto shaped = [&](HloInstruction* rows, int64_t index) {
    return emit::FromRows(rows, root->shape().tuple_shapes(index).dimensions(), last);
  };
  return root->parent()->AddInstruction(HloInstruction::CreateTuple(
      {shaped(emit::TakeAlong(top.rows, places, 1), 0), shaped(places, 1)}));
}

// The block that is least work: of so many elements, of which each is looked at once for the
// maxima, and those of k blocks again.
int64_t BlockOf(const TopK& top) {
  const double best = std::sqrt(static_cast<double>(top.size()) / static_cast<double>(top.k));
  return std::max(kLeastBlock, static_cast<int64_t>(best / kLeastBlock) * kLeastBlock);
}

}  // namespace

// As so many maxima: each of what those before it left.
absl::StatusOr<HloInstruction*> TopKRounds(HloInstruction* root) {
  const std::optional<TopK> top = TopKOf(root);
  if (!top || top->k > kMostRounds || top->size() > kMostOfRounds) return nullptr;
  HloComputation* const computation = root->parent();
  const std::vector<int64_t> all = {top->count(), top->size()};
  HloInstruction* const keys = Keys(top->rows);
  HloInstruction* const least = emit::Broadcast(
      emit::Scalar(computation, emit::Identity(HloOpcode::kMaximum, keys->shape().element_type())),
      all, {});
  HloInstruction* const positions = emit::Iota(computation, xla::S32, all, 1);
  HloInstruction* const nowhere = Filled(positions, std::numeric_limits<int32_t>::max());
  HloInstruction* left = nullptr;  // which elements are
  std::vector<HloInstruction*> places;
  for (int64_t round = 0; round < top->k; ++round) {
    HloInstruction* const most = emit::Broadcast(
        ReduceLast(left ? emit::Select(left, keys, least) : keys, HloOpcode::kMaximum), all, {0});
    HloInstruction* is_most = emit::Compare(ComparisonDirection::kEq, keys, most);
    if (left) is_most = emit::Binary(HloOpcode::kAnd, is_most, left);
    HloInstruction* const first =
        ReduceLast(emit::Select(is_most, positions, nowhere), HloOpcode::kMinimum);
    places.push_back(emit::Reshape(first, {top->count(), 1}));
    HloInstruction* const others =
        emit::Compare(ComparisonDirection::kNe, positions, emit::Broadcast(first, all, {0}));
    left = left ? emit::Binary(HloOpcode::kAnd, left, others) : others;
  }
  return InPlaceOf(root, *top, emit::Concatenate(places, 1));
}

// Of the k blocks with the largest elements (the first of equal ones): no other has one of the k
// largest.
absl::StatusOr<HloInstruction*> TopKBlocks(HloInstruction* root) {
  const std::optional<TopK> top = TopKOf(root);
  if (!top) return nullptr;
  const int64_t count = top->count(), size = top->size(), k = top->k;
  const int64_t block = BlockOf(*top), blocks = size / block, whole = blocks * block;
  // The elements behind the last whole block are looked at in any case.
  if (k > blocks || kLeastSaved * (blocks + k * block + size - whole) > size) return nullptr;
  HloComputation* const computation = root->parent();
  const PrimitiveType type = top->rows->shape().element_type();
  HloInstruction* const maxima = ReduceLast(
      Keys(emit::Reshape(emit::SliceAlong(top->rows, 1, 0, whole), {count, blocks, block})),
      HloOpcode::kMaximum);
  HloInstruction* const chosen = Ascending(Part(TopOf(FromKeys(maxima, type), k), 1));
  const std::vector<int64_t> all = {count, k, block};
  HloInstruction* const starts = emit::Broadcast(
      emit::Binary(HloOpcode::kMultiply, chosen, Filled(chosen, block)), all, {0, 1});
  HloInstruction* places = emit::Reshape(
      emit::Binary(HloOpcode::kAdd, starts, emit::Iota(computation, xla::S32, all, 2)),
      {count, k * block});
  HloInstruction* elements = emit::TakeAlong(top->rows, places, 1);
  if (whole < size) {
    HloInstruction* const rest = emit::Iota(computation, xla::S32, {count, size - whole}, 1);
    places =
        emit::Concatenate({places, emit::Binary(HloOpcode::kAdd, rest, Filled(rest, whole))}, 1);
    elements = emit::Concatenate({elements, emit::SliceAlong(top->rows, 1, whole, size)}, 1);
  }
  const PrimitiveType wide =
      xla::primitive_util::IsFloatingPointType(type) ? emit::SumType(type) : type;
  HloInstruction* const among = Part(TopOf(emit::Convert(elements, wide), k), 1);
  return InPlaceOf(root, *top, emit::TakeAlong(places, among, 1));
}

}  // namespace hone::compiler
