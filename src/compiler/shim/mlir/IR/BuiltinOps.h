// Stands in for MLIR's header, which the wheel lacks: XLA's PJRT headers pass mlir::ModuleOp by
// value in signatures that hone never calls, and it is one pointer wide.
#pragma once
namespace mlir {
class ModuleOp {
  void* impl_ = nullptr;
};
class MLIRContext;
}  // namespace mlir
