#include "jobs/kernel_code.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

#include "core/lines.h"

namespace hone::jobs {
namespace {

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) lines.push_back(TakeLine(text));
  return lines;
}

// What stands between two marks; "" where one is missing.
std::string_view Between(std::string_view line, std::string_view before, std::string_view after) {
  const size_t from = line.find(before);
  if (from == line.npos) return {};
  line.remove_prefix(from + before.size());
  const size_t to = line.find(after);
  return to == line.npos ? std::string_view() : line.substr(0, to);
}

// The number that ends right before `mark`; 0 where there is none.
int64_t NumberBefore(std::string_view line, std::string_view mark) {
  const size_t end = line.find(mark);
  if (end == line.npos) return 0;
  size_t from = end;
  while (from > 0 && std::isdigit(static_cast<unsigned char>(line[from - 1]))) --from;
  int64_t number = 0;
  std::from_chars(line.data() + from, line.data() + end, number);
  return number;
}

// The product of "X, Y, Z" behind a directive.
int64_t ProductBehind(std::string_view line, std::string_view directive) {
  const size_t from = line.find(directive);
  if (from == line.npos) return 0;
  int64_t product = 1;
  const char* at = line.data() + from + directive.size();
  const char* const end = line.data() + line.size();
  while (at < end) {
    int64_t number = 0;
    const auto read = std::from_chars(at, end, number);
    if (read.ec == std::errc()) {
      product *= number;
      at = read.ptr;
    } else {
      ++at;
    }
  }
  return product;
}

// ptxas names a function, then says what it takes.
std::map<std::string, Resources, std::less<>> ReadSaid(std::string_view said) {
  std::map<std::string, Resources, std::less<>> read;
  Resources* of = nullptr;
  for (const std::string_view line : LinesOf(said)) {
    if (const auto name = Between(line, "Compiling entry function '", "'"); !name.empty()) {
      of = &read[std::string(name)];
    } else if (line.find("Function properties for ") != line.npos) {
      // Of an entry, or of what it calls.
      const auto found = read.find(line.substr(line.find(" for ") + 5));
      of = found == read.end() ? nullptr : &found->second;
    } else if (of != nullptr && line.find("bytes stack frame") != line.npos) {
      of->stack_bytes = NumberBefore(line, " bytes stack frame");
      of->spill_stores = NumberBefore(line, " bytes spill stores");
      of->spill_loads = NumberBefore(line, " bytes spill loads");
    } else if (of != nullptr && line.find(" registers") != line.npos) {
      of->registers = NumberBefore(line, " registers");
      of->shared_bytes = NumberBefore(line, " bytes smem");
    }
  }
  return read;
}

std::string EntryName(std::string name) {
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

}  // namespace

std::string ArchitectureOf(std::string_view ptx) {
  for (const std::string_view line : LinesOf(ptx)) {
    if (line.rfind(".target ", 0) != 0) continue;
    const std::string_view name = line.substr(8);
    return std::string(name.substr(0, name.find_first_of(", \r")));
  }
  return "";
}

std::vector<KernelCode> KernelsOf(std::string_view ptx, std::string_view said,
                                  const std::vector<KernelTime>& times) {
  const auto resources = ReadSaid(said);
  std::map<std::string, const KernelTime*> by_entry;
  for (const KernelTime& time : times) by_entry.emplace(EntryName(time.name), &time);
  std::vector<KernelCode> kernels;
  for (const std::string_view line : LinesOf(ptx)) {
    if (const auto name = Between(line, ".entry ", "("); !name.empty()) {
      KernelCode kernel;
      kernel.name = name;
      if (const auto found = resources.find(name); found != resources.end()) {
        kernel.resources = found->second;
      }
      if (const auto found = by_entry.find(kernel.name); found != by_entry.end()) {
        kernel.estimate = *found->second;
      }
      kernels.push_back(std::move(kernel));
    } else if (!kernels.empty() && kernels.back().threads == 0) {
      for (const std::string_view directive : {".reqntid", ".maxntid"}) {
        if (const int64_t threads = ProductBehind(line, directive); threads > 0)
          kernels.back().threads = threads;
      }
    }
  }
  return kernels;
}

}  // namespace hone::jobs
