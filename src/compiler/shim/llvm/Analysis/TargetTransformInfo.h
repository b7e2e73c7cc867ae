// A stand-in for LLVM's header: XLA's target_machine_features.h has a map of these as a member. Only
// the size matters (one owning pointer); hone never makes or reads one.
#ifndef HONE_COMPILER_SHIM_LLVM_ANALYSIS_TARGETTRANSFORMINFO_H_
#define HONE_COMPILER_SHIM_LLVM_ANALYSIS_TARGETTRANSFORMINFO_H_

namespace llvm {
class Function;
class TargetTransformInfo {
 public:
  TargetTransformInfo(TargetTransformInfo&&);
  ~TargetTransformInfo();

 private:
  void* implementation_;
};
}  // namespace llvm

#endif  // HONE_COMPILER_SHIM_LLVM_ANALYSIS_TARGETTRANSFORMINFO_H_
