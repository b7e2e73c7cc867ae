// Shared by the commands: error messages, results, numbers for people.
#ifndef HONE_CLI_COMMON_H_
#define HONE_CLI_COMMON_H_

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/exit_codes.h"
#include "core/result.h"
#include "jobs/events.h"
#include "jobs/json.h"
#include "jobs/workers.h"
#include "report/words.h"

namespace hone::cli {

using jobs::FileError;
using jobs::Json;

// Of every command that starts workers: AddCommonOptions of options.h.
struct CommonOptions : jobs::WorkerOptions {
  bool json = false;
};

// A line `hone: FILE: what; what to do` on stderr, more lines of the message indented below it;
// with `json` also {"error": {"file", "code", "message"}} on stdout. `file` may be empty. Returns
// the exit code that fits the error.
int Fail(const Error& error, const std::string& file, bool json);
int Fail(const Error& error, bool json);
int Fail(const FileError& failed, bool json);

// `hone: FILE: warning: …` on stderr.
void Warn(const std::string& file, const std::string& message);

int ExitCodeFor(const Error& error);

// The width of a column: its heading's, or the longest name's, of which each row has one.
template <class Rows, class Name = std::identity>
size_t WidthOf(std::string_view heading, const Rows& rows, Name name = {}) {
  size_t width = heading.size();
  for (const auto& row : rows) width = std::max(width, std::invoke(name, row).size());
  return width;
}

// Of a table with a row a file: how many there are, and how wide the column of their names is.
struct FileColumn {
  size_t files = 0;
  size_t width = 0;

  // Of several files the heading is printed, unless the answer is JSON: the rows follow one by one.
  void Begin(const std::vector<std::string>& names, std::string (*header)(size_t width), bool json);
};

// To stdout, all of it.
Status Print(std::string_view text);
// An object, indented, and a line's end. Bytes that are not UTF-8 are replaced.
Status PrintJson(const Json& json);

// Either of these, then `code`; where stdout cannot be written, that failure instead.
int Finish(const Json& json, int code);
int Finish(const std::string& text, int code);

using report::Grouped;
using report::HumanBytes;
using report::HumanCount;
using report::HumanSeconds;
using report::Percent;
using report::Printable;

}  // namespace hone::cli

#endif  // HONE_CLI_COMMON_H_
