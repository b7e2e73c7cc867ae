// The context that XLA's analyses of index expressions take.
#ifndef HONE_COMPILER_GPU_MLIR_CONTEXT_H_
#define HONE_COMPILER_GPU_MLIR_CONTEXT_H_

#include <new>

#include "mlir/IR/MLIRContext.h"

namespace hone::compiler::gpu {

// XLA's exported constructor, whose header needs MLIR's: MLIRContext(Threading).
void ConstructMlirContext(void* storage, int threading)
    asm("_ZN4mlir11MLIRContextC1ENS0_9ThreadingE");

// Without threads; made once and kept.
inline mlir::MLIRContext* MlirContext() {
  static auto* const context = [] {
    void* const storage = ::operator new(4096);  // it is one pointer wide
    ConstructMlirContext(storage, /*threading=*/0);
    return static_cast<mlir::MLIRContext*>(storage);
  }();
  return context;
}

}  // namespace hone::compiler::gpu

#endif  // HONE_COMPILER_GPU_MLIR_CONTEXT_H_
