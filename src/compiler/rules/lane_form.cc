#include "compiler/rules/lane_form.h"

#include <numeric>

#include "absl/algorithm/container.h"
#include "compiler/xla_names.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

HloInstruction* Add(std::unique_ptr<HloInstruction> instruction, HloInstruction* beside) {
  return beside->parent()->AddInstruction(std::move(instruction));
}

std::vector<int64_t> Dimensions(const Shape& shape) {
  return {shape.dimensions().begin(), shape.dimensions().end()};
}

// Where lane i starts in the joined tensor, in units of its form.
int64_t Extent(const Shape& shape, int form) {
  if (form == kStacked) return 1;
  if (form == kFlattened) return ShapeUtil::ElementsIn(shape);
  return shape.dimensions(form);
}

HloInstruction* Reshape(HloInstruction* operand, absl::Span<const int64_t> dimensions) {
  if (operand->shape().dimensions() == dimensions) return operand;
  const Shape shape = ShapeUtil::MakeShape(operand->shape().element_type(), dimensions);
  return Add(HloInstruction::CreateReshape(shape, operand), operand);
}

HloInstruction* Concatenate(absl::Span<HloInstruction* const> parts, int64_t dimension) {
  std::vector<int64_t> dimensions = Dimensions(parts[0]->shape());
  dimensions[dimension] = 0;
  for (const HloInstruction* part : parts) {
    dimensions[dimension] += part->shape().dimensions(dimension);
  }
  const Shape shape = ShapeUtil::MakeShape(parts[0]->shape().element_type(), dimensions);
  return Add(HloInstruction::CreateConcatenate(shape, parts, dimension), parts[0]);
}

// A slice of all of its operand but in `dimension`, with stride one.
bool SlicesOnly(const HloInstruction* slice, int64_t dimension) {
  if (slice->opcode() != HloOpcode::kSlice) return false;
  const Shape& whole = slice->operand(0)->shape();
  if (static_cast<int64_t>(whole.dimensions().size()) <= dimension) return false;
  for (int64_t i = 0; i < static_cast<int64_t>(whole.dimensions().size()); ++i) {
    if (slice->slice_strides(i) != 1) return false;
    if (i == dimension) continue;
    if (slice->slice_starts(i) != 0 || slice->slice_limits(i) != whole.dimensions(i)) return false;
  }
  return true;
}

// The tensor that these are consecutive slices of, from its start to its end; null if there is
// none.
HloInstruction* WholeOf(const Lanes& slices, int64_t dimension) {
  HloInstruction* whole = nullptr;
  int64_t end = 0;
  for (const HloInstruction* slice : slices) {
    if (!SlicesOnly(slice, dimension)) return nullptr;
    if (whole == nullptr) whole = const_cast<HloInstruction*>(slice->operand(0));
    if (slice->operand(0) != whole || slice->slice_starts(dimension) != end) return nullptr;
    end = slice->slice_limits(dimension);
  }
  return end == whole->shape().dimensions(dimension) ? whole : nullptr;
}

// The same where each slice was reshaped afterwards.
HloInstruction* WholeOfReshaped(const Lanes& lanes) {
  Lanes slices;
  for (const HloInstruction* lane : lanes) {
    if (lane->opcode() != HloOpcode::kReshape) return nullptr;
    slices.push_back(const_cast<HloInstruction*>(lane->operand(0)));
    if (slices.back()->shape().dimensions().size() != 1) return nullptr;
  }
  return WholeOf(slices, 0);
}

// The value already joined in that form; null where it has to be made.
HloInstruction* AlreadyJoined(const Lanes& lanes, int form) {
  if (form >= 0) return WholeOf(lanes, form);
  HloInstruction* whole = nullptr;
  if (form == kFlattened) {
    whole = lanes[0]->shape().dimensions().size() == 1 ? WholeOf(lanes, 0) : nullptr;
    return whole != nullptr ? whole : WholeOfReshaped(lanes);
  }
  if (lanes[0]->shape().dimensions().empty()) return WholeOfReshaped(lanes);
  whole = WholeOf(lanes, 0);
  if (whole == nullptr || whole->opcode() != HloOpcode::kReshape) return nullptr;
  HloInstruction* stacked = whole->mutable_operand(0);
  return stacked->shape().dimensions() == JoinedShape(lanes, form).dimensions() ? stacked : nullptr;
}

}  // namespace

Shape JoinedShape(const Lanes& lanes, int form) {
  const Shape& first = lanes[0]->shape();
  std::vector<int64_t> dimensions = Dimensions(first);
  int64_t extent = 0;
  for (const HloInstruction* lane : lanes) extent += Extent(lane->shape(), form);
  if (form == kStacked) {
    dimensions.insert(dimensions.begin(), extent);
  } else if (form == kFlattened) {
    dimensions = {extent};
  } else {
    dimensions[form] = extent;
  }
  return ShapeUtil::MakeShape(first.element_type(), dimensions);
}

bool Joinable(const Lanes& lanes, int form) {
  const Shape& first = lanes[0]->shape();
  if (form >= static_cast<int>(first.dimensions().size())) return false;
  for (const HloInstruction* lane : lanes) {
    const Shape& shape = lane->shape();
    if (!shape.IsArray() || !shape.is_static() || shape.element_type() != first.element_type()) {
      return false;
    }
    if (form == kFlattened) {
      if (shape.dimensions().empty() || ShapeUtil::IsZeroElementArray(shape)) return false;
      continue;
    }
    if (shape.dimensions().size() != first.dimensions().size()) return false;
    for (int i = 0; i < static_cast<int>(shape.dimensions().size()); ++i) {
      if (i != form && shape.dimensions(i) != first.dimensions(i)) return false;
    }
  }
  return true;
}

bool SameValue(const HloInstruction* a, const HloInstruction* b) {
  if (a == b) return true;
  return a->opcode() == HloOpcode::kConstant && b->opcode() == HloOpcode::kConstant &&
         a->shape().IsArray() && a->shape().dimensions().empty() &&
         ShapeUtil::Compatible(a->shape(), b->shape()) && a->literal() == b->literal();
}

bool IsCommonBroadcast(const Lanes& lanes, int form) {
  const HloInstruction* first = lanes[0];
  if (first->opcode() != HloOpcode::kBroadcast || !Joinable(lanes, form)) return false;
  const bool scalar = first->operand(0)->shape().dimensions().empty();
  if (form == kFlattened && !scalar) return false;
  if (form >= 0 && absl::c_linear_search(first->dimensions(), form)) return false;
  return absl::c_all_of(lanes, [&](const HloInstruction* lane) {
    return lane->opcode() == HloOpcode::kBroadcast &&
           SameValue(lane->operand(0), first->operand(0)) &&
           lane->dimensions() == first->dimensions();
  });
}

HloInstruction* CommonBroadcast(const Lanes& lanes, int form) {
  std::vector<int64_t> dimensions(lanes[0]->dimensions().begin(), lanes[0]->dimensions().end());
  if (form == kStacked) {
    for (int64_t& dimension : dimensions) ++dimension;
  }
  return Add(HloInstruction::CreateBroadcast(JoinedShape(lanes, form), lanes[0]->mutable_operand(0),
                                             dimensions),
             lanes[0]);
}

int64_t JoinCost(const Lanes& lanes, int form) {
  if (AlreadyJoined(lanes, form) != nullptr) return 0;
  const auto count = static_cast<int64_t>(lanes.size());
  const auto rank_of = [](const HloInstruction* lane) { return lane->shape().dimensions().size(); };
  if (form >= 0) return 1;
  if (form == kStacked) {
    if (rank_of(lanes[0]) == 0) return count + 1;
    return 2;
  }
  return 1 +
         absl::c_count_if(lanes, [&](const HloInstruction* lane) { return rank_of(lane) != 1; });
}

HloInstruction* Join(const Lanes& lanes, int form) {
  if (HloInstruction* joined = AlreadyJoined(lanes, form)) return joined;
  if (form >= 0) return Concatenate(lanes, form);
  const Shape shape = JoinedShape(lanes, form);
  Lanes parts = lanes;
  if (form == kFlattened || lanes[0]->shape().dimensions().empty()) {
    for (HloInstruction*& part : parts)
      part = Reshape(part, {ShapeUtil::ElementsIn(part->shape())});
  }
  return Reshape(Concatenate(parts, 0), shape.dimensions());
}

int64_t SplitCostOnce(const Lanes& lanes, int form) {
  return form == kStacked && !lanes[0]->shape().dimensions().empty() ? 1 : 0;
}

int64_t SplitCostEach(const HloInstruction* lane, int form) {
  const size_t rank = lane->shape().dimensions().size();
  if (form == kStacked) return rank == 0 ? 2 : 1;
  if (form == kFlattened) return rank == 1 ? 1 : 2;
  return 1;
}

Splitter::Splitter(HloInstruction* joined, const Lanes& lanes, int form)
    : joined_(joined), form_(form) {
  int64_t start = 0;
  for (const HloInstruction* lane : lanes) {
    shapes_.push_back(lane->shape());
    starts_.push_back(start);
    start += Extent(lane->shape(), form);
  }
  starts_.push_back(start);
}

HloInstruction* Splitter::Lane(size_t i) {
  const Shape& shape = shapes_[i];
  int64_t scale = 1;
  int64_t dimension = form_ >= 0 ? form_ : 0;
  if (form_ == kStacked && !shape.dimensions().empty()) {
    scale = shape.dimensions(0);
    std::vector<int64_t> merged = Dimensions(shape);
    merged[0] *= static_cast<int64_t>(shapes_.size());
    joined_ = Reshape(joined_, merged);
  }
  const auto rank = joined_->shape().dimensions().size();
  std::vector<int64_t> starts(rank, 0);
  std::vector<int64_t> limits = Dimensions(joined_->shape());
  starts[dimension] = starts_[i] * scale;
  limits[dimension] = starts_[i + 1] * scale;
  std::vector<int64_t> dimensions = limits;
  dimensions[dimension] -= starts[dimension];
  HloInstruction* slice =
      Add(HloInstruction::CreateSlice(ShapeUtil::MakeShape(shape.element_type(), dimensions),
                                      joined_, starts, limits, std::vector<int64_t>(rank, 1)),
          joined_);
  return Reshape(slice, shape.dimensions());
}

}  // namespace hone::compiler
