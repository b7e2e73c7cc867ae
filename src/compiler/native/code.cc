#include "compiler/native/code.h"

#include <elf.h>
#include <sys/mman.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace hone::native {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kMostBytes = size_t{1} << 28;

template <class F>
void* Address(F* function) {
  return reinterpret_cast<void*>(function);
}

// What a kernel may call.
void* Outside(const std::string& name) {
  using D = double(double);
  using F = float(float);
  using D2 = double(double, double);
  using F2 = float(float, float);
  static const auto* const kFunctions = new std::map<std::string, void*>{
      {"malloc", Address(&std::malloc)},
      {"free", Address(&std::free)},
      {"aligned_alloc", Address(&std::aligned_alloc)},
      {"memcpy", Address(&std::memcpy)},
      {"memmove", Address(&std::memmove)},
      {"memset", Address(&std::memset)},
      {"exp", Address<D>(&::exp)},
      {"expf", Address<F>(&::expf)},
      {"log", Address<D>(&::log)},
      {"logf", Address<F>(&::logf)},
      {"tanh", Address<D>(&::tanh)},
      {"tanhf", Address<F>(&::tanhf)},
      {"sqrt", Address<D>(&::sqrt)},
      {"sqrtf", Address<F>(&::sqrtf)},
      {"pow", Address<D2>(&::pow)},
      {"powf", Address<F2>(&::powf)},
      {"fmax", Address<D2>(&::fmax)},
      {"fmaxf", Address<F2>(&::fmaxf)},
      {"fmin", Address<D2>(&::fmin)},
      {"fminf", Address<F2>(&::fminf)},
  };
  const auto found = kFunctions->find(name);
  return found == kFunctions->end() ? nullptr : found->second;
}

tl::unexpected<Error> Bad(std::string what) {
  return MakeError(ErrorCode::kInvalidInput, "a kernel's object cannot be loaded: " + what);
}

size_t Up(size_t value, size_t to) { return (value + to - 1) / to * to; }

// Reads the object and lays it out. Nothing in it is believed before it has been checked.
class Linker {
 public:
  explicit Linker(std::string_view object) : object_(object) {}
  ~Linker() {
    if (pages_ != MAP_FAILED) munmap(pages_, size_);
  }

  Status Link() {
    if (!Read()) return Bad("it is no relocatable object for x86-64");
    Place();
    if (size_ == 0 || size_ > kMostBytes) return Bad("it has no code, or far too much");
    pages_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages_ == MAP_FAILED) return Bad("there is no memory for it");
    for (size_t i = 0; i < sections_.size(); ++i) {
      if (place_[i] != kNowhere && sections_[i].sh_type != SHT_NOBITS) {
        std::memcpy(At(place_[i]), object_.data() + sections_[i].sh_offset, sections_[i].sh_size);
      }
    }
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type == SHT_REL) return Bad("its relocations are of another kind");
      if (section.sh_type != SHT_RELA || section.sh_info >= sections_.size()) continue;
      if (place_[section.sh_info] == kNowhere) continue;
      if (Status done = Relocate(section); !done) return done;
    }
    if (mprotect(pages_, writable_, PROT_READ | PROT_EXEC) != 0) {
      return Bad("this process may not run new code");
    }
    return {};
  }

  // The address of a function that it defines; null where there is none.
  void* Function(std::string_view name) {
    for (const Elf64_Sym& symbol : symbols_) {
      if (symbol.st_shndx >= sections_.size() || place_[symbol.st_shndx] == kNowhere) continue;
      if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
      if (NameOf(symbol) == name) return At(place_[symbol.st_shndx] + symbol.st_value);
    }
    return nullptr;
  }

  // The pages are the caller's from now on.
  std::pair<void*, size_t> Give() { return {std::exchange(pages_, MAP_FAILED), size_}; }

 private:
  static constexpr size_t kNowhere = ~size_t{0};
  static constexpr size_t kStub = 16;  // a jump, and the address that it jumps to

  char* At(size_t offset) const { return static_cast<char*>(pages_) + offset; }

  template <class T>
  bool Take(uint64_t offset, T* value) const {
    if (offset > object_.size() || object_.size() - offset < sizeof(T)) return false;
    std::memcpy(value, object_.data() + offset, sizeof(T));
    return true;
  }

  bool Inside(const Elf64_Shdr& section) const {
    if (section.sh_size > kMostBytes) return false;
    return section.sh_type == SHT_NOBITS || (section.sh_offset <= object_.size() &&
                                             section.sh_size <= object_.size() - section.sh_offset);
  }

  bool Read() {
    Elf64_Ehdr header;
    if (!Take(0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_type != ET_REL || header.e_machine != EM_X86_64 ||
        header.e_shentsize != sizeof(Elf64_Shdr)) {
      return false;
    }
    size_t table = 0;
    for (uint64_t i = 0; i < header.e_shnum; ++i) {
      Elf64_Shdr section;
      if (!Take(header.e_shoff + i * sizeof(section), &section) || !Inside(section)) return false;
      if (section.sh_type == SHT_SYMTAB) table = i;
      sections_.push_back(section);
    }
    if (table == 0 || sections_[table].sh_link >= sections_.size()) return false;
    names_ = sections_[sections_[table].sh_link];
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= sections_[table].sh_size;
         at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      if (!Take(sections_[table].sh_offset + at, &symbol)) return false;
      symbols_.push_back(symbol);
    }
    return true;
  }

  std::string NameOf(const Elf64_Sym& symbol) const {
    if (symbol.st_name >= names_.sh_size) return "";
    const std::string_view all = object_.substr(names_.sh_offset, names_.sh_size);
    const std::string_view rest = all.substr(symbol.st_name);
    return std::string(rest.substr(0, rest.find('\0')));
  }

  // First what is run or only read, with a stub for each symbol; then, on pages of its own, what is
  // written. Tables for unwinding are left out: kernels throw nothing.
  void Place() {
    place_.assign(sections_.size(), kNowhere);
    for (const bool writes : {false, true}) {
      for (size_t i = 0; i < sections_.size(); ++i) {
        const Elf64_Shdr& section = sections_[i];
        const bool wanted = (section.sh_flags & SHF_ALLOC) != 0 && section.sh_size != 0 &&
                            section.sh_type != SHT_X86_64_UNWIND && SectionName(i) != ".eh_frame";
        if (!wanted || ((section.sh_flags & SHF_WRITE) != 0) != writes) continue;
        const size_t alignment = section.sh_addralign == 0 ? 1 : section.sh_addralign;
        if (alignment > kPage) continue;
        size_ = Up(size_, alignment);
        place_[i] = size_;
        size_ += section.sh_size;
        if (size_ > kMostBytes) return;
      }
      if (!writes) {
        size_ = Up(size_, kStub);
        stubs_ = size_;
        size_ = Up(size_ + kStub * symbols_.size(), kPage);
        writable_ = size_;
      }
    }
  }

  std::string SectionName(size_t index) {
    Elf64_Ehdr header;
    Take(0, &header);
    if (header.e_shstrndx >= sections_.size()) return "";
    const Elf64_Shdr& names = sections_[header.e_shstrndx];
    if (sections_[index].sh_name >= names.sh_size) return "";
    const std::string_view rest =
        object_.substr(names.sh_offset, names.sh_size).substr(sections_[index].sh_name);
    return std::string(rest.substr(0, rest.find('\0')));
  }

  // The address of a symbol; null where it is not known.
  char* AddressOf(const Elf64_Sym& symbol) const {
    if (symbol.st_shndx == SHN_UNDEF) return static_cast<char*>(Outside(NameOf(symbol)));
    if (symbol.st_shndx >= sections_.size() || place_[symbol.st_shndx] == kNowhere) return nullptr;
    if (symbol.st_value > sections_[symbol.st_shndx].sh_size) return nullptr;
    return At(place_[symbol.st_shndx] + symbol.st_value);
  }

  // Near the code: jmp *[rip + 2], two bytes of nothing, the address.
  char* Stub(size_t symbol, const char* target) const {
    char* const stub = At(stubs_ + kStub * symbol);
    static constexpr unsigned char kJump[] = {0xff, 0x25, 0x02, 0, 0, 0, 0xcc, 0xcc};
    std::memcpy(stub, kJump, sizeof(kJump));
    std::memcpy(stub + sizeof(kJump), &target, sizeof(target));
    return stub;
  }

  Status Relocate(const Elf64_Shdr& table) {
    const Elf64_Shdr& section = sections_[table.sh_info];
    for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= table.sh_size; at += sizeof(Elf64_Rela)) {
      Elf64_Rela entry;
      if (!Take(table.sh_offset + at, &entry)) return Bad("a relocation is cut off");
      const uint64_t index = ELF64_R_SYM(entry.r_info), type = ELF64_R_TYPE(entry.r_info);
      const size_t width = type == R_X86_64_64 || type == R_X86_64_PC64 ? 8 : 4;
      if (index >= symbols_.size() || entry.r_offset > section.sh_size ||
          section.sh_size - entry.r_offset < width) {
        return Bad("a relocation lies outside");
      }
      const Elf64_Sym& symbol = symbols_[index];
      char* target = AddressOf(symbol);
      if (target == nullptr) return Bad("it needs `" + NameOf(symbol) + "`");
      char* const place = At(place_[table.sh_info] + entry.r_offset);
      switch (type) {
        case R_X86_64_64:
        case R_X86_64_PC64: {
          int64_t value = reinterpret_cast<int64_t>(target) + entry.r_addend;
          if (type == R_X86_64_PC64) value -= reinterpret_cast<int64_t>(place);
          std::memcpy(place, &value, sizeof(value));
          continue;
        }
        case R_X86_64_PC32:
        case R_X86_64_PLT32:
          if (symbol.st_shndx == SHN_UNDEF) target = Stub(index, target);
          break;
        case R_X86_64_GOTPCREL:
        case R_X86_64_GOTPCRELX:
        case R_X86_64_REX_GOTPCRELX:
          target = Stub(index, target) + kStub / 2;  // the place that holds the address
          break;
        default:
          return Bad("it has relocations of type " + std::to_string(type));
      }
      const int64_t value =
          reinterpret_cast<int64_t>(target) + entry.r_addend - reinterpret_cast<int64_t>(place);
      const auto near = static_cast<int32_t>(value);
      if (near != value) return Bad("a relocation reaches too far");
      std::memcpy(place, &near, sizeof(near));
    }
    return {};
  }

  const std::string_view object_;
  std::vector<Elf64_Shdr> sections_;
  std::vector<Elf64_Sym> symbols_;
  Elf64_Shdr names_{};
  std::vector<size_t> place_;  // of sections
  size_t stubs_ = 0, writable_ = 0, size_ = 0;
  void* pages_ = MAP_FAILED;
};

}  // namespace

StatusOr<std::unique_ptr<Code>> Code::Load(std::string_view object) {
#if !defined(__x86_64__)
  return Bad("kernels are for x86-64");
#endif
  Linker linker(object);
  if (Status done = linker.Link(); !done) return tl::unexpected(done.error());
  void* const entry = linker.Function(loops::kEntryName);
  if (entry == nullptr) return Bad(std::string("it has no function ") + loops::kEntryName);
  std::unique_ptr<Code> code(new Code);
  std::tie(code->pages_, code->bytes_) = linker.Give();
  code->entry_ = reinterpret_cast<loops::Entry>(entry);
  return code;
}

Code::~Code() {
  if (pages_ != nullptr) munmap(pages_, bytes_);
}

}  // namespace hone::native
