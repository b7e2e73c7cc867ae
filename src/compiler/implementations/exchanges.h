// Rows that an LU decomposition exchanged, as a permutation.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_EXCHANGES_H_
#define HONE_COMPILER_IMPLEMENTATIONS_EXCHANGES_H_

#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

// Of a loop that makes the permutation, for each of a batch, by exchanging elements 0, 1 and so on
// with those that the pivots tell: a tuple of what the loop ends with, the permutation made by a
// kernel of hone-loops. Null where `loop` is something else, and for few rows and long ones.
xla::HloInstruction* ExchangesCall(xla::HloInstruction* loop);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_EXCHANGES_H_
