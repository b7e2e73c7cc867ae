// A relocatable object in memory, made ready to be called: sections laid out, relocations made,
// pages no longer writable where they can be run. It needs no linker and no file, so it works where
// a process may open neither.
//
// Of x86-64 ELF as LLVM writes it in position-independent code (System V ABI, AMD64 supplement,
// chapter 4). What an object may need from outside is a list of functions of libc and libm.
#ifndef HONE_COMPILER_NATIVE_CODE_H_
#define HONE_COMPILER_NATIVE_CODE_H_

#include <cstddef>
#include <memory>
#include <string_view>

#include "core/native_kernel.h"
#include "core/result.h"

namespace hone::native {

class Code {
 public:
  // Errors: it is no such object, it needs what is not there, there is no memory.
  static StatusOr<std::unique_ptr<Code>> Load(std::string_view object);
  ~Code();
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;

  loops::Entry entry() const { return entry_; }

 private:
  Code() = default;

  void* pages_ = nullptr;
  size_t bytes_ = 0;
  loops::Entry entry_ = nullptr;
};

}  // namespace hone::native

#endif  // HONE_COMPILER_NATIVE_CODE_H_
