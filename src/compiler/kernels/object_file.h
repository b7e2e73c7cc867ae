// Object files of single kernels, as LLVM writes them for x86-64 and AArch64 Linux (ELF, 64 bits,
// little-endian): the same code under another name.
//
// Source: System V ABI, chapter 4 (object files), https://refspecs.linuxfoundation.org/elf/gabi4+.
#ifndef HONE_COMPILER_KERNELS_OBJECT_FILE_H_
#define HONE_COMPILER_KERNELS_OBJECT_FILE_H_

#include <optional>
#include <string>
#include <string_view>

namespace hone::compiler {

// The one function that the object defines for others; nothing where it is no such file or defines
// none or several.
std::optional<std::string> DefinedFunction(std::string_view object);

// The object with that function called `name`; nothing where DefinedFunction gives nothing.
std::optional<std::string> RenameFunction(std::string_view object, std::string_view name);

// Whether both have the same sections, relocations and symbols, but for the name of their functions
// and of their source files.
bool SameCode(std::string_view a, std::string_view b);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_KERNELS_OBJECT_FILE_H_
