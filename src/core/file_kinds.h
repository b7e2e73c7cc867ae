// The kinds of files that hone writes for itself to read again, so that a command that is given the
// wrong kind can say which one it was given, and which command takes it.
#ifndef HONE_CORE_FILE_KINDS_H_
#define HONE_CORE_FILE_KINDS_H_

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace hone {

struct FileKind {
  const char* format;  // the JSON's "format"
  const char* what;    // with an article, and who takes it
};
inline constexpr FileKind kFileKinds[] = {
    {"hone tuned plan", "a tuned plan, for `hone apply`, `bench`, `blame`, `sites`"},
    {"hone plan", "a plan of one pass's rewrites, for `hone rewrites --plan`"},
    {"hone recipe", "a recipe, for `hone replay`"},
    {"hone memory plan", "a memory plan, for `hone memory simulate`"},
    {"hone-coreset-1", "a coreset, for the searcher of that name"},
    {"hone recording", "the index of a recording, for `hone tune` of its folder"},
};

// The value of the first "format" in a JSON text, which need not be valid; empty where there is
// none.
inline std::string FormatIn(std::string_view text) {
  constexpr std::string_view kKey = "\"format\"";
  const auto value_at = [&](size_t at) { return text.find_first_not_of(" \t\r\n", at); };
  size_t at = text.find(kKey);
  if (at == text.npos || (at = value_at(at + kKey.size())) == text.npos || text[at] != ':')
    return "";
  if ((at = value_at(at + 1)) == text.npos || text[at] != '"') return "";
  const size_t end = text.find('"', at + 1);
  return end == text.npos ? "" : std::string(text.substr(at + 1, end - at - 1));
}

// "; it is a recipe, for `hone replay`" where the text is one of another kind than `expected`, a
// format; else empty. It ends an error's message.
inline std::string OtherKind(std::string_view text, std::string_view expected) {
  const std::string format = FormatIn(text);
  const auto* const kind =
      std::find_if(std::begin(kFileKinds), std::end(kFileKinds),
                   [&](const FileKind& known) { return format == known.format; });
  if (format == expected || kind == std::end(kFileKinds)) return "";
  return std::string("; it is ") + kind->what;
}

}  // namespace hone

#endif  // HONE_CORE_FILE_KINDS_H_
