// Dots over values that are turned.
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/turned_values.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kMostWrittenOut = 16;  // terms of a sum in place of a dot

}  // namespace

absl::StatusOr<bool> TurnedValues::MakeDot(HloInstruction* x) {
  HloInstruction *const left = x->mutable_operand(0), *const right = x->mutable_operand(1);
  const DotSide sides[] = {DotSideOf(*x, 0), DotSideOf(*x, 1)};
  const int64_t moved[] = {DimensionOf(left), DimensionOf(right)};
  for (const int side : {0, 1}) {
    const auto batch = absl::c_find(sides[side].batch, moved[side]);
    if (batch != sides[side].batch.end()) {
      return MakeDotOfBatch(x, batch - sides[side].batch.begin());
    }
  }
  if (!sides[0].batch.empty()) return false;
  const xla::PrimitiveType type = x->shape().element_type();
  const auto contracted = [&](int side, int64_t d) {
    return PlacesTurned(sides[side].contracted, d, RankOf(*x->operand(side)));
  };
  for (const int side : {0, 1}) {
    const auto at = absl::c_find(sides[side].contracted, moved[side]);
    if (at == sides[side].contracted.end()) continue;
    // Over the batch: the same result.
    const auto number = at - sides[side].contracted.begin();
    const int64_t l = sides[0].contracted[number], r = sides[1].contracted[number];
    HloInstruction* const made = emit::Dot(As(left, l), As(right, r), {}, {}, contracted(0, l),
                                           contracted(1, r), type, x->precision_config());
    TF_RETURN_IF_ERROR(x->ReplaceAllUsesWith(made));
    return true;
  }
  // Of what only one side has.
  if (moved[1] != kNone) {
    const auto& free = sides[1].free;
    Know(
        x,
        emit::Dot(Back(left), As(right, moved[1]), {}, {}, sides[0].contracted,
                  contracted(1, moved[1]), type, x->precision_config()),
        static_cast<int64_t>(sides[0].free.size()) + (absl::c_find(free, moved[1]) - free.begin()));
    return true;
  }
  if (sides[0].free.size() > 1) return false;
  Know(x,
       emit::Dot(right, As(left, moved[0]), {}, {}, sides[1].contracted, contracted(0, moved[0]),
                 type, x->precision_config()),
       0);
  return true;
}

// With the batch among what both sides have, the `number`th of that: a sum of products.
bool TurnedValues::MakeDotOfBatch(HloInstruction* x, int64_t number) {
  const DotSide sides[] = {DotSideOf(*x, 0), DotSideOf(*x, 1)};
  if (sides[0].contracted.size() != 1) return false;
  const int64_t terms = x->operand(0)->shape().dimensions(sides[0].contracted[0]);
  if (terms > kMostWrittenOut) return false;
  const xla::PrimitiveType type = x->shape().element_type(), work = emit::SumType(type);
  const Dimensions sizes = ValuesTurned(x->shape().dimensions(), number);
  const int64_t rank = RankOf(*x);
  // Where the dimensions of a side are in the result, but the one that is summed over.
  const auto places = [&](int side) {
    Dimensions at(RankOf(*x->operand(side)), kNone);
    int64_t next = 0;
    for (const int64_t d : sides[side].batch) at[d] = PlaceTurned(next++, number, rank);
    if (side == 1) next += static_cast<int64_t>(sides[0].free.size());
    for (const int64_t d : sides[side].free) at[d] = PlaceTurned(next++, number, rank);
    at = ValuesTurned(at, sides[side].batch[number]);
    at.erase(absl::c_find(at, kNone));
    return at;
  };
  const Dimensions at[] = {places(0), places(1)};
  if (!absl::c_is_sorted(at[0]) || !absl::c_is_sorted(at[1])) return false;
  const auto factor = [&](int side, int64_t k) {
    HloInstruction* const all = As(x->mutable_operand(side), sides[side].batch[number]);
    const int64_t along =
        PlaceTurned(sides[side].contracted[0], sides[side].batch[number], RankOf(*all));
    Dimensions rest = emit::SizesOf(*all);
    rest.erase(rest.begin() + along);
    HloInstruction* const part =
        emit::Convert(emit::Reshape(emit::SliceAlong(all, along, k, k + 1), rest), work);
    return rest == sizes ? part : emit::Broadcast(part, sizes, at[side]);
  };
  HloInstruction* sum = nullptr;
  for (int64_t k = 0; k < terms; ++k) {
    sum = emit::AddTo(sum, emit::Binary(HloOpcode::kMultiply, factor(0, k), factor(1, k)));
  }
  Know(x, emit::Convert(sum, type), number);
  return true;
}

}  // namespace hone::compiler
