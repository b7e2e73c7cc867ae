// Products with rows that are looked up.
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

// A dot without batches; `first`: of `x` and `y`, else of `y` and `x`.
HloInstruction* DotInOrder(bool first, HloInstruction* x, const Dimensions& of_x, HloInstruction* y,
                           const Dimensions& of_y, xla::PrimitiveType type,
                           const xla::PrecisionConfig& precision) {
  return first ? emit::Dot(x, y, {}, {}, of_x, of_y, type, precision)
               : emit::Dot(y, x, {}, {}, of_y, of_x, type, precision);
}

// Rows of an array, found by indices; perhaps something else where an index is no place.
struct Rows {
  HloInstruction* gather = nullptr;
  HloInstruction* select = nullptr;  // of the gather and NaNs, or zeros
};

// Where whole rows are found, along these dimensions.
std::optional<Rows> RowsOf(HloInstruction* value, const Dimensions& along) {
  Rows rows;
  if (value->opcode() == HloOpcode::kSelect) {
    HloInstruction* const other = value->mutable_operand(2);
    const HloInstruction& scalar =
        other->opcode() == HloOpcode::kBroadcast ? *other->operand(0) : *other;
    if (scalar.opcode() != HloOpcode::kConstant || !xla::ShapeUtil::IsScalar(scalar.shape())) {
      return std::nullopt;
    }
    const std::optional<double> number = scalar.literal().GetAsDouble({});
    if (!number || (*number == *number && *number != 0)) return std::nullopt;
    const Source mask = SourceOf(value->mutable_operand(0));
    if (absl::c_any_of(along, [&](int64_t d) { return Has(mask.places, d); })) return std::nullopt;
    rows.select = value;
    value = value->mutable_operand(1);
  }
  if (value->opcode() != HloOpcode::kGather || !emit::Free(*value)) return std::nullopt;
  rows.gather = value;
  const xla::GatherDimensionNumbers& numbers = value->gather_dimension_numbers();
  const HloInstruction& from = *value->operand(0);
  if (numbers.operand_batching_dims_size() > 0 ||
      numbers.collapsed_slice_dims_size() != numbers.start_index_map_size()) {
    return std::nullopt;
  }
  for (const int64_t d : numbers.start_index_map()) {
    if (!absl::c_linear_search(numbers.collapsed_slice_dims(), d)) return std::nullopt;
  }
  for (int64_t d = 0; d < RankOf(from); ++d) {
    if (absl::c_linear_search(numbers.collapsed_slice_dims(), d)) continue;
    if (value->gather_slice_sizes()[d] != from.shape().dimensions(d)) return std::nullopt;
  }
  for (const int64_t d : along) {
    if (!absl::c_linear_search(numbers.offset_dims(), d)) return std::nullopt;
  }
  return rows;
}

// The dimension of a gather's operand that one of its result is.
int64_t OperandDimension(const HloInstruction& gather, int64_t dimension) {
  const xla::GatherDimensionNumbers& numbers = gather.gather_dimension_numbers();
  const auto number =
      absl::c_find(numbers.offset_dims(), dimension) - numbers.offset_dims().begin();
  const Dimensions kept = Without(*gather.operand(0), {numbers.collapsed_slice_dims().begin(),
                                                       numbers.collapsed_slice_dims().end()});
  return kept[number];
}

// A dot of rows that are found, in the type: the product of what they are found in, and then found.
// `first`: the rows are the first operand.
HloInstruction* FoundProduct(const Rows& rows, bool first, const Dimensions& contracted,
                             HloInstruction* other, const Dimensions& of_other,
                             xla::PrimitiveType type, const xla::PrecisionConfig& precision) {
  const HloInstruction& gather = *rows.gather;
  HloInstruction* const table = rows.gather->mutable_operand(0);
  const xla::GatherDimensionNumbers& numbers = gather.gather_dimension_numbers();
  Dimensions of_table;
  for (const int64_t d : contracted) of_table.push_back(OperandDimension(gather, d));
  HloInstruction* const product =
      DotInOrder(first, table, of_table, other, of_other, type, precision);
  const int64_t free = RankOf(*other) - static_cast<int64_t>(of_other.size());
  // Where the dimensions of the table, and of the rows, are now.
  const auto now = [&](int64_t d, const Dimensions& gone) {
    const auto before = absl::c_count_if(gone, [&](int64_t one) { return one < d; });
    return d - before + (first ? 0 : free);
  };
  Dimensions collapsed, start, offsets, slice = emit::SizesOf(*product), kept;
  for (const int64_t d : numbers.collapsed_slice_dims()) collapsed.push_back(now(d, of_table));
  for (const int64_t d : numbers.start_index_map()) start.push_back(now(d, of_table));
  for (const int64_t d : collapsed) slice[d] = 1;
  for (const int64_t d : numbers.offset_dims()) {
    if (!Has(contracted, d)) offsets.push_back(now(d, contracted));
  }
  Dimensions sizes;
  for (const int64_t d : Without(gather, contracted)) {
    kept.push_back(now(d, contracted));
    sizes.push_back(gather.shape().dimensions(d));
  }
  const auto found_rank = static_cast<int64_t>(sizes.size());
  for (const int64_t d : Range(first ? found_rank : 0, free)) offsets.push_back(d);
  absl::c_sort(offsets);
  const Dimensions others = Without(*other, of_other);
  for (size_t k = 0; k < others.size(); ++k) {
    const int64_t size = other->shape().dimensions(others[k]);
    sizes.insert(first ? sizes.end() : sizes.begin() + static_cast<int64_t>(k), size);
  }
  HloInstruction* found = product->parent()->AddInstruction(HloInstruction::CreateGather(
      xla::ShapeUtil::MakeShape(type, sizes), product, rows.gather->mutable_operand(1),
      xla::HloGatherInstruction::MakeGatherDimNumbers(offsets, collapsed, start,
                                                      numbers.index_vector_dim()),
      slice, xla::Cast<xla::HloGatherInstruction>(&gather)->indices_are_sorted()));
  if (rows.select == nullptr) return found;
  const Dimensions left = Without(gather, contracted);
  const Source mask = SourceOf(rows.select->mutable_operand(0));
  HloInstruction* const other_value = rows.select->mutable_operand(2);
  HloInstruction* const scalar = other_value->opcode() == HloOpcode::kBroadcast
                                     ? other_value->mutable_operand(0)
                                     : other_value;
  return emit::Select(emit::Broadcast(Spread(mask, left, SizesAt(gather, left)), sizes, kept),
                      found, emit::Broadcast(emit::Convert(scalar, type), sizes, {}));
}

// Whether there are so many rows that it pays to multiply what they are found in, or added to.
bool AreMany(int64_t rows, int64_t in_table) { return 4 * in_table < 3 * rows; }

bool AreMany(const Rows& rows) {
  const HloInstruction& gather = *rows.gather;
  const auto& collapsed = gather.gather_dimension_numbers().collapsed_slice_dims();
  const auto& offsets = gather.gather_dimension_numbers().offset_dims();
  return AreMany(emit::Product(SizesAt(gather, Without(gather, {offsets.begin(), offsets.end()}))),
                 emit::Product(SizesAt(*gather.operand(0), {collapsed.begin(), collapsed.end()})));
}

// What is summed over rows that are found: [places in the table…, of `values`…], the sums of
// `values` [rows…, …] over the rows of each place. An index that is no place has its row added
// nowhere.
HloInstruction* SumsByPlace(HloInstruction* indices, int64_t index_vector_dim,
                            const Dimensions& start, const Dimensions& places,
                            HloInstruction* values, const Dimensions& windows) {
  Dimensions sizes = places;
  absl::c_copy(SizesAt(*values, windows), std::back_inserter(sizes));
  const xla::PrimitiveType type = values->shape().element_type();
  HloInstruction* const zeros = emit::Broadcast(emit::Zero(values->parent(), type), sizes, {});
  return values->parent()->AddInstruction(HloInstruction::CreateScatter(
      zeros->shape(), zeros, indices, values,
      emit::Combiner(values->GetModule(), HloOpcode::kAdd, type),
      xla::HloScatterInstruction::MakeScatterDimNumbers(
          windows, Range(0, static_cast<int64_t>(places.size())), start, index_vector_dim),
      /*indices_are_sorted=*/false, /*unique_indices=*/false));
}

// The number of each among the sorted ones.
Dimensions Numbers(const Dimensions& some, const Dimensions& sorted) {
  Dimensions numbers;
  for (const int64_t d : some) numbers.push_back(absl::c_find(sorted, d) - sorted.begin());
  return numbers;
}

// The indices, moved to where a lookup of one of these sizes would find something.
HloInstruction* Clamped(HloInstruction* indices, int64_t index_vector_dim,
                        const Dimensions& sizes) {
  const xla::PrimitiveType type = indices->shape().element_type();
  const Dimensions all = emit::SizesOf(*indices);
  const auto number = [&](int64_t value) {
    return emit::Number(indices->parent(), type, std::min(value, emit::LargestOf(type)));
  };
  HloInstruction* last = nullptr;
  if (index_vector_dim == RankOf(*indices)) {
    last = emit::Broadcast(number(sizes[0] - 1), all, {});
  } else {
    std::vector<HloInstruction*> each;
    for (const int64_t size : sizes) each.push_back(emit::Reshape(number(size - 1), {1}));
    last = emit::Broadcast(emit::Concatenate(each, 0), all, {index_vector_dim});
  }
  return emit::Binary(HloOpcode::kMaximum, emit::Broadcast(number(0), all, {}),
                      emit::Binary(HloOpcode::kMinimum, indices, last));
}

// A dot whose first operand are rows that are found, summed over the rows: the product of what they
// are found in and the sums of the other by place. Dimensions as those of such a dot.
HloInstruction* ProductOfSums(HloInstruction* gather, const Dimensions& contracted,
                              HloInstruction* other, const Dimensions& of_other,
                              xla::PrimitiveType type, bool first,
                              const xla::PrecisionConfig& precision) {
  const xla::GatherDimensionNumbers& numbers = gather->gather_dimension_numbers();
  HloInstruction* const table = gather->mutable_operand(0);
  const Dimensions places(numbers.collapsed_slice_dims().begin(),
                          numbers.collapsed_slice_dims().end());
  const Dimensions start(numbers.start_index_map().begin(), numbers.start_index_map().end());
  // The other with its rows first, in the order of the gather's.
  Dimensions sorted = contracted, order;
  absl::c_sort(sorted);
  for (const int64_t d : sorted) {
    order.push_back(of_other[absl::c_find(contracted, d) - contracted.begin()]);
  }
  const auto rows = static_cast<int64_t>(order.size());
  absl::c_copy(Without(*other, of_other), std::back_inserter(order));
  HloInstruction* const values = emit::Transpose(emit::Convert(other, type), order);
  HloInstruction* const sums = SumsByPlace(
      Clamped(gather->mutable_operand(1), numbers.index_vector_dim(), SizesAt(*table, start)),
      numbers.index_vector_dim(), Numbers(start, places), SizesAt(*table, places), values,
      Range(rows, RankOf(*values) - rows));
  const Dimensions summed = Range(0, static_cast<int64_t>(places.size()));
  return DotInOrder(first, table, places, sums, summed, type, precision);
}

// Whether a side of a dot are rows that are found, summed over.
bool AreSummedRows(HloInstruction* value, const Dimensions& contracted) {
  Dimensions rows = contracted;
  absl::c_sort(rows);
  const std::optional<Rows> found = RowsOf(value, Without(*value, contracted));
  if (!found || found->select != nullptr || !AreMany(*found)) return false;
  const auto& offsets = found->gather->gather_dimension_numbers().offset_dims();
  return Without(*value, {offsets.begin(), offsets.end()}) == rows;
}

absl::StatusOr<HloInstruction*> DotOverRows(HloInstruction* root) {
  for (const int number : {0, 1}) {
    const DotSide side = DotSideOf(*root, number), of_other = DotSideOf(*root, 1 - number);
    HloInstruction* const whole = root->mutable_operand(number);
    HloInstruction* const other = root->mutable_operand(1 - number);
    const bool many =
        whole->opcode() == HloOpcode::kConcatenate && Has(side.free, whole->dimensions(0));
    std::vector<HloInstruction*> parts{whole};
    if (many) parts.assign(whole->operands().begin(), whole->operands().end());
    if (absl::c_none_of(
            parts, [&](HloInstruction* part) { return AreSummedRows(part, side.contracted); })) {
      continue;
    }
    const xla::PrimitiveType type = emit::SumType(root->shape().element_type());
    std::vector<HloInstruction*> products;
    for (HloInstruction* part : parts) {
      const bool first = number == 0;
      products.push_back(AreSummedRows(part, side.contracted)
                             ? ProductOfSums(part, side.contracted, other, of_other.contracted,
                                             type, first, root->precision_config())
                             : DotInOrder(first, part, side.contracted, other, of_other.contracted,
                                          type, root->precision_config()));
    }
    const int64_t along = many ? (number == 0 ? 0 : static_cast<int64_t>(of_other.free.size())) +
                                     Numbers({whole->dimensions(0)}, side.free)[0]
                               : 0;
    return emit::Convert(emit::Concatenate(products, along), root->shape().element_type());
  }
  return nullptr;
}

// Of what is added at places: the product whose rows it is, perhaps some columns of it.
struct AddedProduct {
  HloInstruction* dot = nullptr;
  HloInstruction* slice = nullptr;  // of the dot; null where all of it is added
  int rows = 0;                     // the operand that has the rows
};

std::optional<AddedProduct> AddedProductOf(HloInstruction* root) {
  if (root->opcode() != HloOpcode::kScatter || root->operand_count() != 3 || !emit::Free(*root) ||
      !xla::primitive_util::IsFloatingPointType(root->shape().element_type()) ||
      emit::ReducerOpcode(*root->to_apply()) != HloOpcode::kAdd) {
    return std::nullopt;
  }
  const xla::ScatterDimensionNumbers& numbers =
      xla::Cast<xla::HloScatterInstruction>(root)->scatter_dimension_numbers();
  Dimensions places(numbers.scatter_dims_to_operand_dims().begin(),
                    numbers.scatter_dims_to_operand_dims().end());
  absl::c_sort(places);
  if (numbers.input_batching_dims_size() > 0 ||
      !absl::c_equal(places, numbers.inserted_window_dims())) {
    return std::nullopt;
  }
  AddedProduct found;
  HloInstruction* updates = root->mutable_operand(2);
  if (updates->opcode() == HloOpcode::kSlice) {
    found.slice = updates;
    updates = updates->mutable_operand(0);
  }
  if (!IsPlainDot(*updates) || emit::TermsOf(*updates) == 0) return std::nullopt;
  found.dot = updates;
  const Dimensions windows(numbers.update_window_dims().begin(),
                           numbers.update_window_dims().end());
  const Dimensions rows = Without(*updates, windows);
  const DotSide sides[] = {DotSideOf(*updates, 0), DotSideOf(*updates, 1)};
  if (!sides[0].batch.empty()) return std::nullopt;
  const auto left = static_cast<int64_t>(sides[0].free.size());
  const auto right = static_cast<int64_t>(sides[1].free.size());
  if (rows == Range(0, left) && windows == Range(left, right)) {
    found.rows = 0;
  } else if (rows == Range(left, right) && windows == Range(0, left)) {
    found.rows = 1;
  } else {
    return std::nullopt;
  }
  for (const int64_t d : windows) {
    if (root->operand(0)->shape().dimensions(Without(*root, places)[Numbers({d}, windows)[0]]) !=
        root->operand(2)->shape().dimensions(d)) {
      return std::nullopt;
    }
  }
  if (found.slice != nullptr) {
    for (int64_t d = 0; d < RankOf(*updates); ++d) {
      if (found.slice->slice_strides(d) != 1) return std::nullopt;
      if (Has(rows, d) && found.slice->shape().dimensions(d) != updates->shape().dimensions(d)) {
        return std::nullopt;
      }
    }
  }
  if (!AreMany(emit::Product(SizesAt(*updates, rows)), emit::Product(SizesAt(*root, places)))) {
    return std::nullopt;
  }
  return found;
}

// The columns of the other operand that a slice of a dot has; `rows` is the operand with the rows.
HloInstruction* ColumnsOf(const HloInstruction& slice, HloInstruction* dot, int rows) {
  const DotSide of_other = DotSideOf(*dot, 1 - rows);
  HloInstruction* const other = dot->mutable_operand(1 - rows);
  const int64_t begin = rows == 0 ? RankOf(*dot) - static_cast<int64_t>(of_other.free.size()) : 0;
  Dimensions low(RankOf(*other), 0), high = emit::SizesOf(*other);
  for (size_t k = 0; k < of_other.free.size(); ++k) {
    low[of_other.free[k]] = slice.slice_starts(begin + static_cast<int64_t>(k));
    high[of_other.free[k]] = slice.slice_limits(begin + static_cast<int64_t>(k));
  }
  return emit::Slice(other, low, high, Dimensions(low.size(), 1));
}

// A product added at places: what is multiplied, added at places, and then its product.
HloInstruction* AddedBefore(HloInstruction* root) {
  const std::optional<AddedProduct> found = AddedProductOf(root);
  if (!found) return nullptr;
  const xla::ScatterDimensionNumbers& numbers =
      xla::Cast<xla::HloScatterInstruction>(root)->scatter_dimension_numbers();
  const Dimensions places(numbers.inserted_window_dims().begin(),
                          numbers.inserted_window_dims().end());
  const Dimensions start(numbers.scatter_dims_to_operand_dims().begin(),
                         numbers.scatter_dims_to_operand_dims().end());
  const DotSide side = DotSideOf(*found->dot, found->rows);
  const DotSide of_other = DotSideOf(*found->dot, 1 - found->rows);
  const xla::PrimitiveType type = emit::SumType(root->shape().element_type());
  HloInstruction* const rows = emit::Convert(found->dot->mutable_operand(found->rows), type);
  HloInstruction* const other = found->slice == nullptr
                                    ? found->dot->mutable_operand(1 - found->rows)
                                    : ColumnsOf(*found->slice, found->dot, found->rows);
  Dimensions windows = side.contracted, of_sums;
  absl::c_sort(windows);
  HloInstruction* const sums =
      SumsByPlace(root->mutable_operand(1), numbers.index_vector_dim(), Numbers(start, places),
                  SizesAt(*root, places), rows, windows);
  const auto all = static_cast<int64_t>(places.size());
  for (const int64_t number : Numbers(side.contracted, windows)) of_sums.push_back(all + number);
  HloInstruction* const product =
      emit::Dot(sums, other, {}, {}, of_sums, of_other.contracted, type,
                found->rows == 0 ? found->dot->precision_config() : emit::HighestPrecision());
  // [places…, columns…] as the result has them.
  Dimensions order;
  const Dimensions columns = Without(*root, places);
  for (int64_t d = 0; d < RankOf(*root); ++d) {
    order.push_back(Has(places, d) ? Numbers({d}, places)[0] : all + Numbers({d}, columns)[0]);
  }
  HloInstruction* const added =
      emit::Binary(HloOpcode::kAdd, emit::Convert(root->mutable_operand(0), type),
                   emit::Transpose(product, order));
  return emit::Convert(added, root->shape().element_type());
}

// The rows of a product by which others than a slice are added at places, or were before they came
// to be added otherwise: the operand that has them; -1 where there are none.
int RowsOfOthers(const HloInstruction& root, const HloInstruction& dot) {
  int64_t needed = 0;
  for (const HloInstruction* user : dot.users()) {
    if (user->opcode() != HloOpcode::kSlice) return -1;
    needed += emit::Product(emit::SizesOf(*user));
    if (user == &root) continue;
    for (HloInstruction* taker : user->users()) {
      const std::optional<AddedProduct> found = AddedProductOf(taker);
      if (found && found->dot == &dot) return found->rows;
    }
  }
  if (needed >= emit::Product(emit::SizesOf(dot))) return -1;
  const auto first_rows = static_cast<int64_t>(DotSideOf(dot, 0).free.size());
  const Dimensions of_first = Range(0, first_rows);
  return SizesAt(root, of_first) == SizesAt(dot, of_first) ? 0 : 1;
}

// Columns of a product of which others are not needed, or added at places: a product of their own.
HloInstruction* OwnColumns(HloInstruction* root) {
  HloInstruction* const dot = root->mutable_operand(0);
  if (!IsPlainDot(*dot) || !emit::Free(*root) || emit::TermsOf(*dot) == 0 ||
      dot->dot_dimension_numbers().lhs_batch_dimensions_size() > 0) {
    return nullptr;
  }
  const int number = RowsOfOthers(*root, *dot);
  if (number < 0) return nullptr;
  const DotSide side = DotSideOf(*dot, number), of_other = DotSideOf(*dot, 1 - number);
  const Dimensions rows = Range(number == 0 ? 0 : static_cast<int64_t>(of_other.free.size()),
                                static_cast<int64_t>(side.free.size()));
  if (SizesAt(*root, rows) != SizesAt(*dot, rows) ||
      absl::c_any_of(root->slice_strides(), [](int64_t stride) { return stride != 1; })) {
    return nullptr;
  }
  std::vector<HloInstruction*> operands{dot->mutable_operand(0), dot->mutable_operand(1)};
  operands[1 - number] = ColumnsOf(*root, dot, number);
  return root->parent()->AddInstruction(dot->CloneWithNewOperands(root->shape(), operands));
}

}  // namespace

// Products with rows that are looked up more often than there are rows, and their gradients: each
// row's product, looked up; what is added at each row, and then multiplied. Of rows that are put
// together from several ones, each for itself, the products added.
absl::StatusOr<HloInstruction*> DotBeforeLookup(HloInstruction* root) {
  if (root->opcode() == HloOpcode::kScatter) return AddedBefore(root);
  if (root->opcode() == HloOpcode::kSlice) return OwnColumns(root);
  if (!IsPlainDot(*root) || emit::TermsOf(*root) == 0 ||
      !xla::primitive_util::IsFloatingPointType(root->shape().element_type()) ||
      root->dot_dimension_numbers().lhs_batch_dimensions_size() > 0) {
    return nullptr;
  }
  for (const int number : {0, 1}) {
    const DotSide side = DotSideOf(*root, number), of_other = DotSideOf(*root, 1 - number);
    HloInstruction* const whole = root->mutable_operand(number);
    HloInstruction* const other = root->mutable_operand(1 - number);
    const bool many = whole->opcode() == HloOpcode::kConcatenate && side.contracted.size() == 1 &&
                      whole->dimensions(0) == side.contracted[0];
    std::vector<HloInstruction*> parts{whole};
    if (many) parts.assign(whole->operands().begin(), whole->operands().end());
    std::vector<std::optional<Rows>> rows;
    bool worth = false;
    for (HloInstruction* part : parts) {
      rows.push_back(RowsOf(part, side.contracted));
      if (rows.back() && !AreMany(*rows.back())) rows.back().reset();
      worth = worth || rows.back();
    }
    if (!worth) continue;
    const xla::PrimitiveType type =
        many ? emit::SumType(root->shape().element_type()) : root->shape().element_type();
    HloInstruction* sum = nullptr;
    const auto add = [&](HloInstruction* term) {
      sum = emit::AddTo(sum, term);
    };
    std::vector<HloInstruction*> left, left_other;
    int64_t begin = 0;
    for (size_t k = 0; k < parts.size(); ++k) {
      HloInstruction* of_part = other;
      if (many) {
        Dimensions low(RankOf(*other), 0), high = emit::SizesOf(*other);
        low[of_other.contracted[0]] = begin;
        begin += parts[k]->shape().dimensions(side.contracted[0]);
        high[of_other.contracted[0]] = begin;
        of_part = emit::Slice(other, low, high, Dimensions(low.size(), 1));
      }
      if (!rows[k]) {
        left.push_back(parts[k]);
        left_other.push_back(of_part);
        continue;
      }
      add(FoundProduct(*rows[k], number == 0, side.contracted, of_part, of_other.contracted, type,
                       root->precision_config()));
    }
    if (!left.empty()) {
      HloInstruction* const x = emit::Concatenate(left, side.contracted[0]);
      HloInstruction* const y = emit::Concatenate(left_other, of_other.contracted[0]);
      add(DotInOrder(number == 0, x, side.contracted, y, of_other.contracted, type,
                     root->precision_config()));
    }
    return emit::Convert(sum, root->shape().element_type());
  }
  return DotOverRows(root);
}

}  // namespace hone::compiler
