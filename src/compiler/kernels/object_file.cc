#include "compiler/kernels/object_file.h"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace hone::compiler {
namespace {

// Stands for the function's own name when two objects are compared.
constexpr char kOwnName[] = "\x01own";

// A view of an object file. Nothing in it is believed before it has been checked.
class Object {
 public:
  explicit Object(std::string_view bytes) : bytes_(bytes) { valid_ = Read(); }

  bool valid() const { return valid_; }
  size_t function() const { return function_; }  // among symbols
  const std::vector<Elf64_Shdr>& sections() const { return sections_; }
  const std::vector<Elf64_Sym>& symbols() const { return symbols_; }
  size_t symbol_table() const { return symbol_table_; }
  size_t name_table() const { return sections_[symbol_table_].sh_link; }
  uint64_t section_headers() const { return header_.e_shoff; }

  std::string_view Content(const Elf64_Shdr& section) const {
    if (section.sh_type == SHT_NOBITS) return {};
    return bytes_.substr(section.sh_offset, section.sh_size);
  }

  std::string SectionName(const Elf64_Shdr& section) const {
    return Text(sections_[header_.e_shstrndx], section.sh_name);
  }

  std::string SymbolName(size_t index) const {
    if (index == function_) return kOwnName;
    const Elf64_Sym& symbol = symbols_[index];
    const unsigned char type = ELF64_ST_TYPE(symbol.st_info);
    if (type == STT_FILE) return "";
    if (type == STT_SECTION) return SectionName(sections_[symbol.st_shndx]);
    return Text(sections_[name_table()], symbol.st_name);
  }

  std::string Name() const { return Text(sections_[name_table()], symbols_[function_].st_name); }

 private:
  template <class T>
  bool Take(uint64_t offset, T* value) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return false;
    std::memcpy(value, bytes_.data() + offset, sizeof(T));
    return true;
  }

  std::string Text(const Elf64_Shdr& table, uint64_t at) const {
    const std::string_view all = Content(table);
    if (at >= all.size()) return "";
    const std::string_view rest = all.substr(at);
    return std::string(rest.substr(0, rest.find('\0')));
  }

  bool Read() {
    if (!Take(0, &header_) || std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 ||
        header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB ||
        header_.e_type != ET_REL || header_.e_shentsize != sizeof(Elf64_Shdr)) {
      return false;
    }
    for (uint64_t i = 0; i < header_.e_shnum; ++i) {
      Elf64_Shdr section;
      if (!Take(header_.e_shoff + i * sizeof(section), &section)) return false;
      const bool stored = section.sh_type != SHT_NOBITS;
      if (stored && (section.sh_offset > bytes_.size() ||
                     section.sh_size > bytes_.size() - section.sh_offset)) {
        return false;
      }
      sections_.push_back(section);
      if (section.sh_type == SHT_SYMTAB) symbol_table_ = static_cast<size_t>(i);
    }
    if (header_.e_shstrndx >= sections_.size() || symbol_table_ == 0) return false;
    const Elf64_Shdr& table = sections_[symbol_table_];
    if (table.sh_link >= sections_.size() || table.sh_entsize != sizeof(Elf64_Sym)) return false;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      if (!Take(table.sh_offset + at, &symbol)) return false;
      if (ELF64_ST_TYPE(symbol.st_info) == STT_SECTION && symbol.st_shndx >= sections_.size()) {
        return false;
      }
      const bool own = ELF64_ST_BIND(symbol.st_info) != STB_LOCAL && symbol.st_shndx != SHN_UNDEF;
      if (own) {
        if (function_ != 0 || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) return false;
        function_ = symbols_.size();
      }
      symbols_.push_back(symbol);
    }
    return function_ != 0;
  }

  const std::string_view bytes_;
  Elf64_Ehdr header_;
  std::vector<Elf64_Shdr> sections_;
  std::vector<Elf64_Sym> symbols_;
  size_t symbol_table_ = 0;
  size_t function_ = 0;
  bool valid_ = false;
};

bool SameRelocations(const Object& a, const Elf64_Shdr& of_a, const Object& b,
                     const Elf64_Shdr& of_b) {
  const std::string_view all_a = a.Content(of_a);
  const std::string_view all_b = b.Content(of_b);
  for (size_t at = 0; at + sizeof(Elf64_Rela) <= all_a.size(); at += sizeof(Elf64_Rela)) {
    Elf64_Rela one;
    Elf64_Rela other;
    std::memcpy(&one, all_a.data() + at, sizeof(one));
    std::memcpy(&other, all_b.data() + at, sizeof(other));
    const uint64_t symbol_a = ELF64_R_SYM(one.r_info);
    const uint64_t symbol_b = ELF64_R_SYM(other.r_info);
    if (one.r_offset != other.r_offset || one.r_addend != other.r_addend ||
        ELF64_R_TYPE(one.r_info) != ELF64_R_TYPE(other.r_info) || symbol_a >= a.symbols().size() ||
        symbol_b >= b.symbols().size() || a.SymbolName(symbol_a) != b.SymbolName(symbol_b)) {
      return false;
    }
  }
  return true;
}

bool SameSymbols(const Object& a, const Object& b) {
  if (a.symbols().size() != b.symbols().size()) return false;
  for (size_t i = 0; i < a.symbols().size(); ++i) {
    const Elf64_Sym& one = a.symbols()[i];
    const Elf64_Sym& other = b.symbols()[i];
    if (one.st_info != other.st_info || one.st_other != other.st_other ||
        one.st_shndx != other.st_shndx || one.st_value != other.st_value ||
        one.st_size != other.st_size || a.SymbolName(i) != b.SymbolName(i)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<std::string> DefinedFunction(std::string_view object) {
  const Object parsed(object);
  if (!parsed.valid()) return std::nullopt;
  return parsed.Name();
}

std::optional<std::string> RenameFunction(std::string_view object, std::string_view name) {
  const Object parsed(object);
  if (!parsed.valid()) return std::nullopt;
  if (parsed.Name() == name) return std::string(object);
  // The table of names goes to the end, and the new name to the end of it.
  Elf64_Shdr names = parsed.sections()[parsed.name_table()];
  const std::string_view old = parsed.Content(names);
  std::string renamed(object);
  const uint64_t names_at = renamed.size();
  renamed.append(old).append(name).push_back('\0');
  Elf64_Sym symbol = parsed.symbols()[parsed.function()];
  symbol.st_name = static_cast<Elf64_Word>(old.size());
  names.sh_offset = names_at;
  names.sh_size = renamed.size() - names_at;
  const auto put = [&renamed](uint64_t at, const auto& value) {
    std::memcpy(renamed.data() + at, &value, sizeof(value));
  };
  put(parsed.section_headers() + parsed.name_table() * sizeof(names), names);
  put(parsed.sections()[parsed.symbol_table()].sh_offset + parsed.function() * sizeof(symbol),
      symbol);
  return renamed;
}

bool SameCode(std::string_view a, std::string_view b) {
  const Object one(a);
  const Object other(b);
  if (!one.valid() || !other.valid()) return a == b;
  if (one.sections().size() != other.sections().size()) return false;
  for (size_t i = 0; i < one.sections().size(); ++i) {
    const Elf64_Shdr& of_one = one.sections()[i];
    const Elf64_Shdr& of_other = other.sections()[i];
    if (of_one.sh_type != of_other.sh_type || of_one.sh_flags != of_other.sh_flags ||
        of_one.sh_addralign != of_other.sh_addralign || of_one.sh_link != of_other.sh_link ||
        one.SectionName(of_one) != other.SectionName(of_other)) {
      return false;
    }
    if (of_one.sh_type == SHT_STRTAB || of_one.sh_type == SHT_SYMTAB) continue;
    if (of_one.sh_size != of_other.sh_size) return false;
    const bool same = of_one.sh_type == SHT_RELA ? SameRelocations(one, of_one, other, of_other)
                                                 : one.Content(of_one) == other.Content(of_other);
    if (!same) return false;
  }
  return SameSymbols(one, other);
}

}  // namespace hone::compiler
