// Products in a counted loop that are of rows in part: [x, h] W = x W1 + h W2, of which the first
// may be had before the loop; and parts of a product that are only written: their columns, after
// it.
#include "compiler/implementations/loop_dot_parts.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "compiler/implementations/dimensions.h"
#include "compiler/implementations/dots.h"
#include "compiler/implementations/emit.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// The dot with other operands, in `type`.
HloInstruction* DotLike(const HloInstruction& dot, HloInstruction* x, HloInstruction* y,
                        xla::PrimitiveType type) {
  const DotSide sides[] = {DotSideOf(dot, 0), DotSideOf(dot, 1)};
  return emit::Dot(x, y, sides[0].batch, sides[1].batch, sides[0].contracted, sides[1].contracted,
                   type, dot.precision_config());
}

// Nothing comes of it but rows that the loop writes, which it does not read.
bool IsOnlyWritten(const CountedLoop& loop, const HloInstruction& value) {
  if (value.user_count() != 1 || value.IsRoot()) return false;
  const HloInstruction& user = *value.users()[0];
  if (user.opcode() != HloOpcode::kDynamicUpdateSlice) {
    return IsLiftable(user) && IsOnlyWritten(loop, user);
  }
  const int64_t part = loop.PartOf(*user.operand(0));
  return part != kNone && loop.next()->operand(part) == &user && loop.OnlyUserOf(part) == &user;
}

}  // namespace

HloInstruction* DotByParts(CountedLoop& loop, HloInstruction* dot) {
  if (!IsPlainDot(*dot)) return nullptr;
  for (int k : {0, 1}) {
    HloInstruction* const whole = dot->mutable_operand(k);
    HloInstruction* const weights = dot->mutable_operand(1 - k);
    const DotSide side = DotSideOf(*dot, k), other = DotSideOf(*dot, 1 - k);
    if (whole->opcode() != HloOpcode::kConcatenate || !loop.IsInvariant(*weights) ||
        side.contracted != Dimensions{whole->concatenate_dimension()}) {
      continue;
    }
    const auto of_rows = [&](const HloInstruction* part) { return loop.IsOfRows(*part); };
    if (absl::c_none_of(whole->operands(), of_rows) || absl::c_all_of(whole->operands(), of_rows)) {
      continue;
    }
    const xla::PrimitiveType type = dot->shape().element_type();
    HloInstruction* sum = nullptr;
    std::vector<HloInstruction*> run;
    int64_t from = 0, to = 0;
    for (int64_t p = 0; p < whole->operand_count(); ++p) {
      HloInstruction* const part = whole->mutable_operand(p);
      run.push_back(part);
      to += part->shape().dimensions(side.contracted[0]);
      if (p + 1 < whole->operand_count() && of_rows(part) == of_rows(whole->operand(p + 1))) {
        continue;
      }
      HloInstruction* operands[] = {
          run.size() == 1 ? part : emit::Concatenate(run, side.contracted[0]),
          emit::SliceAlong(weights, other.contracted[0], from, to)};
      if (k == 1) std::swap(operands[0], operands[1]);
      HloInstruction* const product = DotLike(*dot, operands[0], operands[1], emit::SumType(type));
      sum = emit::AddTo(sum, product);
      run.clear();
      from = to;
    }
    return emit::Convert(sum, type);
  }
  return nullptr;
}

HloInstruction* SliceOfDotByParts(CountedLoop& loop, HloInstruction* slice) {
  HloInstruction* const dot = slice->mutable_operand(0);
  if (dot->opcode() != HloOpcode::kDot || !IsPlainDot(*dot)) return nullptr;
  const bool all_slices = absl::c_all_of(
      dot->users(), [](const HloInstruction* user) { return user->opcode() == HloOpcode::kSlice; });
  if (!all_slices || absl::c_none_of(dot->users(), [&](const HloInstruction* user) {
        return IsOnlyWritten(loop, *user);
      })) {
    return nullptr;
  }
  for (int k : {0, 1}) {
    if (!loop.IsInvariant(*dot->operand(k))) continue;
    const DotSide side = DotSideOf(*dot, k), other = DotSideOf(*dot, 1 - k);
    // The columns are the result's last dimensions, or those before the rows.
    const int64_t first =
        static_cast<int64_t>(side.batch.size() + (k == 0 ? 0 : other.free.size()));
    const int64_t count = static_cast<int64_t>(side.free.size());
    HloInstruction* operands[] = {dot->mutable_operand(0), dot->mutable_operand(1)};
    Dimensions starts(RankOf(*operands[k]), 0), strides(RankOf(*operands[k]), 1);
    Dimensions limits = emit::SizesOf(*operands[k]);
    bool of_columns = true;
    for (int64_t d = 0; d < RankOf(*dot); ++d) {
      if (d >= first && d < first + count) {
        starts[side.free[d - first]] = slice->slice_starts(d);
        limits[side.free[d - first]] = slice->slice_limits(d);
        strides[side.free[d - first]] = slice->slice_strides(d);
      } else {
        of_columns = of_columns && slice->shape().dimensions(d) == dot->shape().dimensions(d);
      }
    }
    if (!of_columns) continue;
    operands[k] = emit::Slice(operands[k], starts, limits, strides);
    return DotLike(*dot, operands[0], operands[1], dot->shape().element_type());
  }
  return nullptr;
}

}  // namespace hone::compiler
