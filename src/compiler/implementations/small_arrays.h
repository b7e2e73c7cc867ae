// One element read from, or written to, one of a few places: by selecting among all.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_SMALL_ARRAYS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_SMALL_ARRAYS_H_

#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

// A gather along one dimension of up to 8 places, each index one place. Null for others.
xla::HloInstruction* SmallGather(xla::HloInstruction* root);

// A scatter of one element (or row, or one for each of a batch) along one dimension of up to 16
// places. XLA:CPU makes a loop of every scatter. Null for others.
xla::HloInstruction* SmallScatter(xla::HloInstruction* root);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_SMALL_ARRAYS_H_
