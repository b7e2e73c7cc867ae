// From the LLVM dialect to machine code of this processor.
#ifndef HONE_LOOPS_GENERATOR_NATIVE_H_
#define HONE_LOOPS_GENERATOR_NATIVE_H_

#include <mlir/IR/BuiltinOps.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "loops/generator/lower.h"

namespace hone::loops {

struct MachineCode {
  std::string object;    // ELF, relocatable
  std::string assembly;  // where it was asked for
};

StatusOr<MachineCode> MakeMachineCode(mlir::ModuleOp module, size_t buffers,
                                      const std::vector<ParallelLoop>& loops, bool assembly);

}  // namespace hone::loops

#endif  // HONE_LOOPS_GENERATOR_NATIVE_H_
