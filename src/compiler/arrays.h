// A module as the arrays that graph networks read.
#ifndef HONE_COMPILER_ARRAYS_H_
#define HONE_COMPILER_ARRAYS_H_

#include "core/program_arrays.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

ProgramArrays ArraysOf(const xla::HloModule& module);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_ARRAYS_H_
