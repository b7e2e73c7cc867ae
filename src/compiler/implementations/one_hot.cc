// Products with what is 1 at one place, else 0.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "compiler/implementations/dimensions.h"
#include "compiler/implementations/dots.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "compiler/implementations/kernel_parts.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// 1 where an index says the place along a dimension, else 0.
struct OneHot {
  int64_t along = kNone;
  Source index;
};

// A product of such ones, and of what scales them.
struct Choice {
  std::vector<OneHot> hots;
  std::vector<Source> scales;

  Dimensions Along() const {
    Dimensions along;
    for (const OneHot& one : hots) along.push_back(one.along);
    return along;
  }
};

// Whole numbers that s64 has.
bool IsIndex(xla::PrimitiveType type) {
  return xla::primitive_util::IsIntegralType(type) && type != xla::U64 &&
         xla::primitive_util::BitWidth(type) >= 8;
}

std::optional<OneHot> OneHotOf(const Source& compare) {
  if (compare.array->comparison_direction() != xla::ComparisonDirection::kEq) return std::nullopt;
  for (const int number : {0, 1}) {
    const Source counter = SourceOf({compare.array->mutable_operand(number), compare.places});
    const Source index = SourceOf({compare.array->mutable_operand(1 - number), compare.places});
    if (counter.array->opcode() != HloOpcode::kIota ||
        !IsIndex(index.array->shape().element_type())) {
      continue;
    }
    const int64_t dimension = xla::Cast<xla::HloIotaInstruction>(counter.array)->iota_dimension();
    const int64_t along = counter.places[dimension];
    if (along == kNone || Has(index.places, along) ||
        counter.array->shape().dimensions(dimension) - 1 >
            emit::LargestOf(counter.array->shape().element_type())) {
      continue;
    }
    return OneHot{along, index};
  }
  return std::nullopt;
}

// Adds what `source` is a product of; false where it is none.
bool AddChoice(Source source, int levels, Choice& choice) {
  if (levels == 0) return false;
  while (StepBack(source)) continue;
  HloInstruction* const value = source.array;
  const auto operand = [&](int number) {
    return Source{value->mutable_operand(number), source.places};
  };
  // One of the two may be what scales.
  const auto both = [&](int a, int b) {
    for (const auto& [first, second] : {std::pair(a, b), std::pair(b, a)}) {
      Choice some;
      if (!AddChoice(operand(first), levels - 1, some)) continue;
      if (!AddChoice(operand(second), levels - 1, some)) {
        if (value->shape().element_type() == xla::PRED) return false;
        some.scales.push_back(SourceOf(operand(second)));
      }
      absl::c_copy(some.hots, std::back_inserter(choice.hots));
      absl::c_copy(some.scales, std::back_inserter(choice.scales));
      return true;
    }
    return false;
  };
  switch (value->opcode()) {
    case HloOpcode::kCompare:
      if (const std::optional<OneHot> one = OneHotOf(source)) {
        choice.hots.push_back(*one);
        return true;
      }
      return false;
    case HloOpcode::kConvert: {
      Choice some;
      if (!AddChoice(operand(0), levels - 1, some) || !some.scales.empty()) return false;
      absl::c_copy(some.hots, std::back_inserter(choice.hots));
      return true;
    }
    case HloOpcode::kAnd:
      return value->shape().element_type() == xla::PRED && both(0, 1);
    case HloOpcode::kMultiply:
      return both(0, 1);
    case HloOpcode::kSelect: {
      Choice some;
      if (NumberOf(*value->operand(2)) != 0.0 || !AddChoice(operand(0), levels - 1, some)) {
        return false;
      }
      absl::c_copy(some.hots, std::back_inserter(choice.hots));
      if (NumberOf(*value->operand(1)) != 1.0) choice.scales.push_back(SourceOf(operand(1)));
      return true;
    }
    default:
      return false;
  }
}

bool Varies(const Source& source, const Dimensions& along) {
  return absl::c_any_of(source.places, [&](int64_t d) { return d != kNone && Has(along, d); });
}

// What varies along what others choose from, at the place that they choose, as the slot of an
// expert that a token has. Nothing where their index varies itself.
std::optional<Source> AtChosen(Source source, const Choice& choice) {
  for (const OneHot& one : choice.hots) {
    const auto place = absl::c_find(source.places, one.along);
    if (place == source.places.end()) continue;
    const int64_t at = place - source.places.begin();
    Dimensions others = source.places;
    std::vector<int64_t> sizes = emit::SizesOf(*source.array);
    others.erase(others.begin() + at);
    sizes.erase(sizes.begin() + at);
    if (Varies(one.index, choice.Along()) || Has(others, kNone) ||
        absl::c_any_of(one.index.places,
                       [&](int64_t d) { return d != kNone && !Has(others, d); })) {
      return std::nullopt;
    }
    // One that is no place finds anything, which is put nowhere then, or counts as 0.
    HloInstruction* const index =
        Spread({emit::Convert(one.index.array, xla::S32), one.index.places}, others, sizes);
    std::vector<int64_t> with_one = sizes;
    with_one.insert(with_one.begin() + at, 1);
    HloInstruction* const found = emit::TakeAlong(source.array, emit::Reshape(index, with_one), at);
    source = {emit::Reshape(found, sizes), others};
  }
  return source;
}

// Nothing where it is no such product, or one whose factors vary along what they choose from, each
// other's aside.
std::optional<Choice> ChoiceOf(HloInstruction* array) {
  constexpr int kLevels = 12;
  Choice found;
  if (!AddChoice({array, Range(0, RankOf(*array))}, kLevels, found)) return std::nullopt;
  Dimensions along = found.Along();
  absl::c_sort(along);
  if (std::unique(along.begin(), along.end()) != along.end()) return std::nullopt;
  Choice choice = found;
  for (OneHot& one : choice.hots) {
    const std::optional<Source> index = AtChosen(one.index, found);
    if (!index) return std::nullopt;
    one.index = *index;
  }
  for (Source& scale : choice.scales) {
    const std::optional<Source> chosen = AtChosen(scale, found);
    if (!chosen) return std::nullopt;
    scale = *chosen;
  }
  return choice;
}

// A dot of which one side chooses from the other, or puts it at its places.
class ChoosingDot {
 public:
  ChoosingDot(HloInstruction* dot, int number, Choice choice)
      : dot_(dot),
        first_(number == 0),
        choosing_(dot->mutable_operand(number)),
        other_(dot->mutable_operand(1 - number)),
        side_(DotSideOf(*dot, number)),
        of_other_(DotSideOf(*dot, 1 - number)),
        choice_(std::move(choice)) {
    for (const OneHot& one : choice_.hots) {
      const xla::PrimitiveType type = one.index.array->shape().element_type();
      if (xla::primitive_util::BitWidth(type) > 32 || type == xla::U32) index_type_ = xla::S64;
    }
  }

  // Null where it is neither.
  HloInstruction* Replacement() {
    Dimensions along = choice_.Along(), contracted = side_.contracted, free = side_.free;
    for (Dimensions* some : {&along, &contracted, &free}) absl::c_sort(*some);
    if (along == contracted) return LookedUp();
    if (along == free) return Scattered();
    return nullptr;
  }

 private:
  HloInstruction* Index(const OneHot& one, const Dimensions& dimensions) const {
    return Spread({emit::Convert(one.index.array, index_type_), one.index.places}, dimensions,
                  SizesAt(*choosing_, dimensions));
  }

  // [these dimensions…, one for each batch and then for each of `along`].
  HloInstruction* Indices(const Dimensions& dimensions, const Dimensions& along) const {
    std::vector<HloInstruction*> parts;
    Dimensions with_one = SizesAt(*choosing_, dimensions);
    with_one.push_back(1);
    for (size_t k = 0; k < side_.batch.size(); ++k) {
      parts.push_back(emit::Iota(dot_->parent(), index_type_, with_one, static_cast<int64_t>(k)));
    }
    for (const int64_t d : along) {
      const auto one =
          absl::c_find_if(choice_.hots, [&](const auto& hot) { return hot.along == d; });
      parts.push_back(emit::Reshape(Index(*one, dimensions), with_one));
    }
    return emit::Concatenate(parts, static_cast<int64_t>(dimensions.size()));
  }

  // Times what scales, which has these dimensions in it; `where` they are in the array.
  HloInstruction* Scaled(HloInstruction* array, const Dimensions& dimensions,
                         const Dimensions& where) const {
    if (choice_.scales.empty()) return array;
    const xla::PrimitiveType type = emit::SumType(dot_->shape().element_type());
    array = emit::Convert(array, type);
    for (const Source& scale : choice_.scales) {
      HloInstruction* const spread = Spread({emit::Convert(scale.array, type), scale.places},
                                            dimensions, SizesAt(*choosing_, dimensions));
      array = emit::Binary(HloOpcode::kMultiply, array,
                           emit::Broadcast(spread, emit::SizesOf(*array), where));
    }
    return array;
  }

  HloInstruction* LookedUp() const {
    // The dimensions of the indices, and where they are in the result.
    Dimensions dimensions = side_.batch, where = Range(0, RankOf(*dot_));
    absl::c_copy(side_.free, std::back_inserter(dimensions));
    const auto batches = static_cast<int64_t>(side_.batch.size());
    const auto free = static_cast<int64_t>(side_.free.size());
    const auto kept = static_cast<int64_t>(of_other_.free.size());
    const Dimensions offsets = Range(first_ ? batches + free : batches, kept);
    where.erase(where.begin() + (first_ ? batches + free : batches),
                where.begin() + (first_ ? batches + free : batches) + kept);
    Dimensions chosen = of_other_.batch, slice = emit::SizesOf(*other_);
    absl::c_copy(of_other_.contracted, std::back_inserter(chosen));
    for (const int64_t d : chosen) slice[d] = 1;
    Dimensions collapsed = chosen;
    absl::c_sort(collapsed);
    const xla::GatherDimensionNumbers numbers = xla::HloGatherInstruction::MakeGatherDimNumbers(
        offsets, collapsed, chosen, static_cast<int64_t>(dimensions.size()));
    HloInstruction* found = dot_->parent()->AddInstruction(HloInstruction::CreateGather(
        xla::ShapeUtil::ChangeElementType(dot_->shape(), other_->shape().element_type()), other_,
        Indices(dimensions, side_.contracted), numbers, slice, /*indices_are_sorted=*/false));
    // An index that is no place finds 0.
    HloInstruction* is_place = nullptr;
    for (const OneHot& one : choice_.hots) {
      HloInstruction* const index = Index(one, dimensions);
      const auto number = [&](int64_t value) {
        return emit::Broadcast(emit::Number(dot_->parent(), index_type_, value),
                               emit::SizesOf(*index), {});
      };
      for (HloInstruction* within :
           {emit::Compare(xla::ComparisonDirection::kGe, index, number(0)),
            emit::Compare(xla::ComparisonDirection::kLt, index,
                          number(choosing_->shape().dimensions(one.along)))}) {
        is_place = is_place == nullptr ? within : emit::Binary(HloOpcode::kAnd, is_place, within);
      }
    }
    HloInstruction* const zero = emit::Broadcast(
        emit::Zero(dot_->parent(), other_->shape().element_type()), emit::SizesOf(*dot_), {});
    found = emit::Select(emit::Broadcast(is_place, emit::SizesOf(*dot_), where), found, zero);
    return emit::Convert(Scaled(found, dimensions, where), dot_->shape().element_type());
  }

  HloInstruction* Scattered() const {
    Dimensions dimensions = side_.batch, order = of_other_.batch;
    for (const Dimensions* some : {&of_other_.contracted, &of_other_.free}) {
      absl::c_copy(*some, std::back_inserter(order));
    }
    absl::c_copy(side_.contracted, std::back_inserter(dimensions));
    const auto scattered = static_cast<int64_t>(dimensions.size());
    const auto batches = static_cast<int64_t>(side_.batch.size());
    const auto kept = static_cast<int64_t>(of_other_.free.size());
    const xla::PrimitiveType type = emit::SumType(dot_->shape().element_type());
    HloInstruction* updates = emit::Transpose(emit::Convert(other_, type), order);
    updates = Scaled(updates, dimensions, Range(0, scattered));
    Dimensions places = Range(0, batches);
    absl::c_copy(Range(first_ ? batches : batches + kept, static_cast<int64_t>(side_.free.size())),
                 std::back_inserter(places));
    const xla::ScatterDimensionNumbers numbers = xla::HloScatterInstruction::MakeScatterDimNumbers(
        Range(scattered, kept), places, places, scattered);
    HloInstruction* const zeros =
        emit::Broadcast(emit::Zero(dot_->parent(), type), emit::SizesOf(*dot_), {});
    HloInstruction* const sum = dot_->parent()->AddInstruction(HloInstruction::CreateScatter(
        zeros->shape(), zeros, Indices(dimensions, side_.free), updates,
        emit::Combiner(dot_->GetModule(), HloOpcode::kAdd, type), numbers,
        /*indices_are_sorted=*/false, /*unique_indices=*/false));
    return emit::Convert(sum, dot_->shape().element_type());
  }

  HloInstruction* const dot_;
  const bool first_;  // whether the first operand chooses
  HloInstruction* const choosing_;
  HloInstruction* const other_;
  const DotSide side_, of_other_;
  const Choice choice_;
  xla::PrimitiveType index_type_ = xla::S32;
};

}  // namespace

// A product with what is 1 at one place of a dimension, else 0: what lies at that place, where the
// dimension is summed over; else a sum of what lies at each place. What is infinite elsewhere has
// no part in it.
absl::StatusOr<HloInstruction*> OneHotLookup(HloInstruction* root) {
  constexpr int64_t kFewPlaces = 4;
  if (!IsPlainDot(*root) || emit::TermsOf(*root) == 0) return nullptr;
  for (const int number : {0, 1}) {
    HloInstruction* const side = root->mutable_operand(number);
    const std::optional<Choice> choice = ChoiceOf(side);
    if (!choice) continue;
    int64_t places = 1;
    for (const int64_t d : choice->Along()) places *= side->shape().dimensions(d);
    if (places < kFewPlaces) continue;
    if (HloInstruction* found = ChoosingDot(root, number, *choice).Replacement()) return found;
  }
  return nullptr;
}

}  // namespace hone::compiler
