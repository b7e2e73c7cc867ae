// The softmax between the two products of attention, and its dimensions: queries, keys, and those
// that lead.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_ATTENTION_SOFTMAX_H_
#define HONE_COMPILER_IMPLEMENTATIONS_ATTENTION_SOFTMAX_H_

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "absl/algorithm/container.h"
#include "compiler/implementations/causal.h"
#include "compiler/implementations/kernel_parts.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

// Whether it may be one of the products, by its types and dimensions.
bool IsAttentionDot(const xla::HloInstruction& dot);

// Finds it, for what reads the rest. Views count their dimensions by the softmax's, as the second
// product takes it.
class AttentionSoftmax {
 protected:
  // `product` is the second one, with the softmax its operand of that number.
  AttentionSoftmax(xla::HloInstruction* product, int number)
      : product_(product), weights_(product->operand(number)), number_(number) {}

  // Which dimensions are queries and keys; the others lead.
  bool FindDimensions();
  // What the weights are the softmax of.
  std::optional<View> Softmax();

  xla::PrimitiveType type() const { return KernelType(product_->shape().element_type()); }
  size_t rank() const { return order_.size(); }
  int64_t SizeOf(int64_t dimension) const { return weights_->shape().dimensions(dimension); }
  // The place of a dimension in the task's order.
  int64_t PlaceOf(int64_t dimension) const {
    return absl::c_find(order_, dimension) - order_.begin();
  }
  std::vector<int64_t> FullSizes() const;
  bool IsWhole(const View& view) const {
    return view.dimensions.size() - absl::c_count(view.dimensions, -1) == rank();
  }
  // Of an operand that is as large as what it is an operand of.
  View OperandOf(const View& view, int64_t number);

  xla::HloInstruction* const product_;
  const xla::HloInstruction* const weights_;
  const int number_;
  int64_t queries_ = -1, keys_ = -1;  // dimensions
  std::vector<int64_t> order_;        // the dimensions as the task has them
  // What was found to be part of it, and what was passed by between.
  std::set<const xla::HloInstruction*> within_, path_;

 private:
  // What a sum or maximum over the keys, that stands beside each of them again, is of.
  std::optional<View> RowOf(const View& spread, xla::HloOpcode opcode);
  bool Is(const View& view, xla::HloOpcode opcode);
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_ATTENTION_SOFTMAX_H_
