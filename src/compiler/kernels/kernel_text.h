// The code of one kernel, as XLA prints it, without the names that its program gave it: kernels
// that compute the same have the same text, whatever they are called and wherever they stand.
#ifndef HONE_COMPILER_KERNELS_KERNEL_TEXT_H_
#define HONE_COMPILER_KERNELS_KERNEL_TEXT_H_

#include <optional>
#include <string>
#include <string_view>

namespace hone::compiler {

struct KernelText {
  std::string text;      // without names and locations
  std::string function;  // the one that the program calls
  std::string module;    // the name of what was printed; as MLIR's symbol or LLVM's identifier
};

// Of a module as the fusion emitters make it, printed by MLIR. Nothing where it has not exactly one
// function to be called.
std::optional<KernelText> ReadMlirKernel(std::string_view printed);

// Of a module as LLVM prints it; likewise.
std::optional<KernelText> ReadLlvmKernel(std::string_view printed);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_KERNELS_KERNEL_TEXT_H_
