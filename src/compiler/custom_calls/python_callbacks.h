// What stands in for Python where a program calls back into it: no worker runs a user's functions.
#ifndef HONE_COMPILER_CUSTOM_CALLS_PYTHON_CALLBACKS_H_
#define HONE_COMPILER_CUSTOM_CALLS_PYTHON_CALLBACKS_H_

#include "xla/ffi/api/ffi.h"

namespace hone::compiler {

// Answers the same to the same operands, and nearly the same to nearly the same: a result is the
// first operand of its type and size; where there is none, all its elements are the mean of the
// operands' real floating-point elements, and of integers 0.
xla::ffi::Error AnswerForPython(const xla::ffi::RemainingArgs& operands,
                                const xla::ffi::RemainingRets& results);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_CUSTOM_CALLS_PYTHON_CALLBACKS_H_
