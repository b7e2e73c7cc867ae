// Gathers and scatters over values that are turned: which of the batch they are for is one of their
// batching dimensions, as vmap has it, or they take all of the batch from each place.
#include <algorithm>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/turned_values.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_instructions.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;

template <typename Field>
Dimensions Read(const Field& field) {
  return Dimensions(field.begin(), field.end());
}

template <typename Field>
void Write(const Dimensions& values, Field* field) {
  field->Assign(values.begin(), values.end());
}

// What gathers and scatters have in common. The windowed array is a gather's result or a scatter's
// updates: its dimensions are those of the windows, and those of the indices in order.
struct Access {
  Dimensions windows;      // of the windowed array
  Dimensions no_windows;   // of the whole, collapsed in windows
  Dimensions by_index;     // of the whole, one for each number of an index
  Dimensions whole_batch;  // of the whole, with the indices' below
  Dimensions index_batch;
  int64_t vector = 0;  // of the indices
  int64_t whole_rank = 0, index_rank = 0, windowed_rank = 0;
};

// The dimensions that are moved; kNone where the array is as it was.
struct Moved {
  int64_t whole = kNone, index = kNone, windowed = kNone;
};

// Of the windowed array, for a dimension of the indices.
int64_t WindowedOfIndex(const Access& access, int64_t index) {
  int64_t number = index - (index > access.vector ? 1 : 0);
  for (int64_t d = 0; d < access.windowed_rank; ++d) {
    if (!Has(access.windows, d) && number-- == 0) return d;
  }
  return kNone;
}

int64_t IndexOfWindowed(const Access& access, int64_t windowed) {
  for (int64_t d = 0; d < access.index_rank; ++d) {
    if (d != access.vector && WindowedOfIndex(access, d) == windowed) return d;
  }
  return kNone;
}

// Of the windowed array, for a dimension of the whole that is one of the windows.
int64_t WindowedOfWhole(const Access& access, int64_t whole) {
  int64_t number = 0;
  for (int64_t d = 0; d < whole; ++d) {
    if (!Has(access.no_windows, d) && !Has(access.whole_batch, d)) ++number;
  }
  return access.windows[number];
}

// By any that is moved.
std::optional<Moved> MovedOf(const Access& access, Moved known) {
  if (known.whole != kNone && !Has(access.whole_batch, known.whole)) {
    if (Has(access.no_windows, known.whole) || Has(access.by_index, known.whole)) {
      return std::nullopt;
    }
    return Moved{known.whole, kNone, WindowedOfWhole(access, known.whole)};
  }
  int64_t index = known.index;
  if (known.whole != kNone) {
    index = access.index_batch[absl::c_find(access.whole_batch, known.whole) -
                               access.whole_batch.begin()];
  } else if (index == kNone && known.windowed != kNone) {
    index = IndexOfWindowed(access, known.windowed);
  }
  if (index == kNone || index == access.vector) return std::nullopt;
  const auto batch = absl::c_find(access.index_batch, index);
  Moved moved{kNone, index, WindowedOfIndex(access, index)};
  if (batch != access.index_batch.end()) {
    moved.whole = access.whole_batch[batch - access.index_batch.begin()];
  }
  return moved;
}

// The same access of what is turned.
Access TurnedAccess(Access access, const Moved& moved) {
  const auto turn = [](Dimensions& dimensions, int64_t d, int64_t rank) {
    if (d != kNone) dimensions = PlacesTurned(dimensions, d, rank);
  };
  if (const auto batch = absl::c_find(access.whole_batch, moved.whole);
      batch != access.whole_batch.end()) {  // they are in order
    const auto number = batch - access.whole_batch.begin();
    std::rotate(batch, batch + 1, access.whole_batch.end());
    const auto other = access.index_batch.begin() + number;
    std::rotate(other, other + 1, access.index_batch.end());
  }
  turn(access.windows, moved.windowed, access.windowed_rank);
  absl::c_sort(access.windows);
  for (Dimensions* some : {&access.no_windows, &access.by_index, &access.whole_batch}) {
    turn(*some, moved.whole, access.whole_rank);
  }
  turn(access.index_batch, moved.index, access.index_rank);
  if (moved.index != kNone && access.vector < access.index_rank) {
    access.vector = PlaceTurned(access.vector, moved.index, access.index_rank);
  }
  return access;
}

}  // namespace

bool TurnedValues::MakeGather(HloInstruction* x) {
  HloInstruction *const whole = x->mutable_operand(0), *const index = x->mutable_operand(1);
  xla::GatherDimensionNumbers numbers = x->gather_dimension_numbers();
  Access access{Read(numbers.offset_dims()),
                Read(numbers.collapsed_slice_dims()),
                Read(numbers.start_index_map()),
                Read(numbers.operand_batching_dims()),
                Read(numbers.start_indices_batching_dims()),
                numbers.index_vector_dim(),
                RankOf(*whole),
                RankOf(*index),
                RankOf(*x)};
  const std::optional<Moved> moved =
      MovedOf(access, {DimensionOf(whole), DimensionOf(index), kNone});
  // The whole is larger than what is taken from it: it stays as it is.
  if (!moved || moved->whole != DimensionOf(whole)) return false;
  Dimensions sizes(x->gather_slice_sizes().begin(), x->gather_slice_sizes().end());
  if (moved->whole != kNone) {
    if (!Has(access.whole_batch, moved->whole) &&
        sizes[moved->whole] != whole->shape().dimensions(moved->whole)) {
      return false;
    }
    sizes = ValuesTurned(sizes, moved->whole);
  }
  access = TurnedAccess(access, *moved);
  Write(access.windows, numbers.mutable_offset_dims());
  Write(access.no_windows, numbers.mutable_collapsed_slice_dims());
  Write(access.by_index, numbers.mutable_start_index_map());
  Write(access.whole_batch, numbers.mutable_operand_batching_dims());
  Write(access.index_batch, numbers.mutable_start_indices_batching_dims());
  numbers.set_index_vector_dim(access.vector);
  Know(x,
       computation_->AddInstruction(HloInstruction::CreateGather(
           TurnedShape(x->shape(), moved->windowed), AsOrBack(whole, moved->whole),
           AsOrBack(index, moved->index), numbers, sizes,
           xla::Cast<xla::HloGatherInstruction>(x)->indices_are_sorted())),
       moved->windowed);
  return true;
}

bool TurnedValues::MakeScatter(HloInstruction* x) {
  auto* const scatter = xla::Cast<xla::HloScatterInstruction>(x);
  if (scatter->scatter_operand_count() != 1) return false;
  HloInstruction *const whole = x->mutable_operand(0), *const index = x->mutable_operand(1),
                        *const updates = x->mutable_operand(2);
  xla::ScatterDimensionNumbers numbers = x->scatter_dimension_numbers();
  Access access{Read(numbers.update_window_dims()),
                Read(numbers.inserted_window_dims()),
                Read(numbers.scatter_dims_to_operand_dims()),
                Read(numbers.input_batching_dims()),
                Read(numbers.scatter_indices_batching_dims()),
                numbers.index_vector_dim(),
                RankOf(*whole),
                RankOf(*index),
                RankOf(*updates)};
  const std::optional<Moved> moved =
      MovedOf(access, {DimensionOf(whole), DimensionOf(index), DimensionOf(updates)});
  // Those of the batch may meet at one place: in another order then. And XLA turns what is batched
  // back.
  if (!moved || moved->whole == kNone || Has(access.whole_batch, moved->whole) ||
      updates->shape().dimensions(moved->windowed) != whole->shape().dimensions(moved->whole)) {
    return false;
  }
  access = TurnedAccess(access, *moved);
  Write(access.windows, numbers.mutable_update_window_dims());
  Write(access.no_windows, numbers.mutable_inserted_window_dims());
  Write(access.by_index, numbers.mutable_scatter_dims_to_operand_dims());
  Write(access.whole_batch, numbers.mutable_input_batching_dims());
  Write(access.index_batch, numbers.mutable_scatter_indices_batching_dims());
  numbers.set_index_vector_dim(access.vector);
  Know(x,
       computation_->AddInstruction(HloInstruction::CreateScatter(
           TurnedShape(x->shape(), moved->whole), AsOrBack(whole, moved->whole),
           AsOrBack(index, moved->index), AsOrBack(updates, moved->windowed), x->to_apply(),
           numbers, scatter->indices_are_sorted(), scatter->unique_indices())),
       moved->whole);
  return true;
}

}  // namespace hone::compiler
