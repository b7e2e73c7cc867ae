// Gathers of single elements, or whole rows, by several indices each. XLA:CPU puts the indices
// beside each other in memory, those of batches counted up, and takes them apart again.
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "compiler/implementations/emit.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kLeastIndices = 64;

// How many dimensions, the first ones, are indexed or counted, one element of each at a time, where
// all others are taken whole; else 0.
int64_t Indexed(const HloInstruction& gather) {
  const xla::GatherDimensionNumbers& numbers = gather.gather_dimension_numbers();
  const xla::Shape& from = gather.operand(0)->shape();
  int64_t indexed = 0, elements = 1;
  for (int64_t d = 0; d < static_cast<int64_t>(from.dimensions().size()); ++d) {
    const bool counted = absl::c_linear_search(numbers.operand_batching_dims(), d);
    if (counted || absl::c_linear_search(numbers.start_index_map(), d)) {
      const bool one = counted || absl::c_linear_search(numbers.collapsed_slice_dims(), d);
      if (indexed != d || !one || gather.gather_slice_sizes()[d] != 1) return 0;
      ++indexed;
      elements *= from.dimensions(d);
    } else if (gather.gather_slice_sizes()[d] != from.dimensions(d) ||
               absl::c_linear_search(numbers.collapsed_slice_dims(), d)) {
      return 0;
    }
  }
  return elements <= std::numeric_limits<int32_t>::max() ? indexed : 0;
}

// The k-th index of each place, as far as it is inside of `size`, as s32.
HloInstruction* IndexInside(HloInstruction* indices, int64_t k, int64_t vector_dimension,
                            int64_t size) {
  std::vector<int64_t> sizes = emit::SizesOf(*indices);
  if (vector_dimension < static_cast<int64_t>(sizes.size())) {
    std::vector<int64_t> starts(sizes.size(), 0), limits = sizes;
    starts[vector_dimension] = k;
    limits[vector_dimension] = k + 1;
    sizes.erase(sizes.begin() + vector_dimension);
    indices = emit::Reshape(
        emit::Slice(indices, starts, limits, std::vector<int64_t>(starts.size(), 1)), sizes);
  }
  const auto filled = [&](int64_t value) {
    return emit::Broadcast(emit::Number(indices->parent(), indices->shape().element_type(), value),
                           sizes, {});
  };
  indices = emit::Binary(HloOpcode::kMaximum, indices, filled(0));
  // A narrow type may not have the size.
  if (xla::ShapeUtil::ByteSizeOfPrimitiveType(indices->shape().element_type()) >= 4) {
    return emit::Convert(emit::Binary(HloOpcode::kMinimum, indices, filled(size - 1)), xla::S32);
  }
  indices = emit::Convert(indices, xla::S32);
  return emit::Binary(HloOpcode::kMinimum, indices, filled(size - 1));
}

}  // namespace

// By one index each: the place in the dimensions that are indexed, taken together.
absl::StatusOr<HloInstruction*> FlatGather(HloInstruction* root) {
  if (root->opcode() != HloOpcode::kGather || !emit::Free(*root)) return nullptr;
  const xla::GatherDimensionNumbers& numbers = root->gather_dimension_numbers();
  HloInstruction* const x = root->mutable_operand(0);
  HloInstruction* const indices = root->mutable_operand(1);
  const int64_t indexed = Indexed(*root);
  if (indexed < 2 || xla::ShapeUtil::IsZeroElementArray(x->shape())) return nullptr;
  const int64_t vector_dimension = numbers.index_vector_dim();
  std::vector<int64_t> places = emit::SizesOf(*indices);
  if (vector_dimension < static_cast<int64_t>(places.size())) {
    places.erase(places.begin() + vector_dimension);
  }
  if (emit::Product(places) < kLeastIndices) return nullptr;

  const std::vector<int64_t> sizes = emit::SizesOf(*x);
  HloInstruction* flat = nullptr;
  for (int64_t d = 0; d < indexed; ++d) {
    HloInstruction* index = nullptr;
    const auto batch = absl::c_find(numbers.operand_batching_dims(), d);
    if (batch != numbers.operand_batching_dims().end()) {
      const int64_t along = numbers.start_indices_batching_dims(
          static_cast<int>(batch - numbers.operand_batching_dims().begin()));
      index = emit::Iota(root->parent(), xla::S32, places,
                         along > vector_dimension ? along - 1 : along);
    } else {
      const auto found = absl::c_find(numbers.start_index_map(), d);
      index = IndexInside(indices, found - numbers.start_index_map().begin(), vector_dimension,
                          sizes[d]);
    }
    if (flat == nullptr) {
      flat = index;
      continue;
    }
    HloInstruction* const size =
        emit::Broadcast(emit::Number(root->parent(), xla::S32, sizes[d]), places, {});
    flat = emit::Binary(HloOpcode::kAdd, emit::Binary(HloOpcode::kMultiply, flat, size), index);
  }

  std::vector<int64_t> rows(sizes.begin() + indexed, sizes.end()), taken = rows;
  rows.insert(rows.begin(), emit::Product({sizes.data(), static_cast<size_t>(indexed)}));
  taken.insert(taken.begin(), 1);
  const std::vector<int64_t> offsets(numbers.offset_dims().begin(), numbers.offset_dims().end());
  const xla::GatherDimensionNumbers by_one = xla::HloGatherInstruction::MakeGatherDimNumbers(
      offsets, /*collapsed_slice_dims=*/{0},
      /*start_index_map=*/{0}, /*index_vector_dim=*/static_cast<int64_t>(places.size()));
  return root->parent()->AddInstruction(
      HloInstruction::CreateGather(root->shape(), emit::Reshape(x, rows), flat, by_one, taken,
                                   /*indices_are_sorted=*/false));
}

}  // namespace hone::compiler
