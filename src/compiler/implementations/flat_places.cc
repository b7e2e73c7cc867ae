// Gathers and scatters of elements by several numbers each, as x[i, j], by one: XLA:CPU puts the
// numbers of each place together in memory, and takes them apart again.
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "compiler/implementations/dimensions.h"
#include "compiler/implementations/elementwise.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "compiler/implementations/kernel_parts.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kLeastPlaces = 256;

// Dimensions of an array that become one, which places count along.
struct Flattened {
  int64_t first = 0, count = 0;
  Dimensions sizes;  // of the array

  int64_t merged() const { return emit::Product(emit::Sizes(sizes).subspan(first, count)); }
  // How far the place is moved by one more along the dimension.
  int64_t Stride(int64_t dimension) const {
    return emit::Product(emit::Sizes(sizes).subspan(dimension + 1, first + count - dimension - 1));
  }
  // Numbers of dimensions, of those that become one the first.
  Dimensions Renumbered(emit::Sizes dimensions) const {
    Dimensions left;
    for (const int64_t d : dimensions) {
      if (d <= first) {
        left.push_back(d);
      } else if (d >= first + count) {
        left.push_back(d - count + 1);
      }
    }
    return left;
  }
  Dimensions NewSizes() const {
    Dimensions flat(sizes.begin(), sizes.begin() + first);
    flat.push_back(merged());
    flat.insert(flat.end(), sizes.begin() + first + count, sizes.end());
    return flat;
  }
};

// False unless the dimensions are several in a row, in any order, and all of size 1 in a slice.
bool MayBeFlat(emit::Sizes mapped, emit::Sizes collapsed, emit::Sizes sizes, Flattened& flat) {
  if (mapped.size() < 2) return false;
  const int64_t first = *absl::c_min_element(mapped);
  flat = {first, static_cast<int64_t>(mapped.size()), Dimensions(sizes.begin(), sizes.end())};
  if (*absl::c_max_element(mapped) != first + flat.count - 1) return false;
  if (flat.merged() <= 0) return false;
  return absl::c_all_of(mapped, [&](int64_t d) { return absl::c_linear_search(collapsed, d); });
}

// The k-th of the numbers that are together along a dimension.
HloInstruction* NumberAt(HloInstruction* places, int64_t along, int64_t k) {
  if (places->opcode() == HloOpcode::kConcatenate && places->concatenate_dimension() == along &&
      absl::c_all_of(places->operands(), [&](const HloInstruction* part) {
        return part->shape().dimensions(along) == 1;
      })) {
    return places->mutable_operand(k);
  }
  return emit::SliceAlong(places, along, k, k + 1);
}

// One number for each place. Those that are outside are -1, or as near as there is one.
HloInstruction* PlacesAsOne(HloInstruction* places, int64_t along, emit::Sizes mapped,
                            const Flattened& flat, bool clamped) {
  const xla::PrimitiveType given = places->shape().element_type();
  const bool fits = flat.merged() <= std::numeric_limits<int32_t>::max();
  const xla::PrimitiveType type = given == xla::S32 && fits ? xla::S32 : xla::S64;
  HloInstruction* sum = nullptr;
  HloInstruction* inside = nullptr;
  for (size_t k = 0; k < mapped.size(); ++k) {
    const auto size = static_cast<double>(flat.sizes[mapped[k]]);
    Elements number = Elements(NumberAt(places, along, static_cast<int64_t>(k))).As(type);
    const Elements is_inside = (number > number.Number(-1)) & (number < size);
    if (clamped) {
      number = Choose(is_inside, number, Choose(number < 0.0, 0.0, number.Number(size - 1)));
    } else {
      inside = inside == nullptr ? is_inside.array() : (Elements(inside) & is_inside).array();
    }
    const auto stride = static_cast<double>(flat.Stride(mapped[k]));
    sum = emit::AddTo(sum, (number * stride).array());
  }
  return clamped ? sum : Choose(Elements(inside), Elements(sum), -1.0).array();
}

// A gather whose places have a number for each dimension that is not taken as a whole.
struct PlainGather {
  HloInstruction* places;
  xla::GatherDimensionNumbers numbers;
  Dimensions sizes;  // of the result
};

// Without batching dimensions: those of the batch are numbered, and numbers are of all of them.
void NumberBatch(PlainGather& gather) {
  xla::GatherDimensionNumbers& numbers = gather.numbers;
  const int64_t along = numbers.index_vector_dim();
  Dimensions sizes = emit::SizesOf(*gather.places);
  sizes[along] = 1;
  std::vector<HloInstruction*> parts;
  for (const int64_t d : numbers.start_indices_batching_dims()) {
    parts.push_back(
        emit::Iota(gather.places->parent(), gather.places->shape().element_type(), sizes, d));
  }
  parts.push_back(gather.places);
  gather.places = emit::Concatenate(parts, along);
  Dimensions mapped(numbers.operand_batching_dims().begin(), numbers.operand_batching_dims().end());
  Dimensions collapsed = mapped;
  mapped.insert(mapped.end(), numbers.start_index_map().begin(), numbers.start_index_map().end());
  collapsed.insert(collapsed.end(), numbers.collapsed_slice_dims().begin(),
                   numbers.collapsed_slice_dims().end());
  absl::c_sort(collapsed);
  numbers.mutable_start_index_map()->Assign(mapped.begin(), mapped.end());
  numbers.mutable_collapsed_slice_dims()->Assign(collapsed.begin(), collapsed.end());
  numbers.clear_operand_batching_dims();
  numbers.clear_start_indices_batching_dims();
}

// Without dimensions of size 1 in the result for those that places are numbered along.
void CollapseMapped(const HloInstruction& root, PlainGather& gather) {
  xla::GatherDimensionNumbers& numbers = gather.numbers;
  Dimensions collapsed, windows, gone;  // `gone`: of the result
  auto next = numbers.offset_dims().begin();
  for (int64_t d = 0; d < RankOf(*root.operand(0)); ++d) {
    const bool is_mapped = absl::c_linear_search(numbers.start_index_map(), d);
    const bool was_collapsed = absl::c_linear_search(numbers.collapsed_slice_dims(), d);
    const bool is_one = is_mapped && root.gather_slice_sizes()[d] == 1;
    if (was_collapsed || is_one) collapsed.push_back(d);
    if (!was_collapsed) (is_one ? gone : windows).push_back(*next++);
  }
  for (int64_t& window : windows) {
    window -= absl::c_count_if(gone, [&](int64_t d) { return d < window; });
  }
  for (auto d = gone.rbegin(); d != gone.rend(); ++d) {
    gather.sizes.erase(gather.sizes.begin() + *d);
  }
  numbers.mutable_collapsed_slice_dims()->Assign(collapsed.begin(), collapsed.end());
  numbers.mutable_offset_dims()->Assign(windows.begin(), windows.end());
}

// Of places that numbers are together for along a dimension.
PlainGather PlainOf(HloInstruction* root) {
  PlainGather gather{root->mutable_operand(1), root->gather_dimension_numbers(),
                     emit::SizesOf(*root)};
  if (gather.numbers.operand_batching_dims_size() > 0) NumberBatch(gather);
  CollapseMapped(*root, gather);
  return gather;
}

HloInstruction* FlatGather(HloInstruction* root) {
  HloInstruction* const x = root->mutable_operand(0);
  if (root->gather_dimension_numbers().index_vector_dim() >= RankOf(*root->operand(1))) {
    return nullptr;
  }
  HloComputation& computation = *root->parent();
  const int64_t before = computation.instruction_count();
  const PlainGather gather = PlainOf(root);
  const xla::GatherDimensionNumbers& numbers = gather.numbers;
  const Dimensions mapped(numbers.start_index_map().begin(), numbers.start_index_map().end());
  const Dimensions collapsed(numbers.collapsed_slice_dims().begin(),
                             numbers.collapsed_slice_dims().end());
  Flattened flat;
  if (!MayBeFlat(mapped, collapsed, x->shape().dimensions(), flat)) {
    emit::RemoveBehind(computation, before).IgnoreError();
    return nullptr;
  }
  xla::GatherDimensionNumbers one = numbers;
  one.clear_start_index_map();
  one.add_start_index_map(flat.first);
  one.clear_collapsed_slice_dims();
  for (const int64_t d : flat.Renumbered(collapsed)) one.add_collapsed_slice_dims(d);
  Dimensions slice;
  for (int64_t d = 0; d < RankOf(*x); ++d) {
    if (d <= flat.first || d >= flat.first + flat.count) {
      slice.push_back(root->gather_slice_sizes()[d]);
    }
  }
  HloInstruction* const flat_places =
      PlacesAsOne(gather.places, numbers.index_vector_dim(), mapped, flat, /*clamped=*/true);
  const xla::Shape shape = xla::ShapeUtil::MakeShape(root->shape().element_type(), gather.sizes);
  HloInstruction* const made = computation.AddInstruction(
      HloInstruction::CreateGather(shape, emit::Reshape(x, flat.NewSizes()), flat_places, one,
                                   slice, /*indices_are_sorted=*/false));
  return gather.sizes == emit::SizesOf(*root) ? made : emit::Reshape(made, emit::SizesOf(*root));
}

HloInstruction* FlatScatter(HloInstruction* root) {
  auto* const scatter = xla::Cast<xla::HloScatterInstruction>(root);
  const xla::ScatterDimensionNumbers& numbers = scatter->scatter_dimension_numbers();
  HloInstruction* const x = root->mutable_operand(0);
  if (scatter->scatter_operand_count() != 1) return nullptr;
  HloInstruction* const places = scatter->scatter_indices();
  const Dimensions mapped(numbers.scatter_dims_to_operand_dims().begin(),
                          numbers.scatter_dims_to_operand_dims().end());
  const Dimensions inserted(numbers.inserted_window_dims().begin(),
                            numbers.inserted_window_dims().end());
  Flattened flat;
  if (numbers.input_batching_dims_size() > 0 || numbers.index_vector_dim() >= RankOf(*places) ||
      !MayBeFlat(mapped, inserted, x->shape().dimensions(), flat)) {
    return nullptr;
  }
  xla::ScatterDimensionNumbers one = numbers;
  one.clear_scatter_dims_to_operand_dims();
  one.add_scatter_dims_to_operand_dims(flat.first);
  one.clear_inserted_window_dims();
  for (const int64_t d : flat.Renumbered(inserted)) one.add_inserted_window_dims(d);
  HloInstruction* const flat_places =
      PlacesAsOne(places, numbers.index_vector_dim(), mapped, flat, /*clamped=*/false);
  HloInstruction* const whole = emit::Reshape(x, flat.NewSizes());
  HloInstruction* const made = root->parent()->AddInstruction(HloInstruction::CreateScatter(
      whole->shape(), whole, flat_places, scatter->scatter_updates()[0], root->to_apply(), one,
      /*indices_are_sorted=*/false, root->unique_indices()));
  return emit::Reshape(made, flat.sizes);
}

}  // namespace

absl::StatusOr<HloInstruction*> FlatPlaces(HloInstruction* root) {
  if (!emit::Free(*root) || !root->shape().IsArray() || IsInOneKernel(*root->parent())) {
    return nullptr;
  }
  const HloInstruction& places = *root->operand(1);
  if (xla::ShapeUtil::ElementsIn(places.shape()) < kLeastPlaces ||
      !xla::primitive_util::IsIntegralType(places.shape().element_type())) {
    return nullptr;
  }
  return root->opcode() == HloOpcode::kGather ? FlatGather(root) : FlatScatter(root);
}

}  // namespace hone::compiler
