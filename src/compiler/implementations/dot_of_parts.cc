// Dots with what is put together: of pairs [x_i, x_j] as relational networks have them, of messages
// from what both ends of an edge and the edge itself know.
#include <array>
#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "compiler/implementations/dimensions.h"
#include "compiler/implementations/dot_places.h"
#include "compiler/implementations/dots.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

using Sides = std::array<DotSide, 2>;

// Of a dot whose operand `side` is this array, and the other one that.
HloInstruction* DotOf(const HloInstruction& root, const Sides& sides, int side,
                      HloInstruction* array, HloInstruction* other) {
  HloInstruction* const x = side == 0 ? array : other;
  HloInstruction* const y = side == 0 ? other : array;
  return emit::Dot(x, y, sides[0].batch, sides[1].batch, sides[0].contracted, sides[1].contracted,
                   emit::SumType(root.shape().element_type()), root.precision_config());
}

// The same of an array that is a broadcast: of what it is one of, and broadcast then, or summed
// before where that sums along. Null where it is none.
HloInstruction* BeforeBroadcast(const HloInstruction& root, const Sides& sides, int side,
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
  for (size_t b = 0; b < sides[0].batch.size(); ++b) places.push_back(place++);
  for (const int s : {0, 1}) {
    for (const int64_t d : sides[s].free) {
      if (s != side || from(d) != kNone) places.push_back(place);
      ++place;
    }
  }
  Sides inner = sides;
  Dimensions summed;  // of the other one, before
  inner[0].contracted.clear(), inner[1].contracted.clear();
  for (size_t k = 0; k < sides[side].contracted.size(); ++k) {
    const int64_t dimension = from(sides[side].contracted[k]);
    if (dimension == kNone) {
      summed.push_back(sides[1 - side].contracted[k]);
    } else {
      inner[side].contracted.push_back(dimension);
      inner[1 - side].contracted.push_back(sides[1 - side].contracted[k]);
    }
  }
  if (inner[0].contracted.empty() ||
      (summed.empty() && static_cast<int64_t>(places.size()) == place)) {
    return nullptr;
  }
  for (int64_t& dimension : inner[side].batch) {
    dimension = from(dimension);
    if (dimension == kNone) return nullptr;
  }
  if (!summed.empty()) {
    const xla::PrimitiveType type = emit::SumType(other->shape().element_type());
    other = emit::Reduce(emit::Convert(other, type), emit::Zero(other->parent(), type), summed,
                         HloOpcode::kAdd);
    for (Dimensions* of : {&inner[1 - side].batch, &inner[1 - side].contracted}) {
      for (int64_t& dimension : *of) {
        dimension -= absl::c_count_if(summed, [&](int64_t gone) { return gone < dimension; });
      }
    }
  }
  HloInstruction* const dot = DotOf(root, inner, side, array->mutable_operand(0), other);
  return static_cast<int64_t>(places.size()) == place ? dot : emit::Broadcast(dot, sizes, places);
}

// Of these sizes.
HloInstruction* DotWith(const HloInstruction& root, const Sides& sides, int side,
                        HloInstruction* part, HloInstruction* other, emit::Sizes sizes) {
  HloInstruction* const dot = BeforeBroadcast(root, sides, side, part, other, sizes);
  return dot != nullptr ? dot : DotOf(root, sides, side, part, other);
}

// Else several dots do what one did, and are slower: as of the state of a recurrent network.
bool HasPartOfLess(const HloInstruction& concatenation) {
  return absl::c_any_of(concatenation.operands(), [](const HloInstruction* part) {
    return (part->opcode() == HloOpcode::kBroadcast || part->opcode() == HloOpcode::kGather) &&
           xla::ShapeUtil::ElementsIn(part->operand(0)->shape()) <
               xla::ShapeUtil::ElementsIn(part->shape());
  });
}

// A dot with a concatenation of operand `side`; null where that is put together along the batch.
HloInstruction* WithParts(HloInstruction* root, const Sides& sides, int side) {
  HloInstruction* const whole = root->mutable_operand(side);
  HloInstruction* const other = root->mutable_operand(1 - side);
  const int64_t along = whole->concatenate_dimension();
  if (Has(sides[side].batch, along)) return nullptr;
  const auto summed = absl::c_find(sides[side].contracted, along);
  if (summed == sides[side].contracted.end()) {
    const int64_t place = ResultPlaceOf(*root, side, along);
    std::vector<int64_t> sizes = emit::SizesOf(*root);
    std::vector<HloInstruction*> parts;
    for (HloInstruction* part : whole->operands()) {
      sizes[place] = part->shape().dimensions(along);
      parts.push_back(DotWith(*root, sides, side, part, other, sizes));
    }
    return emit::Concatenate(parts, place);
  }
  const int64_t others = sides[1 - side].contracted[summed - sides[side].contracted.begin()];
  HloInstruction* sum = nullptr;
  int64_t from = 0;
  for (HloInstruction* part : whole->operands()) {
    const int64_t to = from + part->shape().dimensions(along);
    HloInstruction* const rest = emit::SliceAlong(other, others, from, to);
    sum = emit::AddTo(sum, DotWith(*root, sides, side, part, rest, emit::SizesOf(*root)));
    from = to;
  }
  return sum;
}

}  // namespace

// A dot with what is put together, of which a part is a broadcast or rows that are looked up more
// than once, as the sum of dots with the parts, or as what is put together of these.
absl::StatusOr<HloInstruction*> DotOfParts(HloInstruction* root) {
  if (!IsPlainDot(*root)) return nullptr;
  const Sides sides = {DotSideOf(*root, 0), DotSideOf(*root, 1)};
  for (const int side : {0, 1}) {
    if (root->operand(side)->opcode() != HloOpcode::kConcatenate ||
        !HasPartOfLess(*root->operand(side))) {
      continue;
    }
    HloInstruction* const dot = WithParts(root, sides, side);
    if (dot != nullptr) return emit::Convert(dot, root->shape().element_type());
  }
  return nullptr;
}

}  // namespace hone::compiler
