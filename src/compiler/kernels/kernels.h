// A compiler that remembers kernels. Nearly all of a compilation makes machine code, and between
// two programs that a search tries most kernels are the same: their code is kept by what they
// compute and put in where it is wanted again, under the name that it has there.
//
// XLA:CPU makes a kernel in two steps, FusionCompiler::Compile (MLIR to LLVM) and IrCompiler (LLVM
// to an object file). Both are taken over, as sites/intercept.h has it. A kernel whose MLIR is
// known goes on as an LLVM module without content, which stands for it until the object is asked
// for. One known kernel in a hundred is compiled all the same and compared.
#ifndef HONE_COMPILER_KERNELS_KERNELS_H_
#define HONE_COMPILER_KERNELS_KERNELS_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace hone::compiler {

// Counts of this process, since it was started.
struct KernelCounts {
  int64_t compiled = 0;  // by XLA, those that were checked included
  int64_t reused = 0;
  int64_t from_files = 0;  // kernels that were read from a folder, and are in memory since
  int64_t checked = 0;
  int64_t differed = 0;  // of the checked: other code than was kept, which is used no more
};
KernelCounts CountsOfKernels();

// Bytes of object code that the process keeps, 0 for none; not during a compilation.
void SetKernelMemory(size_t bytes);

// Object code is also taken from files in this folder, and added to them, for other processes:
// those of the same hone-worker and XLA on a processor of the same kind. Where the folder cannot be
// had the process goes without. Before it is locked up, and before the first compilation.
void ShareKernels(const std::string& folder);

// A number for whoever decides on code beside a program and a plan: this program, XLA, the
// processor.
uint64_t MakersOfKernels();

// While it lives, kernels are remembered, under a number for all that decides on code beside the
// kernel itself: the quality of optimisation, flags. One under another number waits for it.
class RememberKernels {
 public:
  explicit RememberKernels(uint64_t configuration);
  ~RememberKernels();
  RememberKernels(const RememberKernels&) = delete;
  RememberKernels& operator=(const RememberKernels&) = delete;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_KERNELS_KERNELS_H_
