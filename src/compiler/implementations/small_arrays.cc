#include "compiler/implementations/small_arrays.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "compiler/implementations/emit.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::ComparisonDirection;
using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kMostPlacesRead = 8;
constexpr int64_t kMostPlacesWritten = 16;

// The sizes of the indices without the dimension along which their components would lie.
std::vector<int64_t> OneComponent(const HloInstruction& indices, int64_t index_vector_dim) {
  std::vector<int64_t> sizes = emit::SizesOf(indices);
  if (index_vector_dim < static_cast<int64_t>(sizes.size())) {
    sizes.erase(sizes.begin() + index_vector_dim);
  }
  return sizes;
}

// The number that a dimension has once another is away.
int64_t Without(int64_t dimension, int64_t away) {
  return dimension > away ? dimension - 1 : dimension;
}

// Some of an array's dimensions, each whole, as those of another.
struct Placed {
  std::vector<int64_t> sizes, to;
};

// Leaves out the dimensions of size 1 that go nowhere (-1). None where another size does not fit,
// or the order differs.
std::optional<Placed> Place(const std::vector<int64_t>& sizes, const std::vector<int64_t>& to,
                            const xla::Shape& into) {
  Placed placed;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] != (to[d] < 0 ? 1 : into.dimensions(static_cast<int>(to[d])))) return std::nullopt;
    if (to[d] < 0) continue;
    placed.sizes.push_back(sizes[d]);
    placed.to.push_back(to[d]);
  }
  if (!absl::c_is_sorted(placed.to)) return std::nullopt;
  return placed;
}

bool IsSmallEnough(const HloInstruction& x, int64_t dimension, int64_t most) {
  return x.shape().IsArray() && !xla::ShapeUtil::IsZeroElementArray(x.shape()) &&
         x.shape().dimensions(dimension) <= most;
}

}  // namespace

HloInstruction* SmallGather(HloInstruction* root) {
  if (root->opcode() != HloOpcode::kGather || !emit::Free(*root)) return nullptr;
  const xla::GatherDimensionNumbers& numbers = root->gather_dimension_numbers();
  if (numbers.start_index_map_size() != 1) return nullptr;
  const int64_t dimension = numbers.start_index_map(0);
  HloInstruction* x = root->mutable_operand(0);
  if (!IsSmallEnough(*x, dimension, kMostPlacesRead) ||
      xla::ShapeUtil::IsZeroElementArray(root->shape()) ||
      root->gather_slice_sizes()[dimension] != 1) {
    return nullptr;
  }
  const std::vector<int64_t> sizes = emit::SizesOf(*root);
  std::vector<int64_t> index_dimensions;  // of the result
  for (int64_t d = 0; d < static_cast<int64_t>(sizes.size()); ++d) {
    if (!absl::c_linear_search(numbers.offset_dims(), d)) index_dimensions.push_back(d);
  }
  // Where the dimensions of one place of x lie in the result.
  std::vector<int64_t> place_sizes, place_dimensions;
  int offset = 0;
  for (int64_t d = 0; d < static_cast<int64_t>(x->shape().dimensions().size()); ++d) {
    const auto batching = absl::c_find(numbers.operand_batching_dims(), d);
    const bool collapsed = absl::c_linear_search(numbers.collapsed_slice_dims(), d);
    int64_t to = -1;
    if (batching != numbers.operand_batching_dims().end()) {
      const auto which = static_cast<int>(batching - numbers.operand_batching_dims().begin());
      to = index_dimensions[Without(numbers.start_indices_batching_dims(which),
                                    numbers.index_vector_dim())];
    } else {
      if (d != dimension && root->gather_slice_sizes()[d] != x->shape().dimensions(d)) {
        return nullptr;
      }
      if (!collapsed) to = numbers.offset_dims(offset++);
    }
    if (d == dimension || to < 0) continue;
    place_sizes.push_back(x->shape().dimensions(d));
    place_dimensions.push_back(to);
  }
  if (!absl::c_is_sorted(place_dimensions)) return nullptr;
  HloInstruction* index =
      emit::Broadcast(emit::Reshape(root->mutable_operand(1),
                                    OneComponent(*root->operand(1), numbers.index_vector_dim())),
                      sizes, index_dimensions);
  const int64_t places = x->shape().dimensions(dimension);
  HloInstruction* result = nullptr;
  for (int64_t k = 0; k < places; ++k) {
    HloInstruction* place =
        emit::Broadcast(emit::Reshape(emit::SliceAlong(x, dimension, k, k + 1), place_sizes), sizes,
                        place_dimensions);
    if (result == nullptr) {
      result = place;
      continue;
    }
    // Indices outside count as the nearest place.
    HloInstruction* here =
        emit::Broadcast(emit::Number(x->parent(), index->shape().element_type(), k), sizes, {});
    result = emit::Select(
        emit::Compare(k + 1 == places ? ComparisonDirection::kGe : ComparisonDirection::kEq, index,
                      here),
        place, result);
  }
  return result;
}

HloInstruction* SmallScatter(HloInstruction* root) {
  if (root->opcode() != HloOpcode::kScatter || !emit::Free(*root) || root->operand_count() != 3) {
    return nullptr;
  }
  const xla::ScatterDimensionNumbers& numbers = root->scatter_dimension_numbers();
  if (numbers.scatter_dims_to_operand_dims_size() != 1) return nullptr;
  const int64_t dimension = numbers.scatter_dims_to_operand_dims(0);
  HloInstruction* x = root->mutable_operand(0);
  if (!IsSmallEnough(*x, dimension, kMostPlacesWritten)) return nullptr;
  const xla::HloComputation& combiner = *root->to_apply();
  const bool replaces = emit::Replaces(combiner);
  const std::optional<HloOpcode> opcode = emit::ReducerOpcode(combiner);
  if (!replaces && !opcode) return nullptr;

  const std::vector<int64_t> index_sizes =
      OneComponent(*root->operand(1), numbers.index_vector_dim());
  const std::vector<int64_t> update_sizes = emit::SizesOf(*root->operand(2));
  // Dimensions of the operand that those of the indices and of the update are.
  std::vector<int64_t> index_to(index_sizes.size(), -1);
  for (int k = 0; k < numbers.scatter_indices_batching_dims_size(); ++k) {
    index_to[Without(numbers.scatter_indices_batching_dims(k), numbers.index_vector_dim())] =
        numbers.input_batching_dims(k);
  }
  std::vector<int64_t> window_to;
  for (int64_t d = 0; d < static_cast<int64_t>(x->shape().dimensions().size()); ++d) {
    if (absl::c_linear_search(numbers.inserted_window_dims(), d)) {
      if (d != dimension && x->shape().dimensions(d) != 1) return nullptr;
    } else if (!absl::c_linear_search(numbers.input_batching_dims(), d)) {
      window_to.push_back(d == dimension ? -1 : d);
    }
  }
  std::vector<int64_t> update_to;
  size_t windows = 0, indices = 0;
  for (int64_t d = 0; d < static_cast<int64_t>(update_sizes.size()); ++d) {
    const bool window = absl::c_linear_search(numbers.update_window_dims(), d);
    update_to.push_back(window ? window_to[windows++] : index_to[indices++]);
  }
  const std::optional<Placed> of_index = Place(index_sizes, index_to, x->shape());
  const std::optional<Placed> of_update = Place(update_sizes, update_to, x->shape());
  if (!of_index || !of_update) return nullptr;
  const std::vector<int64_t> sizes = emit::SizesOf(*x);
  HloInstruction* index = emit::Broadcast(emit::Reshape(root->mutable_operand(1), of_index->sizes),
                                          sizes, of_index->to);
  HloInstruction* places = emit::Iota(x->parent(), index->shape().element_type(), sizes, dimension);
  HloInstruction* value = emit::Broadcast(emit::Reshape(root->mutable_operand(2), of_update->sizes),
                                          sizes, of_update->to);
  return emit::Select(emit::Compare(ComparisonDirection::kEq, places, index),
                      replaces ? value : emit::Binary(*opcode, x, value), x);
}

}  // namespace hone::compiler
