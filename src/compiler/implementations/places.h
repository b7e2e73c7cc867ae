// What is chosen by its place along a dimension (labels, lookups and their gradients), in forms
// that kernels compute in passing. Each is null where there is nothing to change.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_PLACES_H_
#define HONE_COMPILER_IMPLEMENTATIONS_PLACES_H_

#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

// A comparison of integers with a counter as one of floats: the floats up to the counter's last are
// exact, and those of larger integers are larger.
xla::HloInstruction* ComparedInFloats(xla::HloInstruction* compare);

// What is scattered over zeros, one element a row, as the gradient of a lookup along rows: chosen
// by its place.
xla::HloInstruction* ChosenByPlace(xla::HloInstruction* scatter);

// A sum with what is scattered over zeros, as the gradient of a table that is looked up in and also
// multiplied with: scattered over the other term, without an array of zeros.
xla::HloInstruction* ScatteredOnto(xla::HloInstruction* add);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_PLACES_H_
