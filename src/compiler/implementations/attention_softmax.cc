#include "compiler/implementations/attention_softmax.h"

#include "absl/algorithm/container.h"
#include "compiler/implementations/emit.h"
#include "xla/hlo/ir/hlo_instructions.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;
using Sizes = std::vector<int64_t>;

constexpr int64_t kLeastQueries = 4;

}  // namespace

bool IsAttentionDot(const HloInstruction& dot) {
  if (dot.opcode() != HloOpcode::kDot || !emit::Free(dot) || dot.operand_count() != 2) return false;
  const auto& numbers = dot.dot_dimension_numbers();
  const xla::PrimitiveType type = KernelType(dot.shape().element_type());
  return numbers.lhs_contracting_dimensions_size() == 1 && IsArray(dot.shape()) &&
         (type == xla::F32 || type == xla::F64) && MayBeUnrounded(dot) &&
         KernelType(dot.operand(0)->shape().element_type()) == type &&
         KernelType(dot.operand(1)->shape().element_type()) == type &&
         IsArray(dot.operand(0)->shape()) && IsArray(dot.operand(1)->shape());
}

bool AttentionSoftmax::FindDimensions() {
  const auto size = static_cast<int64_t>(weights_->shape().dimensions().size());
  if (!IsAttentionDot(*product_) || emit::Product(emit::SizesOf(*weights_)) < kLeastElements)
    return false;
  const auto& numbers = product_->dot_dimension_numbers();
  keys_ =
      number_ == 0 ? numbers.lhs_contracting_dimensions(0) : numbers.rhs_contracting_dimensions(0);
  const auto& batches =
      number_ == 0 ? numbers.lhs_batch_dimensions() : numbers.rhs_batch_dimensions();
  queries_ = -1;
  for (int64_t d = 0; d < size; ++d) {
    if (d == keys_ || absl::c_linear_search(batches, d)) continue;
    if (queries_ < 0 || SizeOf(d) >= SizeOf(queries_)) queries_ = d;
  }
  if (queries_ < 0 || SizeOf(queries_) < kLeastQueries || SizeOf(keys_) < 2) return false;
  for (int64_t d = 0; d < size; ++d) {
    if (d != keys_ && d != queries_ && SizeOf(d) != 1) order_.push_back(d);
  }
  order_.push_back(queries_);
  order_.push_back(keys_);
  return rank() <= kMostKernelRank;
}

Sizes AttentionSoftmax::FullSizes() const {
  Sizes sizes;
  for (const int64_t d : order_) sizes.push_back(SizeOf(d));
  return sizes;
}

View AttentionSoftmax::OperandOf(const View& view, int64_t number) {
  return PastRounding(view.value->operand(number), view.dimensions, &path_);
}

std::optional<View> AttentionSoftmax::RowOf(const View& spread, HloOpcode opcode) {
  const HloInstruction* const reduce = spread.value;
  if (reduce->opcode() != HloOpcode::kReduce || reduce->operand_count() != 2 ||
      !emit::Free(*reduce) || emit::ReducerOpcode(*reduce->to_apply()) != opcode ||
      !emit::IsIdentity(*reduce->operand(1), opcode)) {
    return std::nullopt;
  }
  Sizes dimensions;
  size_t kept = 0;
  int counted = 0;
  for (int64_t d = 0; d < static_cast<int64_t>(reduce->operand(0)->shape().dimensions().size());
       ++d) {
    const bool one = reduce->operand(0)->shape().dimensions(d) == 1;
    if (!absl::c_linear_search(reduce->dimensions(), d)) {
      dimensions.push_back(spread.dimensions[kept++]);
    } else {
      dimensions.push_back(one ? -1 : keys_);
      counted += one ? 0 : 1;
    }
  }
  if (counted != 1) return std::nullopt;
  within_.insert(reduce);
  return PastRounding(reduce->operand(0), dimensions, &path_);
}

std::optional<View> AttentionSoftmax::Softmax() {
  Sizes dimensions;
  for (size_t d = 0; d < weights_->shape().dimensions().size(); ++d) {
    dimensions.push_back(SizeOf(static_cast<int64_t>(d)) == 1 ? -1 : static_cast<int64_t>(d));
  }
  const View share = PastRounding(weights_, dimensions, &path_);
  if (!Is(share, HloOpcode::kDivide)) return std::nullopt;
  const View grown = OperandOf(share, 0);
  if (!Is(grown, HloOpcode::kExp) || RowOf(OperandOf(share, 1), HloOpcode::kAdd) != grown) {
    return std::nullopt;
  }
  const View less = OperandOf(grown, 0);
  if (!Is(less, HloOpcode::kSubtract)) return std::nullopt;
  const View before = OperandOf(less, 0);
  if (RowOf(OperandOf(less, 1), HloOpcode::kMaximum) != before) return std::nullopt;
  return before;
}

bool AttentionSoftmax::Is(const View& view, HloOpcode opcode) {
  within_.insert(view.value);
  return view.value->opcode() == opcode && emit::Free(*view.value) && IsWhole(view);
}

}  // namespace hone::compiler
