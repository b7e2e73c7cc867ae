// Stand-in: see README.md.
#ifndef MLIR_IR_MLIRCONTEXT_H
#define MLIR_IR_MLIRCONTEXT_H

namespace mlir {
class MLIRContext;
}  // namespace mlir

#endif  // MLIR_IR_MLIRCONTEXT_H
