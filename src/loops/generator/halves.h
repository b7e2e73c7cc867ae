// What is computed of f16, on processors that only convert it.
#ifndef HONE_LOOPS_GENERATOR_HALVES_H_
#define HONE_LOOPS_GENERATOR_HALVES_H_

#include <llvm/IR/PassManager.h>

namespace hone::loops {

// LLVM narrows maxima, minima and comparisons of widened f16 to f16, where they mean the same. A
// processor without arithmetic of f16 then takes vectors apart for them, element by element, which
// is 15 to 25 times as slow. Done in f32 again they are vectors.
struct WidenHalves : llvm::PassInfoMixin<WidenHalves> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_GENERATOR_HALVES_H_
