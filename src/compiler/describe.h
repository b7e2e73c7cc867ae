// The neutral picture of a module (core/program_graph.h).
#ifndef HONE_COMPILER_DESCRIBE_H_
#define HONE_COMPILER_DESCRIBE_H_

#include <cstdint>

#include "core/program_graph.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

// Values of constants of more elements are left out.
inline constexpr int64_t kLargestLiteral = 16;

// Computations in MakeComputationPostOrder, their instructions in MakeInstructionPostOrder.
ProgramGraph Describe(const xla::HloModule& module);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_DESCRIBE_H_
