#include "compiler/kernels/kernel_text.h"

#include <cctype>
#include <unordered_map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/lines.h"

namespace hone::compiler {
namespace {

using Names = std::unordered_map<std::string, std::string>;

bool IsNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-' ||
         c == '$';
}

// Behind the string that begins at `at`; the end of the text where it does not end.
size_t BehindString(std::string_view text, size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return text.size();
}

// Behind the symbol whose '@' is at `at`.
size_t BehindSymbol(std::string_view text, size_t at) {
  if (++at < text.size() && text[at] == '"') return BehindString(text, at);
  while (at < text.size() && IsNameCharacter(text[at])) ++at;
  return at;
}

// Behind the parenthesis that closes the one at `at`.
size_t BehindParenthesis(std::string_view text, size_t at) {
  int depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = BehindString(text, at);
      continue;
    }
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    ++at;
    if (depth == 0) break;
  }
  return at;
}

// As it stands there, without '@' and quotes.
std::string Bare(std::string_view symbol) {
  symbol.remove_prefix(1);
  if (symbol.size() >= 2 && symbol.front() == '"') symbol = symbol.substr(1, symbol.size() - 2);
  return std::string(symbol);
}

// The first symbol of a line; empty where there is none.
std::string_view FirstSymbol(std::string_view line) {
  for (size_t at = 0; at < line.size();) {
    if (line[at] == '@') return line.substr(at, BehindSymbol(line, at) - at);
    at = line[at] == '"' ? BehindString(line, at) : at + 1;
  }
  return {};
}

// With symbols called as `names` has them and, in MLIR, without locations.
std::string Rename(std::string_view text, const Names& names, bool mlir) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    if (text[at] == '"') {
      end = BehindString(text, at);
    } else if (text[at] == '@') {
      end = BehindSymbol(text, at);
      const auto found = names.find(std::string(text.substr(at, end - at)));
      if (found != names.end()) {
        out += found->second;
        at = end;
        continue;
      }
    } else if (mlir && text[at] == ' ' && absl::StartsWith(text.substr(at), " loc(")) {
      at = BehindParenthesis(text, at + 4);
      continue;
    }
    out.append(text, at, end - at);
    at = end;
  }
  return out;
}

template <class Each>
void ForEachLine(std::string_view text, const Each& each) {
  while (!text.empty()) each(TakeLine(text));
}

// Notes the functions that a module defines; only these may be called otherwise.
class Definitions {
 public:
  void Add(std::string_view symbol, bool called) {
    names.emplace(std::string(symbol), absl::StrCat("@k", names.size()));
    if (!called) return;
    ++entries_;
    function = Bare(symbol);
  }
  bool OneEntry() const { return entries_ == 1; }

  Names names;
  std::string function;

 private:
  int entries_ = 0;
};

}  // namespace

std::optional<KernelText> ReadMlirKernel(std::string_view printed) {
  KernelText kernel;
  Definitions definitions;
  std::string rest;
  ForEachLine(printed, [&](std::string_view line) {
    if (absl::StartsWith(line, "#loc")) return;
    rest.append(line).push_back('\n');
    const std::string_view code = absl::StripLeadingAsciiWhitespace(line);
    const bool tiled = absl::StartsWith(code, "xtile.entry_func ");
    const bool function = tiled || absl::StartsWith(code, "func.func ");
    if (!function && !absl::StartsWith(code, "module ")) return;
    // A function without a body is another's.
    const std::string bare = Rename(code, {}, /*mlir=*/true);
    if (!absl::EndsWith(bare, "{")) return;
    const std::string_view symbol = FirstSymbol(code);
    if (symbol.empty()) return;
    definitions.Add(symbol, tiled || (function && absl::StrContains(bare, "xla.entry")));
    if (!function) kernel.module = Bare(symbol);
  });
  if (!definitions.OneEntry() || kernel.module.empty()) return std::nullopt;
  kernel.text = Rename(rest, definitions.names, /*mlir=*/true);
  kernel.function = definitions.function;
  return kernel;
}

std::optional<KernelText> ReadLlvmKernel(std::string_view printed) {
  KernelText kernel;
  Definitions definitions;
  std::string rest;
  ForEachLine(printed, [&](std::string_view line) {
    constexpr std::string_view kModule = "; ModuleID = '";
    if (absl::StartsWith(line, kModule)) {
      kernel.module = std::string(line.substr(kModule.size(), line.size() - kModule.size() - 1));
      return;
    }
    // Which library of a program's a kernel is put into is nothing to its code.
    if (absl::StartsWith(line, "source_filename") || absl::StrContains(line, "xla_dylib_index")) {
      return;
    }
    rest.append(line).push_back('\n');
    if (!absl::StartsWith(line, "define ")) return;
    const std::string_view symbol = FirstSymbol(line);
    const bool inside =
        absl::StartsWith(line, "define internal ") || absl::StartsWith(line, "define private ");
    if (!symbol.empty()) definitions.Add(symbol, !inside);
  });
  if (!definitions.OneEntry() || kernel.module.empty()) return std::nullopt;
  kernel.text = Rename(rest, definitions.names, /*mlir=*/false);
  kernel.function = definitions.function;
  return kernel;
}

}  // namespace hone::compiler
