// The little of LLVM and MLIR that remembering kernels needs, by exported functions: the wheel has
// their code but not their headers. What is passed by value or returned is laid out by the Itanium
// C++ ABI.
#ifndef HONE_COMPILER_KERNELS_LLVM_H_
#define HONE_COMPILER_KERNELS_LLVM_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace hone::compiler::llvm_module {

// absl::StatusOr<std::unique_ptr<llvm::Module>>.
struct StatusOrModule {
  uintptr_t status;
  void* module;
};
constexpr uintptr_t kOk = 1;  // as absl::Status has it

// llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>, of a build without checks of its own.
struct ExpectedBuffer {
  void* buffer;  // or an error
  uint8_t bits;  // the lowest: whether it is an error; nobody sets the others
  bool failed() const { return (bits & 1) != 0; }
};

// An llvm::Module or nothing.
class Owned {
 public:
  Owned() = default;
  explicit Owned(void* module) : module_(module) {}
  Owned(Owned&& other) noexcept : module_(other.Release()) {}
  ~Owned();
  bool empty() const { return module_ == nullptr; }
  void* get() const { return module_; }
  void* Release() { return std::exchange(module_, nullptr); }

 private:
  void* module_ = nullptr;
};

std::string PrintMlir(void* module_op);
std::string PrintLlvm(void* module);

void SetIdentifier(void* module, std::string_view identifier);

// A module that defines one function of this name, a kernel that does nothing. Nothing on machines
// that there is none for.
Owned WithoutContent(void* llvm_context, std::string_view function);

void* CopyToBuffer(std::string_view object);
std::string_view ContentOf(const ExpectedBuffer& buffer);

}  // namespace hone::compiler::llvm_module

#endif  // HONE_COMPILER_KERNELS_LLVM_H_
