#include "compiler/implementations/places.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/kernel_parts.h"
#include "compiler/implementations/neighbourhood.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/primitive_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;
using Sizes = std::vector<int64_t>;

// The largest whole number up to which f32 has all.
constexpr int64_t kMostWhole = int64_t{1} << 24;

// Whether it counts along a dimension, and not too far for f32, nor for its own type.
bool IsCounter(const HloInstruction& value) {
  if (value.opcode() == HloOpcode::kBroadcast || IsIdentity(value)) {
    return IsCounter(*value.operand(0));
  }
  if (value.opcode() != HloOpcode::kIota) return false;
  const int64_t last =
      value.shape().dimensions(xla::Cast<xla::HloIotaInstruction>(&value)->iota_dimension()) - 1;
  return last < kMostWhole && last <= emit::LargestOf(value.shape().element_type());
}

// The floats that are computed with a predicate, perhaps past further logic; nothing where none
// are.
std::optional<xla::PrimitiveType> TakenBy(const HloInstruction& predicate, int levels = 4) {
  for (const HloInstruction* user : predicate.users()) {
    if (user->shape().element_type() == xla::PRED) {
      if (levels == 0) continue;
      if (const auto type = TakenBy(*user, levels - 1)) return type;
    } else if (user->opcode() == HloOpcode::kConvert ||
               (user->opcode() == HloOpcode::kSelect && user->operand(0) == &predicate)) {
      const xla::PrimitiveType type = KernelType(user->shape().element_type());
      if (type == xla::F32 || type == xla::F64) return type;
    }
  }
  return std::nullopt;
}

// What counts along a dimension, of an array that need not lie in memory.
HloInstruction* Counter(xla::HloComputation* computation, xla::PrimitiveType type,
                        const Sizes& sizes, int64_t along) {
  return emit::Broadcast(emit::Iota(computation, type, {sizes[along]}, 0), sizes, {along});
}

// What is compared with a counter, in floats: a counter, a number, or what is spread.
HloInstruction* InFloats(HloInstruction* value, xla::PrimitiveType type) {
  const Sizes sizes = emit::SizesOf(*value);
  if (const std::optional<double> number = NumberOf(*value)) {
    if (std::fabs(*number) > static_cast<double>(kMostWhole)) return nullptr;
    return emit::Broadcast(emit::Number(value->parent(), type, static_cast<int64_t>(*number)),
                           sizes, {});
  }
  if (value->opcode() == HloOpcode::kIota) {
    return Counter(value->parent(), type, sizes,
                   xla::Cast<xla::HloIotaInstruction>(value)->iota_dimension());
  }
  if (IsIdentity(*value) && IsCounter(*value)) {
    return emit::Reshape(InFloats(value->mutable_operand(0), type), sizes);
  }
  if (value->opcode() != HloOpcode::kBroadcast) return nullptr;
  HloInstruction* const from = value->mutable_operand(0);
  return emit::Broadcast(IsCounter(*from) ? InFloats(from, type) : emit::Convert(from, type), sizes,
                         value->dimensions());
}

}  // namespace

HloInstruction* ComparedInFloats(HloInstruction* compare) {
  HloInstruction *const a = compare->mutable_operand(0), *const b = compare->mutable_operand(1);
  if (!xla::primitive_util::IsIntegralType(a->shape().element_type()) || !emit::Free(*compare) ||
      (!IsCounter(*a) && !IsCounter(*b)) ||
      emit::Product(emit::SizesOf(*compare)) < kLeastElements) {
    return nullptr;
  }
  const std::optional<xla::PrimitiveType> type = TakenBy(*compare);
  if (!type) return nullptr;
  HloInstruction* const x = InFloats(a, *type);
  HloInstruction* const y = x == nullptr ? nullptr : InFloats(b, *type);
  if (y == nullptr) return nullptr;
  return emit::Compare(compare->comparison_direction(), x, y);
}

HloInstruction* ChosenByPlace(HloInstruction* root) {
  const auto* const scatter = xla::Cast<xla::HloScatterInstruction>(root);
  if (root->operand_count() != 3 || !emit::Free(*root) || IsTakenFromMemory(*root) ||
      ConstantOf(*root->operand(0)) != 0.0 ||
      emit::ReducerOpcode(*root->to_apply()) != HloOpcode::kAdd) {
    return nullptr;
  }
  const xla::PrimitiveType type = KernelType(root->shape().element_type());
  const xla::ScatterDimensionNumbers& numbers = scatter->scatter_dimension_numbers();
  const Sizes sizes = emit::SizesOf(*root);
  const Sizes rows(numbers.input_batching_dims().begin(), numbers.input_batching_dims().end());
  const auto& of_indices = numbers.scatter_indices_batching_dims();
  if ((type != xla::F32 && type != xla::F64) || numbers.update_window_dims_size() != 0 ||
      numbers.inserted_window_dims_size() != 1 ||
      numbers.scatter_dims_to_operand_dims_size() != 1 || rows.size() + 1 != sizes.size() ||
      !absl::c_is_sorted(rows) || !absl::c_is_sorted(of_indices) ||
      emit::Product(sizes) < kLeastElements) {
    return nullptr;
  }
  const int64_t along = numbers.inserted_window_dims(0);
  Sizes row_sizes;
  for (const int64_t d : rows) row_sizes.push_back(sizes[d]);
  // One place each, and places in a type that has them all.
  HloInstruction *const places = root->mutable_operand(1), *const values = root->mutable_operand(2);
  if (numbers.scatter_dims_to_operand_dims(0) != along || sizes[along] > kMostWhole ||
      emit::Product(emit::SizesOf(*values)) != emit::Product(row_sizes) ||
      emit::Product(emit::SizesOf(*places)) != emit::Product(row_sizes)) {
    return nullptr;
  }
  const auto spread = [&](HloInstruction* of_rows) {
    return emit::Broadcast(emit::Reshape(of_rows, row_sizes), sizes, rows);
  };
  HloInstruction* const here =
      emit::Compare(xla::ComparisonDirection::kEq, spread(emit::Convert(places, type)),
                    Counter(root->parent(), type, sizes, along));
  return emit::Select(here, spread(values), root->mutable_operand(0));
}

HloInstruction* ScatteredOnto(HloInstruction* add) {
  if (add->opcode() != HloOpcode::kAdd || !emit::Free(*add)) return nullptr;
  for (const int i : {0, 1}) {
    const HloInstruction* const scatter = add->operand(i);
    if (scatter->opcode() != HloOpcode::kScatter || scatter->operand_count() != 3 ||
        scatter->user_count() != 1 || !emit::Free(*scatter) ||
        ConstantOf(*scatter->operand(0)) != 0.0 ||
        emit::ReducerOpcode(*scatter->to_apply()) != HloOpcode::kAdd) {
      continue;
    }
    return add->parent()->AddInstruction(scatter->CloneWithNewOperands(
        scatter->shape(), {add->mutable_operand(1 - i), add->mutable_operand(i)->mutable_operand(1),
                           add->mutable_operand(i)->mutable_operand(2)}));
  }
  return nullptr;
}

}  // namespace hone::compiler
