// Concatenations and pads as kernels of their own.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_CONCATENATIONS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_CONCATENATIONS_H_

#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

// Whether XLA:CPU may compute a value anew within what uses it.
bool OthersMayTakeItIn(const xla::HloInstruction& value);

// A concatenation or pad as a kernel of its own, with the slices that it takes parts by.
xla::HloInstruction* ConcatenationKernel(xla::HloInstruction* root);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_CONCATENATIONS_H_
