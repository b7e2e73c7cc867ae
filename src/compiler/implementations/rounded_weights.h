// Where products' operands are rounded: where it costs least, as it does not matter for the values.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_ROUNDED_WEIGHTS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_ROUNDED_WEIGHTS_H_

#include <vector>

#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hone::compiler {

std::vector<xla::HloOpcode> RoundedWeightsRoots();

// Of one of these roots: what is rounded behind a transpose, rounded before it, so that products
// read the array as it lies; a slice of what is rounded, rounded afterwards; and a loop before
// which whole stacks of weights are rounded that its body slices, with the roundings in the body.
// (XLA:CPU carries what a loop slices in f32: it would round the stack, widen it, and round each
// slice once more.) Null elsewhere.
xla::HloInstruction* RoundedElsewhere(xla::HloInstruction* root);

// Whether a value is sliced in the body of a loop that RoundedElsewhere applies to: products of it
// are better made afterwards.
bool IsToBeRoundedWithin(const xla::HloInstruction& value);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_ROUNDED_WEIGHTS_H_
