// A stand-in for LLVM's header: XLA's target_machine_features.h passes these around by pointer. hone
// gets one from XLA's IrCompiler (passes/host_target.h), never looks inside and never deletes it.
#ifndef HONE_COMPILER_SHIM_LLVM_TARGET_TARGETMACHINE_H_
#define HONE_COMPILER_SHIM_LLVM_TARGET_TARGETMACHINE_H_

namespace llvm {
class TargetMachine {
 public:
  virtual ~TargetMachine();
};
}  // namespace llvm

#endif  // HONE_COMPILER_SHIM_LLVM_TARGET_TARGETMACHINE_H_
