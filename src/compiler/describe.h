// The neutral picture of a module (core/program_graph.h).
#ifndef HONE_COMPILER_DESCRIBE_H_
#define HONE_COMPILER_DESCRIBE_H_

#include "core/program_graph.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

ProgramGraph Describe(const xla::HloModule& module);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_DESCRIBE_H_
