// JAX makes the permutation by a loop of gathers and scatters over the batch
// (jax/_src/lax/linalg.py, _lu_pivots_body_fn). A kernel of hone-loops has one row in each lane of
// a vector.
#include "compiler/implementations/exchanges.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/implementations/counted_loop.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/kernel_parts.h"
#include "compiler/implementations/sort_keys.h"
#include "core/native_kernel.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Behind reshapes, and broadcasts that only add sizes of 1.
const HloInstruction* Bare(const HloInstruction* x) {
  const auto widens = [](const HloInstruction& convert) {
    return convert.opcode() == HloOpcode::kConvert && convert.shape().AreAllLeavesIntegers() &&
           xla::primitive_util::BitWidth(convert.shape().element_type()) >= 32;
  };
  while (x->opcode() == HloOpcode::kReshape || widens(*x) ||
         (x->opcode() == HloOpcode::kBroadcast &&
          xla::ShapeUtil::ElementsIn(x->shape()) ==
              xla::ShapeUtil::ElementsIn(x->operand(0)->shape()))) {
    x = x->operand(0);
  }
  return x;
}

// A loop over k that exchanges element k of each row of one part of its state with the one that
// element k of another part, which stays, tells.
class ExchangingLoop {
 public:
  static std::optional<ExchangingLoop> Of(HloInstruction* root) {
    std::unique_ptr<CountedLoop> loop = CountedLoop::Of(root);
    if (loop == nullptr || root->operand(0)->opcode() != HloOpcode::kTuple) return std::nullopt;
    for (int64_t part = 0; part < loop->parts(); ++part) {
      if (loop->next()->operand(part)->opcode() != HloOpcode::kScatter) continue;
      ExchangingLoop found(std::move(loop), part);
      if (!found.Matches()) return std::nullopt;
      return found;
    }
    return std::nullopt;
  }

  const CountedLoop& loop() const { return *loop_; }
  int64_t rows_part() const { return rows_; }
  int64_t pivots_part() const { return pivots_; }
  // Whether a negative pivot counts from the end.
  bool from_the_end() const { return *from_the_end_; }
  // What the loop ends with in a part that counts; nothing of others.
  std::optional<int64_t> LastOf(int64_t part) const {
    const HloInstruction& next = *loop_->next()->operand(part);
    if (!next.shape().IsArray() || !next.shape().dimensions().empty()) return std::nullopt;
    const Positions* const values = loop_->ValuesOf(next);
    return values == nullptr ? std::nullopt : std::make_optional(values->back());
  }

 private:
  ExchangingLoop(std::unique_ptr<CountedLoop> loop, int64_t rows)
      : loop_(std::move(loop)), rows_(rows) {}

  bool Matches() {
    const HloInstruction& rows = *loop_->First(rows_);
    const std::vector<int64_t> sizes = emit::SizesOf(rows);
    const auto last = static_cast<int64_t>(sizes.size()) - 1;
    if (last < 1 || !rows.shape().AreAllLeavesIntegers() || sizes[last] != loop_->trips() ||
        !IsPositions(rows, last)) {
      return false;
    }
    // rows.at[k].set(rows[pivots[k]]), then .at[pivots[k]].set(rows[k]).
    const HloInstruction& second = *loop_->next()->operand(rows_);
    const HloInstruction& first = *second.operand(0);
    return first.opcode() == HloOpcode::kScatter && Sets(first) && Sets(second) &&
           loop_->PartOf(*first.operand(0)) == rows_ && IsCounter(*first.operand(1)) &&
           emit::InOrder(second.scatter_dimension_numbers().input_batching_dims(), 0, last) &&
           emit::InOrder(second.scatter_dimension_numbers().scatter_indices_batching_dims(), 0,
                         last) &&
           IsPivot(*second.operand(1)) && IsRowAt(*first.operand(2), /*pivot=*/true) &&
           IsRowAt(*second.operand(2), /*pivot=*/false);
  }

  // Along the last dimension, what is written taking the place of what was there.
  bool Sets(const HloInstruction& scatter) const {
    const xla::ScatterDimensionNumbers& numbers = scatter.scatter_dimension_numbers();
    return scatter.operand_count() == 3 && emit::Replaces(*scatter.to_apply()) &&
           numbers.scatter_dims_to_operand_dims_size() == 1 &&
           numbers.scatter_dims_to_operand_dims(0) == Last(scatter) &&
           AllOfBatch(*scatter.operand(2));
  }
  static int64_t Last(const HloInstruction& of) {
    return static_cast<int64_t>(of.operand(0)->shape().dimensions().size()) - 1;
  }
  int64_t Batch() const {
    return xla::ShapeUtil::ElementsIn(loop_->First(rows_)->shape()) / loop_->trips();
  }
  bool AllOfBatch(const HloInstruction& x) const {
    return xla::ShapeUtil::ElementsIn(x.shape()) == Batch();
  }
  // One element of each row of a part, along the last dimension.
  bool IsElementOf(const HloInstruction& gather, int64_t part) const {
    if (gather.opcode() != HloOpcode::kGather || loop_->PartOf(*gather.operand(0)) != part) {
      return false;
    }
    const xla::GatherDimensionNumbers& numbers = gather.gather_dimension_numbers();
    return numbers.start_index_map_size() == 1 && numbers.start_index_map(0) == Last(gather) &&
           gather.gather_slice_sizes().back() == 1 && AllOfBatch(gather);
  }

  // k, in each trip.
  bool IsCounter(const HloInstruction& index) const {
    const HloInstruction* const bare = Bare(&index);
    if (!bare->shape().IsArray() || !bare->shape().dimensions().empty()) return false;
    const Positions* const values = loop_->ValuesOf(*bare);
    if (values == nullptr) return false;
    for (int64_t k = 0; k < loop_->trips(); ++k) {
      if ((*values)[k] != k) return false;
    }
    return true;
  }
  // pivots[k], as it is or, where it is negative, counted from the end.
  bool IsPivot(const HloInstruction& index) {
    const HloInstruction* bare = Bare(&index);
    if (bare->opcode() == HloOpcode::kSelect) {
      const HloInstruction *const negative = bare->operand(0), *const other = bare->operand(1);
      const HloInstruction* const pivot = Bare(bare->operand(2));
      if (negative->opcode() != HloOpcode::kCompare || other->opcode() != HloOpcode::kAdd ||
          negative->comparison_direction() != xla::ComparisonDirection::kLt ||
          Bare(negative->operand(0)) != pivot || NumberOf(*negative->operand(1)) != 0 ||
          Bare(other->operand(0)) != pivot || NumberOf(*other->operand(1)) != loop_->trips()) {
        return false;
      }
      bare = pivot;
    }
    const bool from_the_end = bare != Bare(&index);
    if (from_the_end_.value_or(from_the_end) != from_the_end ||
        bare->opcode() != HloOpcode::kGather) {
      return false;
    }
    from_the_end_ = from_the_end;
    const int64_t part = loop_->PartOf(*bare->operand(0));
    if (part == kNone || part == rows_ || !loop_->IsKept(part) ||
        (pivots_ != kNone && pivots_ != part) || !IsElementOf(*bare, part) ||
        !IsCounter(*bare->operand(1)) ||
        emit::SizesOf(*loop_->First(part)) != emit::SizesOf(*loop_->First(rows_))) {
      return false;
    }
    pivots_ = part;
    return true;
  }
  bool IsRowAt(const HloInstruction& value, bool pivot) {
    const HloInstruction* const gather = Bare(&value);
    if (!IsElementOf(*gather, rows_)) return false;
    if (!pivot) return IsCounter(*gather->operand(1));
    const xla::GatherDimensionNumbers& numbers = gather->gather_dimension_numbers();
    return emit::InOrder(numbers.operand_batching_dims(), 0, Last(*gather)) &&
           emit::InOrder(numbers.start_indices_batching_dims(), 0, Last(*gather)) &&
           IsPivot(*gather->operand(1));
  }

  std::unique_ptr<CountedLoop> loop_;
  int64_t rows_;
  int64_t pivots_ = kNone;
  std::optional<bool> from_the_end_;
};

}  // namespace

HloInstruction* ExchangesCall(HloInstruction* root) {
  constexpr int64_t kFewestRows = 4, kLongest = 64;
  if (root->opcode() != HloOpcode::kWhile || !emit::Free(*root)) return nullptr;
  const std::optional<ExchangingLoop> found = ExchangingLoop::Of(root);
  if (!found || found->loop().trips() > kLongest) return nullptr;
  const CountedLoop& loop = found->loop();
  HloInstruction* const rows = loop.First(found->rows_part());
  HloInstruction* const first = loop.First(found->pivots_part());
  const int64_t n = loop.trips(), count = xla::ShapeUtil::ElementsIn(rows->shape()) / n;
  if (count < kFewestRows || first->shape().element_type() != xla::S32) return nullptr;
  for (int64_t part = 0; part < loop.parts(); ++part) {
    if (part != found->rows_part() && part != found->pivots_part() && !found->LastOf(part)) {
      return nullptr;
    }
  }
  HloInstruction* pivots = emit::Reshape(first, {count, n, 1});
  if (found->from_the_end()) {
    const auto number = [&](int64_t value) { return emit::NumberLike(pivots, xla::S32, value); };
    pivots = emit::Select(emit::Compare(xla::ComparisonDirection::kLt, pivots, number(0)),
                          emit::Binary(HloOpcode::kAdd, pivots, number(n)), pivots);
  }
  const std::string task = absl::StrCat(loops::kKernelTaskBegin, "input i0 s32[", count, ",", n,
                                        ",1];v0 = exchanges i0;output v0;");
  HloInstruction* const made = emit::Convert(
      KernelCall(root->parent(), pivots->shape(), {pivots}, task), rows->shape().element_type());

  std::vector<HloInstruction*> parts;
  for (int64_t part = 0; part < loop.parts(); ++part) {
    if (part == found->rows_part()) {
      parts.push_back(emit::Reshape(made, emit::SizesOf(*rows)));
    } else if (part == found->pivots_part()) {
      parts.push_back(first);
    } else {
      const xla::Shape& shape = root->shape().tuple_shapes(static_cast<int>(part));
      parts.push_back(emit::Number(root->parent(), shape.element_type(), *found->LastOf(part)));
    }
  }
  return root->parent()->AddInstruction(HloInstruction::CreateTuple(parts));
}

}  // namespace hone::compiler
