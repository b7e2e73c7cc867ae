#include "dataset/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "core/lines.h"
#include "core/nearest.h"

namespace hone::dataset {
namespace {

constexpr const char* kInstructions = "instructions";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // Windows' editors begin UTF-8 with it

struct TextColumn {
  const char* name;
  std::string Row::* member;
};

constexpr TextColumn kTextColumns[] = {{"file", &Row::file},
                                       {"family", &Row::family},
                                       {"phase", &Row::phase},
                                       {"config", &Row::config},
                                       {"origin", &Row::origin},
                                       {"licence", &Row::licence},
                                       {"fingerprint", &Row::fingerprint},
                                       {"group", &Row::group},
                                       {"split", &Row::split}};

std::vector<std::string> Fields(std::string_view line) {
  std::vector<std::string> fields;
  for (size_t start = 0;;) {
    const size_t tab = line.find('\t', start);
    fields.emplace_back(line.substr(start, tab - start));
    if (tab == line.npos) return fields;
    start = tab + 1;
  }
}

tl::unexpected<Error> BadLine(size_t line, const std::string& what) {
  return MakeError(ErrorCode::kInvalidInput, fmt::format("line {}: {}", line, what));
}

Status Set(Row& row, const std::string& column, const std::string& value, size_t line) {
  if (column == kInstructions) {
    const char* const end = value.data() + value.size();
    if (value.empty()) return {};
    const auto [stop, error] = std::from_chars(value.data(), end, row.instructions);
    if (error == std::errc() && stop == end && row.instructions >= 0) return {};
    return BadLine(line, fmt::format("'{}' is no number of instructions; leave it empty and run "
                                     "`hone dataset index`",
                                     value));
  }
  for (const TextColumn& known : kTextColumns) {
    if (column != known.name) continue;
    row.*known.member = value;
    return {};
  }
  row.extra[column] = value;
  return {};
}

bool IsFingerprint(const std::string& text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

Status CheckMember(const std::string& column, const std::string& value,
                   const std::vector<std::string>& known, size_t line) {
  if (value.empty() || std::find(known.begin(), known.end(), value) != known.end()) return {};
  return BadLine(line, fmt::format("there is no {} '{}'{}; it is {}, or empty", column, value,
                                   DidYouMean(value, known), fmt::join(known, ", ")));
}

Status CheckRow(const Row& row, size_t line) {
  if (row.file.empty()) return BadLine(line, "the column 'file' is empty; name the program's file");
  const std::filesystem::path path = row.file;
  if (path.is_absolute() || std::find(path.begin(), path.end(), "..") != path.end()) {
    return BadLine(line,
                   fmt::format("'{}' is outside the folder; name files relative to it", row.file));
  }
  if (Status fine = CheckMember("phase", row.phase, Phases(), line); !fine) return fine;
  if (Status fine = CheckMember("split", row.split, Splits(), line); !fine) return fine;
  for (const std::string* text : {&row.fingerprint, &row.group}) {
    if (text->empty() || IsFingerprint(*text)) continue;
    return BadLine(line, fmt::format("'{}' is no fingerprint, which has 32 hexadecimal digits; "
                                     "leave it empty and run `hone dataset index`",
                                     *text));
  }
  return {};
}

Status CheckHeader(const std::vector<std::string>& columns) {
  std::set<std::string> seen;
  for (const std::string& column : columns) {
    if (seen.insert(column).second) continue;
    return BadLine(1, fmt::format("there are two columns '{}'; rename one", column));
  }
  if (seen.contains("file")) return {};
  return BadLine(1, fmt::format("there is no column 'file'; begin with a line of names, with tabs "
                                "between them: {}",
                                fmt::join(IndexColumns(), " ")));
}

std::string Field(const Row& row, const std::string& column) {
  if (column == kInstructions) {
    return row.instructions < 0 ? "" : std::to_string(row.instructions);
  }
  for (const TextColumn& known : kTextColumns) {
    if (column == known.name) return row.*known.member;
  }
  const auto extra = row.extra.find(column);
  return extra == row.extra.end() ? "" : extra->second;
}

}  // namespace

const std::vector<std::string>& IndexColumns() {
  static const std::vector<std::string> columns = {
      "file",   "family",  "phase",       "config", kInstructions,
      "origin", "licence", "fingerprint", "group",  "split"};
  return columns;
}

const std::vector<std::string>& Phases() {
  static const std::vector<std::string> phases = {"train", "fwd", "other"};
  return phases;
}

const std::vector<std::string>& Splits() {
  static const std::vector<std::string> splits = {"train", "validation", "test"};
  return splits;
}

StatusOr<Index> ParseIndex(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  Index index;
  std::set<std::string> files;
  size_t number = 0;
  while (!text.empty()) {
    std::string_view line = TakeLine(text);
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++number;
    if (number == 1) {
      index.columns = Fields(line);
      if (Status fine = CheckHeader(index.columns); !fine) return tl::unexpected(fine.error());
      continue;
    }
    if (line.empty()) continue;
    const std::vector<std::string> fields = Fields(line);
    if (fields.size() != index.columns.size()) {
      return BadLine(number, fmt::format("{} fields, where the first line has {}; put one tab "
                                         "between two fields, also around empty ones",
                                         fields.size(), index.columns.size()));
    }
    Row row;
    for (size_t i = 0; i < fields.size(); ++i) {
      if (Status fine = Set(row, index.columns[i], fields[i], number); !fine) {
        return tl::unexpected(fine.error());
      }
    }
    if (Status fine = CheckRow(row, number); !fine) return tl::unexpected(fine.error());
    if (!files.insert(row.file).second) {
      return BadLine(number, fmt::format("'{}' is there twice; remove one of the lines", row.file));
    }
    index.rows.push_back(std::move(row));
  }
  if (number == 0) {
    return MakeError(ErrorCode::kInvalidInput,
                     "the file is empty; remove it and run `hone dataset index`");
  }
  return index;
}

std::string FormatIndex(const Index& index) {
  std::vector<std::string> columns = index.columns;
  for (const std::string& ours : IndexColumns()) {
    if (std::find(columns.begin(), columns.end(), ours) == columns.end()) columns.push_back(ours);
  }
  std::string text = fmt::format("{}\n", fmt::join(columns, "\t"));
  for (const Row& row : index.rows) {
    for (size_t i = 0; i < columns.size(); ++i) {
      const std::string field = Field(row, columns[i]);
      HONE_CHECK(FitsIndex(field));
      text += (i == 0 ? "" : "\t") + field;
    }
    text += '\n';
  }
  return text;
}

std::string IndexPath(const std::string& folder) {
  return (std::filesystem::path(folder) / kIndexName).string();
}

StatusOr<Index> ReadIndex(const std::string& folder) {
  std::ifstream file(IndexPath(folder), std::ios::binary);
  std::stringstream text;
  if (file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  if (!file.is_open() || file.bad()) {
    return MakeError(ErrorCode::kInvalidInput,
                     "cannot be read; `hone dataset index FOLDER` writes one");
  }
  return ParseIndex(text.str());
}

bool FitsIndex(std::string_view field) { return field.find_first_of("\t\n\r") == field.npos; }

}  // namespace hone::dataset
