// Dots with what is put together: of pairs [x_i, x_j] as relational networks have them, of messages
// from what both ends of an edge and the edge itself know.
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "compiler/implementations/dimensions.h"
#include "compiler/implementations/dots.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// A dot as its operands' dimensions; what is left of each operand comes after the batch, in order.
struct Dimensioned {
  Dimensions batch[2], summed[2];

  explicit Dimensioned(const HloInstruction& dot) {
    const xla::DotDimensionNumbers& numbers = dot.dot_dimension_numbers();
    batch[0].assign(numbers.lhs_batch_dimensions().begin(), numbers.lhs_batch_dimensions().end());
    batch[1].assign(numbers.rhs_batch_dimensions().begin(), numbers.rhs_batch_dimensions().end());
    summed[0].assign(numbers.lhs_contracting_dimensions().begin(),
                     numbers.lhs_contracting_dimensions().end());
    summed[1].assign(numbers.rhs_contracting_dimensions().begin(),
                     numbers.rhs_contracting_dimensions().end());
  }
  bool IsFree(int side, int64_t dimension) const {
    return !absl::c_linear_search(batch[side], dimension) &&
           !absl::c_linear_search(summed[side], dimension);
  }
};

// Of a dot whose operand `side` is this array, and the other one that.
HloInstruction* DotOf(const HloInstruction& root, const Dimensioned& dimensions, int side,
                      HloInstruction* array, HloInstruction* other) {
  HloInstruction* const x = side == 0 ? array : other;
  HloInstruction* const y = side == 0 ? other : array;
  return emit::Dot(x, y, dimensions.batch[0], dimensions.batch[1], dimensions.summed[0],
                   dimensions.summed[1], emit::SumType(root.shape().element_type()),
                   root.precision_config());
}

// The same of an array that is a broadcast: of what it is one of, and broadcast then, or summed
// before where that sums along. Null where it is none.
HloInstruction* BeforeBroadcast(const HloInstruction& root, const Dimensioned& dimensions, int side,
                                HloInstruction* array, HloInstruction* other, emit::Sizes sizes) {
  // One that turns dimensions round as well would have others in another order.
  if (array->opcode() != HloOpcode::kBroadcast || !absl::c_is_sorted(array->dimensions())) {
    return nullptr;
  }
  const auto from = [&](int64_t dimension) -> int64_t {  // of what is broadcast
    const auto places = array->dimensions();
    const auto found = absl::c_find(places, dimension);
    return found == places.end() ? kNone : found - places.begin();
  };
  // Where the dimensions of the smaller result are in the larger one.
  Dimensions places;
  int64_t place = 0;
  for (size_t b = 0; b < dimensions.batch[0].size(); ++b) places.push_back(place++);
  for (const int s : {0, 1}) {
    const auto rank =
        static_cast<int64_t>((s == side ? array : other)->shape().dimensions().size());
    for (int64_t d = 0; d < rank; ++d) {
      if (!dimensions.IsFree(s, d)) continue;
      if (s != side || from(d) != kNone) places.push_back(place);
      ++place;
    }
  }
  Dimensioned inner = dimensions;
  Dimensions summed;  // of the other one, before
  inner.summed[0].clear(), inner.summed[1].clear();
  for (size_t k = 0; k < dimensions.summed[side].size(); ++k) {
    const int64_t dimension = from(dimensions.summed[side][k]);
    if (dimension == kNone) {
      summed.push_back(dimensions.summed[1 - side][k]);
    } else {
      inner.summed[side].push_back(dimension);
      inner.summed[1 - side].push_back(dimensions.summed[1 - side][k]);
    }
  }
  if (inner.summed[0].empty() || (summed.empty() && static_cast<int64_t>(places.size()) == place)) {
    return nullptr;
  }
  for (int64_t& dimension : inner.batch[side]) {
    dimension = from(dimension);
    if (dimension == kNone) return nullptr;
  }
  if (!summed.empty()) {
    const xla::PrimitiveType type = emit::SumType(other->shape().element_type());
    other = emit::Reduce(emit::Convert(other, type), emit::Zero(other->parent(), type), summed,
                         HloOpcode::kAdd);
    for (Dimensions* of : {&inner.batch[1 - side], &inner.summed[1 - side]}) {
      for (int64_t& dimension : *of) {
        dimension -= absl::c_count_if(summed, [&](int64_t gone) { return gone < dimension; });
      }
    }
  }
  HloInstruction* const dot = DotOf(root, inner, side, array->mutable_operand(0), other);
  return static_cast<int64_t>(places.size()) == place ? dot : emit::Broadcast(dot, sizes, places);
}

// Of these sizes.
HloInstruction* DotWith(const HloInstruction& root, const Dimensioned& dimensions, int side,
                        HloInstruction* part, HloInstruction* other, emit::Sizes sizes) {
  HloInstruction* const dot = BeforeBroadcast(root, dimensions, side, part, other, sizes);
  return dot != nullptr ? dot : DotOf(root, dimensions, side, part, other);
}

// The place of an operand's dimension in the result; kNone of one that is summed.
int64_t PlaceOf(const HloInstruction& root, const Dimensioned& dimensions, int side,
                int64_t dimension) {
  const auto batch = absl::c_find(dimensions.batch[side], dimension);
  if (batch != dimensions.batch[side].end()) return batch - dimensions.batch[side].begin();
  if (!dimensions.IsFree(side, dimension)) return kNone;
  auto place = static_cast<int64_t>(dimensions.batch[0].size());
  for (const int s : {0, 1}) {
    const auto rank = static_cast<int64_t>(root.operand(s)->shape().dimensions().size());
    for (int64_t d = 0; d < rank; ++d) {
      if (s == side && d == dimension) return place;
      place += dimensions.IsFree(s, d) ? 1 : 0;
    }
  }
  return kNone;
}

// A dot with a concatenation of operand `side`; null where that is put together along the batch.
HloInstruction* WithParts(HloInstruction* root, const Dimensioned& dimensions, int side) {
  HloInstruction* const whole = root->mutable_operand(side);
  HloInstruction* const other = root->mutable_operand(1 - side);
  const int64_t along = whole->concatenate_dimension();
  if (absl::c_linear_search(dimensions.batch[side], along)) return nullptr;
  const auto summed = absl::c_find(dimensions.summed[side], along);
  if (summed == dimensions.summed[side].end()) {
    const int64_t place = PlaceOf(*root, dimensions, side, along);
    std::vector<int64_t> sizes = emit::SizesOf(*root);
    std::vector<HloInstruction*> parts;
    for (HloInstruction* part : whole->operands()) {
      sizes[place] = part->shape().dimensions(along);
      parts.push_back(DotWith(*root, dimensions, side, part, other, sizes));
    }
    return emit::Concatenate(parts, place);
  }
  const int64_t others = dimensions.summed[1 - side][summed - dimensions.summed[side].begin()];
  HloInstruction* sum = nullptr;
  int64_t from = 0;
  for (HloInstruction* part : whole->operands()) {
    const int64_t to = from + part->shape().dimensions(along);
    HloInstruction* const rest = emit::SliceAlong(other, others, from, to);
    sum = emit::AddTo(sum, DotWith(*root, dimensions, side, part, rest, emit::SizesOf(*root)));
    from = to;
  }
  return sum;
}

}  // namespace

// A dot with what is put together as the sum of dots with the parts, or as what is put together of
// these.
absl::StatusOr<HloInstruction*> DotOfParts(HloInstruction* root) {
  if (!IsPlainDot(*root)) return nullptr;
  const Dimensioned dimensions(*root);
  for (const int side : {0, 1}) {
    if (root->operand(side)->opcode() != HloOpcode::kConcatenate) continue;
    HloInstruction* const dot = WithParts(root, dimensions, side);
    if (dot != nullptr) return emit::Convert(dot, root->shape().element_type());
  }
  return nullptr;
}

}  // namespace hone::compiler
