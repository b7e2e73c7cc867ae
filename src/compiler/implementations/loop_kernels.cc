#include "compiler/implementations/loop_kernels.h"

#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/implementations/attention_kernels.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/kernel_parts.h"
#include "compiler/implementations/neighbourhood.h"
#include "compiler/implementations/running_kernels.h"
#include "compiler/implementations/task_text.h"
#include "compiler/native/kernels.h"
#include "core/native_kernel.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/layout_util.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;
using Sizes = std::vector<int64_t>;

// The nearest space that an instruction is computed in.
std::optional<Space> FindSpace(HloInstruction* root) {
  std::deque<HloInstruction*> next = {root};
  std::set<HloInstruction*> seen = {root};
  while (!next.empty() && seen.size() < kMostKernelNodes) {
    HloInstruction* instruction = next.front();
    next.pop_front();
    if (std::optional<Space> space = SpaceOf(*instruction)) {
      if (space->columns && Squeezed(root->shape()) != space->kept) continue;
      return space->Has(root->shape()) ? space : std::nullopt;
    }
    if (!IsElementwise(instruction->opcode()) && !IsFree(*instruction)) continue;
    for (HloInstruction* operand : instruction->operands()) {
      if (seen.insert(operand).second) next.push_back(operand);
    }
  }
  return std::nullopt;
}

// The largest whole number up to which f32 has all.
constexpr int64_t kMostWhole = int64_t{1} << 24;

// Whether it counts along a dimension, and not too far for f32, nor for its own type.
bool IsCounter(const HloInstruction& value) {
  if (value.opcode() == HloOpcode::kBroadcast || IsIdentity(value)) {
    return IsCounter(*value.operand(0));
  }
  if (value.opcode() != HloOpcode::kIota) return false;
  const xla::PrimitiveType type = value.shape().element_type();
  const int bits = xla::primitive_util::BitWidth(type) -
                   (xla::primitive_util::IsSignedIntegralType(type) ? 1 : 0);
  const int64_t most = bits < 24 ? int64_t{1} << bits : kMostWhole;
  return value.shape().dimensions(xla::Cast<xla::HloIotaInstruction>(&value)->iota_dimension()) <=
         most;
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

// What is compared with a counter, in floats: a counter, a number, or what is spread.
HloInstruction* InFloats(HloInstruction* value, xla::PrimitiveType type) {
  const Sizes sizes = emit::SizesOf(*value);
  if (const std::optional<double> number = NumberOf(*value)) {
    if (std::fabs(*number) > static_cast<double>(kMostWhole)) return nullptr;
    return emit::Broadcast(emit::Number(value->parent(), type, static_cast<int64_t>(*number)),
                           sizes, {});
  }
  if (value->opcode() == HloOpcode::kIota) {
    const int64_t along = xla::Cast<xla::HloIotaInstruction>(value)->iota_dimension();
    return emit::Broadcast(emit::Iota(value->parent(), type, {sizes[along]}, 0), sizes, {along});
  }
  if (IsIdentity(*value) && IsCounter(*value)) {
    return emit::Reshape(InFloats(value->mutable_operand(0), type), sizes);
  }
  if (value->opcode() != HloOpcode::kBroadcast) return nullptr;
  HloInstruction* const from = value->mutable_operand(0);
  return emit::Broadcast(IsCounter(*from) ? InFloats(from, type) : emit::Convert(from, type), sizes,
                         value->dimensions());
}

// A comparison of integers with a counter as one of floats, which kernels compute in passing: the
// floats up to the counter's last are exact, and those of larger integers are larger.
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

// What is scattered over zeros, one element a row, as the gradient of a lookup along rows: chosen
// by its place, which kernels compute in passing. Null elsewhere.
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
  HloInstruction* const here = emit::Compare(
      xla::ComparisonDirection::kEq, spread(emit::Convert(places, type)),
      emit::Broadcast(emit::Iota(root->parent(), type, {sizes[along]}, 0), sizes, {along}));
  return emit::Select(here, spread(values), root->mutable_operand(0));
}

// The value of `NAME = "..."` in a call's attributes; empty where there is none.
std::string AttributeOf(const std::string& attributes, const char* name) {
  const std::string begin = absl::StrCat(name, " = \"");
  const size_t at = attributes.find(begin);
  if (at == std::string::npos) return "";
  const size_t end = attributes.find('"', at + begin.size());
  if (end == std::string::npos) return "";
  return attributes.substr(at + begin.size(), end - at - begin.size());
}

}  // namespace

std::vector<HloOpcode> LoopKernelsRoots() {
  return ElementwiseOpcodesAnd({HloOpcode::kReduce, HloOpcode::kDot, HloOpcode::kTranspose,
                                HloOpcode::kReduceWindow, HloOpcode::kCompare,
                                HloOpcode::kScatter});
}

absl::StatusOr<HloInstruction*> LoopKernels(HloInstruction* root) {
  if (!IsArray(root->shape()) || PastLeast(*root) >= 0) return nullptr;
  if (root->opcode() == HloOpcode::kDot || root->opcode() == HloOpcode::kTranspose) {
    return IsInOneKernel(*root->parent()) ? nullptr : AttentionCall(root);
  }
  if (root->opcode() == HloOpcode::kReduceWindow) return RunningCall(root);
  if (root->opcode() == HloOpcode::kCompare) return ComparedInFloats(root);
  if (root->opcode() == HloOpcode::kScatter) return ChosenByPlace(root);
  if (HloInstruction* const scatter = ScatteredOnto(root)) return scatter;
  if (IsForFew(*root)) return nullptr;
  const std::optional<Space> space = FindSpace(root);
  if (!space || !Fits(*root, *space) || emit::Product(space->full) < kLeastElements) return nullptr;
  const Neighbourhood neighbourhood = Grow(root, *space);
  if (!neighbourhood.reduces || neighbourhood.nodes.size() >= kMostKernelNodes) return nullptr;
  // XLA reduces all of an array well that is in memory already.
  if (space->kept.empty() && !neighbourhood.computes) return nullptr;
  if (IsTakenIn(root, *space) || IsInOneKernel(*root->parent())) return nullptr;
  if (IsOfAttention(*root)) return nullptr;
  return CallWith(root, neighbourhood, *space);
}

absl::StatusOr<std::vector<std::string>> MissingKernels(const xla::HloModule& module) {
  std::set<std::string> tasks;
  for (const xla::HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (!instruction->IsCustomCall(loops::kKernelCall)) continue;
      const std::string& attributes = instruction->raw_backend_config_string();
      const std::string task = AttributeOf(attributes, loops::kKernelTask);
      const std::string name = AttributeOf(attributes, loops::kKernelName);
      if (task.empty() || name != loops::KernelName(task)) {
        return absl::InvalidArgumentError(
            absl::StrCat("the custom call hone_loops ", instruction->name(),
                         " does not tell what it computes, or has another kernel's name"));
      }
      if (native::FindKernel(name) == nullptr) tasks.insert(task);
    }
  }
  return std::vector<std::string>(tasks.begin(), tasks.end());
}

}  // namespace hone::compiler
