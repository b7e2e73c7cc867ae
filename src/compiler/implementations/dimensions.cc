#include "compiler/implementations/dimensions.h"

#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/kernel_parts.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hone::compiler {

using xla::HloInstruction;
using xla::HloOpcode;

int64_t RankOf(const HloInstruction& array) {
  return static_cast<int64_t>(array.shape().dimensions().size());
}

bool Has(const Dimensions& dimensions, int64_t d) { return absl::c_linear_search(dimensions, d); }

Dimensions Without(const HloInstruction& array, const Dimensions& some) {
  Dimensions rest;
  for (int64_t d = 0; d < RankOf(array); ++d) {
    if (!Has(some, d)) rest.push_back(d);
  }
  return rest;
}

Dimensions Range(int64_t first, int64_t count) {
  Dimensions range;
  for (int64_t k = 0; k < count; ++k) range.push_back(first + k);
  return range;
}

Dimensions Behind(int64_t first, const Dimensions& rest) {
  Dimensions all = {first};
  absl::c_copy(rest, std::back_inserter(all));
  return all;
}

Dimensions SizesAt(const HloInstruction& array, const Dimensions& dimensions) {
  Dimensions sizes;
  for (const int64_t d : dimensions) sizes.push_back(array.shape().dimensions(d));
  return sizes;
}

DotSide DotSideOf(const HloInstruction& dot, int number) {
  const xla::DotDimensionNumbers& numbers = dot.dot_dimension_numbers();
  const auto& batch = number == 0 ? numbers.lhs_batch_dimensions() : numbers.rhs_batch_dimensions();
  const auto& contracted =
      number == 0 ? numbers.lhs_contracting_dimensions() : numbers.rhs_contracting_dimensions();
  DotSide side{{batch.begin(), batch.end()}, {contracted.begin(), contracted.end()}, {}};
  Dimensions others = side.batch;
  absl::c_copy(side.contracted, std::back_inserter(others));
  side.free = Without(*dot.operand(number), others);
  return side;
}

bool StepBack(Source& source) {
  HloInstruction* const value = source.array;
  Dimensions before;
  switch (value->opcode()) {
    case HloOpcode::kBroadcast:
      for (const int64_t d : value->dimensions()) before.push_back(source.places[d]);
      break;
    case HloOpcode::kTranspose:
      before.resize(source.places.size());
      for (int64_t d = 0; d < RankOf(*value); ++d) {
        before[value->dimensions(d)] = source.places[d];
      }
      break;
    case HloOpcode::kReshape: {
      if (!IsIdentity(*value)) return false;
      Dimensions real;
      for (int64_t d = 0; d < RankOf(*value); ++d) {
        if (value->shape().dimensions(d) != 1) real.push_back(source.places[d]);
      }
      size_t next = 0;
      for (const int64_t size : value->operand(0)->shape().dimensions()) {
        before.push_back(size == 1 ? kNone : real[next++]);
      }
      break;
    }
    default:
      return false;
  }
  source = {value->mutable_operand(0), std::move(before)};
  return true;
}

Source SourceOf(Source source) {
  while (StepBack(source)) continue;
  for (int64_t d = 0; d < RankOf(*source.array); ++d) {
    if (source.array->shape().dimensions(d) == 1) source.places[d] = kNone;
  }
  return source;
}

Source SourceOf(HloInstruction* array) { return SourceOf({array, Range(0, RankOf(*array))}); }

HloInstruction* Spread(const Source& source, const Dimensions& dimensions,
                       const Dimensions& sizes) {
  Dimensions kept, order, where;
  for (size_t d = 0; d < source.places.size(); ++d) {
    if (source.places[d] != kNone) kept.push_back(static_cast<int64_t>(d));
  }
  Dimensions kept_sizes;
  for (const int64_t d : kept) kept_sizes.push_back(source.array->shape().dimensions(d));
  for (size_t k = 0; k < dimensions.size(); ++k) {
    for (size_t i = 0; i < kept.size(); ++i) {
      if (source.places[kept[i]] != dimensions[k]) continue;
      order.push_back(static_cast<int64_t>(i));
      where.push_back(static_cast<int64_t>(k));
    }
  }
  return emit::Broadcast(emit::Transpose(emit::Reshape(source.array, kept_sizes), order), sizes,
                         where);
}

}  // namespace hone::compiler
