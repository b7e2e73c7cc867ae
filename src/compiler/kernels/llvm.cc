#include "compiler/kernels/llvm.h"

#include <cstring>

#include "compiler/kernels/empty_kernel.h"

namespace hone::compiler::llvm_module {
namespace wheel {

struct StringRef {  // llvm::StringRef
  const char* data;
  size_t size;
};

// std::unique_ptr of something of LLVM's: returned in memory, as its destructor is not trivial.
struct Pointer {
  void* object;
  ~Pointer() {}
};

// An llvm::Twine of one C string or of none. Its kinds stand behind two children of one word or of
// two, by LLVM's version: written in both places.
class Twine {
 public:
  explicit Twine(const char* text) {
    std::memset(bytes_, 0, sizeof(bytes_));
    if (text != nullptr) std::memcpy(bytes_, &text, sizeof(text));
    for (const int kinds : {16, 32}) {
      bytes_[kinds] = text != nullptr ? kCString : kEmpty;
      bytes_[kinds + 1] = kEmpty;
    }
  }
  const void* get() const { return bytes_; }

 private:
  static constexpr char kEmpty = 1;
  static constexpr char kCString = 3;
  alignas(8) char bytes_[40];
};

// xla::PrintModule(mlir::ModuleOp)
std::string PrintModule(void* module_op) asm("_ZN3xla11PrintModuleB5cxx11EN4mlir8ModuleOpE");
// xla::llvm_ir::DumpToString(llvm::Module*)
std::string DumpToString(void* module) asm(
    "_ZN3xla7llvm_ir12DumpToStringIN4llvm6ModuleEEENSt7__cxx1112basic_stringIcSt11char_"
    "traitsIcESaIcEEEPT_");
// xla::codegen::ParseEmbeddedBitcode(llvm::LLVMContext&, absl::string_view, absl::string_view)
Pointer ParseEmbeddedBitcode(void* context, std::string_view bitcode, std::string_view name) asm(
    "_ZN3xla7codegen20ParseEmbeddedBitcodeERN4llvm11LLVMContextESt17basic_string_viewIcSt11char_"
    "traitsIcEES7_");
void* GetFunction(const void* module,
                  StringRef name) asm("_ZNK4llvm6Module11getFunctionENS_9StringRefE");
void SetName(void* value, const void* twine) asm("_ZN4llvm5Value7setNameERKNS_5TwineE");
void SetModuleIdentifier(void* module, StringRef identifier) asm(
    "_ZN4llvm6Module19setModuleIdentifierENS_9StringRefE");
void DestroyModule(void* module) asm("_ZN4llvm6ModuleD1Ev");
Pointer GetMemBufferCopy(StringRef bytes, const void* twine) asm(
    "_ZN4llvm12MemoryBuffer16getMemBufferCopyENS_9StringRefERKNS_5TwineE");

}  // namespace wheel

Owned::~Owned() {
  if (module_ == nullptr) return;
  wheel::DestroyModule(module_);
  ::operator delete(module_);
}

std::string PrintMlir(void* module_op) { return wheel::PrintModule(module_op); }
std::string PrintLlvm(void* module) { return wheel::DumpToString(module); }

void SetIdentifier(void* module, std::string_view identifier) {
  wheel::SetModuleIdentifier(module, {identifier.data(), identifier.size()});
}

Owned WithoutContent(void* llvm_context, std::string_view function) {
  if (kEmptyKernelBytes == 0) return {};
  const std::string_view bitcode(reinterpret_cast<const char*>(kEmptyKernel), kEmptyKernelBytes);
  Owned module(wheel::ParseEmbeddedBitcode(llvm_context, bitcode, "empty_kernel").object);
  if (module.empty()) return {};
  void* const kernel = wheel::GetFunction(module.get(), {"k", 1});
  if (kernel == nullptr) return {};
  const std::string name(function);
  wheel::SetName(kernel, wheel::Twine(name.c_str()).get());
  return module;
}

void* CopyToBuffer(std::string_view object) {
  return wheel::GetMemBufferCopy({object.data(), object.size()}, wheel::Twine(nullptr).get())
      .object;
}

std::string_view ContentOf(const ExpectedBuffer& buffer) {
  // llvm::MemoryBuffer: its virtual table, where it begins, where it ends.
  const char* const* const parts = static_cast<const char* const*>(buffer.buffer);
  return {parts[1], static_cast<size_t>(parts[2] - parts[1])};
}

}  // namespace hone::compiler::llvm_module
