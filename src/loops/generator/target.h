// This machine's processor, as LLVM generates code for it.
#ifndef HONE_LOOPS_GENERATOR_TARGET_H_
#define HONE_LOOPS_GENERATOR_TARGET_H_

#include <llvm/Target/TargetMachine.h>

#include <memory>

namespace hone::loops {

std::unique_ptr<llvm::TargetMachine> MakeTarget();

}  // namespace hone::loops

#endif  // HONE_LOOPS_GENERATOR_TARGET_H_
