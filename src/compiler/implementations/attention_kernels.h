// Attention as a kernel of hone-loops: two products with a softmax between them, which XLA:CPU
// makes the whole matrix of scores for.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_ATTENTION_KERNELS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_ATTENTION_KERNELS_H_

#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

// A call in the place of a product softmax(f(q kT)) v, or of the transpose of one, where f is
// elementwise, with constants and arrays that do not depend on the scores (scales, biases, masks),
// and nothing else needs what is between; null where `root` is none. A causal mask that is made of
// counters becomes part of the kernel, which then leaves out what no query sees; other masks are
// handed to it as arrays.
xla::HloInstruction* AttentionCall(xla::HloInstruction* root);

// Whether it is the softmax of such.
bool IsOfAttention(const xla::HloInstruction& softmax);

// Whether it is one of the two products of such.
bool BelongsToAttention(const xla::HloInstruction& dot);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_ATTENTION_KERNELS_H_
