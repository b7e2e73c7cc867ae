// Parts of products in counted loops.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_LOOP_DOT_PARTS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_LOOP_DOT_PARTS_H_

#include "compiler/implementations/counted_loop.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

// A dot, in the body, of a concatenation of rows that the loop reads, and of other arrays, with
// what is the same in all trips: the sum of a dot for each. Null for any other.
xla::HloInstruction* DotByParts(CountedLoop& loop, xla::HloInstruction* dot);

// A slice, in the body, of a dot with what is the same in all trips, where one of the dot's slices
// is only written: a dot with the columns alone. Null for any other.
xla::HloInstruction* SliceOfDotByParts(CountedLoop& loop, xla::HloInstruction* slice);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_LOOP_DOT_PARTS_H_
