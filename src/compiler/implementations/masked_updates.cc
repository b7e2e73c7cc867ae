// Writes into arrays that are taken or left by a mask, as loops over a batch do whose elements end
// one after the other.
#include <cstdint>
#include <iterator>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "compiler/implementations/dimensions.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "compiler/implementations/kernel_parts.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// What a mask over a whole array is spread from, and along which of its dimensions.
struct Mask {
  HloInstruction* source = nullptr;
  Dimensions dimensions;
};

std::optional<Mask> MaskOf(HloInstruction* whole) {
  if (whole->opcode() != HloOpcode::kBroadcast) return std::nullopt;
  return Mask{whole->mutable_operand(0), {whole->dimensions().begin(), whole->dimensions().end()}};
}

HloInstruction* Spread(const Mask& mask, const std::vector<int64_t>& sizes, bool taken) {
  HloInstruction* source = mask.source;
  if (!taken) source = emit::Unary(HloOpcode::kNot, source);
  return emit::Broadcast(source, sizes, mask.dimensions);
}

// The mask with its dimensions as others are numbered; nothing where one has no number, or they
// would change places.
template <class Number>
std::optional<Mask> Numbered(Mask mask, const Number& number) {
  for (int64_t& d : mask.dimensions) {
    const std::optional<int64_t> other = number(d);
    if (!other) return std::nullopt;
    d = *other;
  }
  return absl::c_is_sorted(mask.dimensions) ? std::make_optional(mask) : std::nullopt;
}

// The dimensions of the array that updates run along, in their order.
Dimensions WindowsOf(const xla::HloScatterInstruction& scatter) {
  const xla::ScatterDimensionNumbers& numbers = scatter.scatter_dimension_numbers();
  Dimensions others(numbers.inserted_window_dims().begin(), numbers.inserted_window_dims().end());
  absl::c_copy(numbers.input_batching_dims(), std::back_inserter(others));
  return Without(*scatter.operand(0), others);
}

// What is at the places of a scatter.
HloInstruction* Before(const xla::HloScatterInstruction& scatter, HloInstruction* array,
                       HloInstruction* places, HloInstruction* update) {
  const xla::ScatterDimensionNumbers& numbers = scatter.scatter_dimension_numbers();
  xla::GatherDimensionNumbers same;
  *same.mutable_offset_dims() = numbers.update_window_dims();
  *same.mutable_collapsed_slice_dims() = numbers.inserted_window_dims();
  *same.mutable_start_index_map() = numbers.scatter_dims_to_operand_dims();
  *same.mutable_operand_batching_dims() = numbers.input_batching_dims();
  *same.mutable_start_indices_batching_dims() = numbers.scatter_indices_batching_dims();
  same.set_index_vector_dim(numbers.index_vector_dim());
  std::vector<int64_t> sizes(static_cast<size_t>(RankOf(*array)), 1);
  int next = 0;
  for (const int64_t d : WindowsOf(scatter)) {
    sizes[d] = update->shape().dimensions(numbers.update_window_dims(next++));
  }
  return array->parent()->AddInstruction(HloInstruction::CreateGather(
      update->shape(), array, places, same, sizes, scatter.indices_are_sorted()));
}

// A scatter without the updates that the mask leaves: their places are outside, or they are what is
// there. Null where the mask goes along something else.
HloInstruction* OfScatter(xla::HloScatterInstruction* scatter, const Mask& mask, bool taken) {
  if (scatter->operand_count() != 3) return nullptr;
  const xla::ScatterDimensionNumbers& numbers = scatter->scatter_dimension_numbers();
  HloInstruction* const array = scatter->mutable_operand(0);
  HloInstruction* places = scatter->mutable_operand(1);
  HloInstruction* update = scatter->mutable_operand(2);
  const auto of_places = Numbered(mask, [&](int64_t d) -> std::optional<int64_t> {
    const auto found = absl::c_find(numbers.input_batching_dims(), d);
    if (found == numbers.input_batching_dims().end()) return std::nullopt;
    return numbers.scatter_indices_batching_dims(
        static_cast<int>(found - numbers.input_batching_dims().begin()));
  });
  const Dimensions windows = WindowsOf(*scatter);
  const auto of_update = Numbered(mask, [&](int64_t d) -> std::optional<int64_t> {
    const auto found = absl::c_find(windows, d);
    if (found == windows.end()) return std::nullopt;
    const int64_t in_update = numbers.update_window_dims(static_cast<int>(found - windows.begin()));
    const bool all = update->shape().dimensions(in_update) == array->shape().dimensions(d);
    return all ? std::make_optional(in_update) : std::nullopt;
  });
  if (of_places && numbers.scatter_dims_to_operand_dims_size() > 0) {
    const std::vector<int64_t> sizes = emit::SizesOf(*places);
    const xla::PrimitiveType type = places->shape().element_type();
    const int64_t outside =
        xla::primitive_util::IsSignedIntegralType(type) ? -1 : emit::LargestOf(type);
    HloInstruction* const none =
        emit::Broadcast(emit::Number(places->parent(), type, outside), sizes, {});
    places = emit::Select(Spread(*of_places, sizes, taken), places, none);
  } else if (of_update) {
    const std::optional<HloOpcode> combines = emit::ReducerOpcode(*scatter->to_apply());
    const std::vector<int64_t> sizes = emit::SizesOf(*update);
    HloInstruction* nothing = nullptr;
    if (emit::Replaces(*scatter->to_apply())) {
      nothing = Before(*scatter, array, places, update);
    } else if (combines) {
      nothing = emit::Broadcast(
          emit::Scalar(array->parent(), emit::Identity(*combines, array->shape().element_type())),
          sizes, {});
    } else {
      return nullptr;
    }
    update = emit::Select(Spread(*of_update, sizes, taken), update, nothing);
  } else {
    return nullptr;
  }
  return scatter->parent()->AddInstruction(HloInstruction::CreateScatter(
      scatter->shape(), array, places, update, scatter->to_apply(), numbers,
      /*indices_are_sorted=*/false, /*unique_indices=*/false));
}

// The same of a write of a block.
HloInstruction* OfBlock(HloInstruction* write, const Mask& mask, bool taken) {
  HloInstruction* const array = write->mutable_operand(0);
  HloInstruction* const block = write->mutable_operand(1);
  const auto of_block = Numbered(mask, [&](int64_t d) -> std::optional<int64_t> {
    const bool all = block->shape().dimensions(d) == array->shape().dimensions(d);
    return all ? std::make_optional(d) : std::nullopt;
  });
  if (!of_block) return nullptr;
  std::vector<HloInstruction*> operands(write->operands().begin(), write->operands().end());
  const std::vector<int64_t> sizes = emit::SizesOf(*block);
  HloInstruction* const before =
      emit::DynamicSlice(array, {operands.begin() + 2, operands.end()}, sizes);
  operands[1] = emit::Select(Spread(*of_block, sizes, taken), block, before);
  return write->parent()->AddInstruction(write->CloneWithNewOperands(write->shape(), operands));
}

}  // namespace

// A choice between an array and what a write makes of it, as a write of what is chosen: the array
// itself is not gone through, and stays where it lies.
absl::StatusOr<HloInstruction*> MaskedUpdates(HloInstruction* root) {
  if (!emit::Free(*root) || root->operand_count() != 3 || IsInOneKernel(*root->parent())) {
    return nullptr;
  }
  for (const bool taken : {true, false}) {
    HloInstruction* const write = root->mutable_operand(taken ? 1 : 2);
    const HloInstruction* const array = root->operand(taken ? 2 : 1);
    if (write->operand_count() < 2 || write->operand(0) != array || !emit::Free(*write) ||
        write->user_count() != 1) {
      continue;
    }
    const std::optional<Mask> mask = MaskOf(root->mutable_operand(0));
    if (!mask) continue;
    if (write->opcode() == HloOpcode::kScatter) {
      return OfScatter(xla::Cast<xla::HloScatterInstruction>(write), *mask, taken);
    }
    if (write->opcode() == HloOpcode::kDynamicUpdateSlice) return OfBlock(write, *mask, taken);
  }
  return nullptr;
}

}  // namespace hone::compiler
