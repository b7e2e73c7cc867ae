// What instructions take, about.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_WORK_H_
#define HONE_COMPILER_IMPLEMENTATIONS_WORK_H_

#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/shape.h"

namespace hone::compiler {

// Whether its value follows from its operands', wherever and however often it is computed.
bool IsPure(const xla::HloInstruction& one);

// Of a tuple the most of one part.
double MostElements(const xla::Shape& shape);

// Operations. What only moves elements is fused with what takes them.
double WorkOf(const xla::HloInstruction& one);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_WORK_H_
