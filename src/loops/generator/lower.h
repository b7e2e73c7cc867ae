// From `linalg` on tensors and a transform script to the LLVM dialect, in four stages.
#ifndef HONE_LOOPS_GENERATOR_LOWER_H_
#define HONE_LOOPS_GENERATOR_LOWER_H_

#include <mlir/IR/BuiltinOps.h>
#include <mlir/IR/PatternMatch.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/result.h"

namespace hone::loops {

// A loop whose iterations processors may share, taken out of @task: @task calls hone_parallel_I,
// which is only declared, with the runner and the values that the loop needs; hone_part_I does one
// iteration.
struct ParallelLoop {
  int64_t iterations = 0;
};

// 1. The schedule: the script is applied; nests of the `vectorized` sites become vectors; values
// that a loop carries stay in registers.
Status Restructure(mlir::ModuleOp module, const std::string& script,
                   const std::vector<std::string>& vectorized,
                   const std::vector<std::pair<std::string, int64_t>>& unrolled);

// 2. Tensors become buffers, allocated and freed in the block that needs them.
Status Bufferize(mlir::ModuleOp module);

// 3. @task gets a runner, a number, before its other arguments. Parallel loops are taken out; those
// that a schedule calls sequential become plain loops.
StatusOr<std::vector<ParallelLoop>> TakeOutParallelLoops(mlir::ModuleOp module);

// Functions of doubles, for stage 4.
void AddFormulasOfDoubles(mlir::RewritePatternSet& patterns);

// 4. Everything to the LLVM dialect. Buffers are bare pointers in calls.
Status LowerToLlvm(mlir::ModuleOp module);

}  // namespace hone::loops

#endif  // HONE_LOOPS_GENERATOR_LOWER_H_
