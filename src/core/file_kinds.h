// The kinds of files that hone writes for itself to read again: how each begins, which versions of
// it are read, and which command takes it.
//
// A JSON file begins with {"format": "hone recipe", "version": 2, …; a text file with the line
// `hone schedule 1`. A version counts up where what stands behind it changes. A file that says none
// is of version 1.
#ifndef HONE_CORE_FILE_KINDS_H_
#define HONE_CORE_FILE_KINDS_H_

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "core/result.h"

namespace hone {

struct FileKind {
  const char* format;
  int oldest;          // the versions that are read,
  int version;         // and the last of them, which is written; 0: the format says it
  const char* what;    // with an article, and who takes it
  const char* writer;  // the command
};

inline constexpr FileKind kTunedPlanFile{
    "hone tuned plan", 1, 1, "a tuned plan, for `hone apply`, `bench`, `blame`, `sites`",
    "hone tune --plan"};
inline constexpr FileKind kRewritePlanFile{
    "hone plan", 1, 1, "a plan of one pass's rewrites, for `hone rewrites --plan`",
    "hone rewrites --plan-out"};
// 1 had no decisions about a pass's rewrites. Both called their version "format_version" at first.
inline constexpr FileKind kRecipeFile{"hone recipe", 1, 2, "a recipe, for `hone replay`",
                                      "hone optimize --recipe"};
inline constexpr FileKind kMemoryPlanFile{
    "hone memory plan", 3, 3, "a memory plan, for `hone memory simulate`", "hone memory -o"};
inline constexpr FileKind kScheduleFile{
    "hone schedule", 1, 1, "a schedule of loop nests, for `hone loops race --schedule`",
    "hone loops tune -o"};
inline constexpr FileKind kCoresetFile{"hone-coreset-1", 0, 0,
                                       "a coreset, for the searcher of that name", "hone coreset"};
inline constexpr FileKind kRecordingFile{"hone recording", 0, 0,
                                         "the index of a recording, for `hone tune` of its folder",
                                         "hone record"};
inline constexpr const FileKind* kFileKinds[] = {&kTunedPlanFile,  &kRewritePlanFile, &kRecipeFile,
                                                 &kMemoryPlanFile, &kScheduleFile,    &kCoresetFile,
                                                 &kRecordingFile};

// The first line of a text file of the kind.
inline std::string FirstLine(const FileKind& kind) {
  return std::string(kind.format) + " " + std::to_string(kind.version) + "\n";
}
// Whether the line is such a first line, of any version; `said` is what stands where the version
// does.
inline bool IsFirstLine(const FileKind& kind, std::string_view line, std::string_view* said) {
  const std::string_view format = kind.format;
  if (line.substr(0, format.size()) != format || line.size() <= format.size() + 1 ||
      line[format.size()] != ' ') {
    return false;
  }
  *said = line.substr(format.size() + 1);
  return true;
}

// The value of the first "format" in a JSON text, which need not be valid, or how a text file
// begins; empty where there is neither.
inline std::string FormatIn(std::string_view text) {
  constexpr std::string_view kKey = "\"format\"";
  for (const FileKind* kind : kFileKinds) {
    std::string_view said;
    if (IsFirstLine(*kind, text.substr(0, text.find('\n')), &said)) return kind->format;
  }
  const auto value_at = [&](size_t at) { return text.find_first_not_of(" \t\r\n", at); };
  size_t at = text.find(kKey);
  if (at == text.npos || (at = value_at(at + kKey.size())) == text.npos || text[at] != ':')
    return "";
  if ((at = value_at(at + 1)) == text.npos || text[at] != '"') return "";
  const size_t end = text.find('"', at + 1);
  return end == text.npos ? "" : std::string(text.substr(at + 1, end - at - 1));
}

// "; it is a recipe, for `hone replay`" where the text is one of another kind than this; else
// empty. It ends an error's message.
inline std::string OtherKind(std::string_view text, const FileKind& expected) {
  const std::string format = FormatIn(text);
  const auto* const kind =
      std::find_if(std::begin(kFileKinds), std::end(kFileKinds),
                   [&](const FileKind* known) { return format == known->format; });
  if (format == expected.format || kind == std::end(kFileKinds)) return "";
  return std::string("; it is ") + (*kind)->what;
}

// Whether this hone reads the version. Errors: it is newer, or too old; what to do.
inline Status CheckVersion(const FileKind& kind, int64_t version) {
  if (version >= kind.oldest && version <= kind.version) return {};
  const std::string reads =
      kind.oldest == kind.version
          ? "version " + std::to_string(kind.version)
          : "versions " + std::to_string(kind.oldest) + " to " + std::to_string(kind.version);
  const std::string again = std::string("write it again with this one's `") + kind.writer + "`";
  return MakeError(ErrorCode::kInvalidInput,
                   std::string("it is a ") + kind.format + " of version " +
                       std::to_string(version) + ", and this hone reads " + reads + ": " +
                       (version > kind.version ? "get a newer hone, or " : "") + again);
}
// The same of a version as a first line says it.
inline Status CheckVersion(const FileKind& kind, std::string_view said) {
  int64_t version = 0;
  const auto [end, error] = std::from_chars(said.data(), said.data() + said.size(), version);
  if (error != std::errc() || end != said.data() + said.size()) {
    return MakeError(ErrorCode::kInvalidInput,
                     "its version, '" + std::string(said) + "', is no whole number");
  }
  return CheckVersion(kind, version);
}

// The first fields of a JSON file of the kind.
template <class Json>
void BeginFile(const FileKind& kind, Json& json) {
  json["format"] = kind.format;
  json["version"] = kind.version;
}

// Whether parsed JSON says that it is of the kind.
template <class Json>
bool IsOfKind(const FileKind& kind, const Json& json) {
  if (!json.is_object()) return false;
  const auto format = json.find("format");
  return format != json.end() && format->is_string() && *format == kind.format;
}
// Whether this hone reads the version that it says.
template <class Json>
Status CheckVersionIn(const FileKind& kind, const Json& json) {
  for (const char* name : {"version", "format_version"}) {
    const auto version = json.find(name);
    if (version == json.end()) continue;
    if (!version->is_number_unsigned()) {
      return MakeError(ErrorCode::kInvalidInput,
                       std::string("field '") + name + "' is no whole number");
    }
    return CheckVersion(kind, version->template get<int64_t>());
  }
  return CheckVersion(kind, 1);
}

}  // namespace hone

#endif  // HONE_CORE_FILE_KINDS_H_
