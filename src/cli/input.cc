#include "cli/input.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool LooksLikeProgram(const fs::path& path) {
  std::string name = path.filename().string();
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(tolower(c)); });
  if (EndsWith(name, ".gz")) name.resize(name.size() - 3);
  if (name.front() == '.') return false;
  for (const char* word : {"readme", "license", "index.", "requirements", "cmakelists"}) {
    if (name.rfind(word, 0) == 0) return false;
  }
  return EndsWith(name, ".hlo") || EndsWith(name, ".txt") || EndsWith(name, ".pb");
}

tl::unexpected<Error> SystemError(int number) {
  const char* const todo = number == ENOENT   ? "; is the name right?"
                           : number == EACCES ? "; are you allowed to read it?"
                                              : "";
  return MakeError(ErrorCode::kInvalidInput, fmt::format("{}{}", std::strerror(number), todo));
}

}  // namespace

tl::expected<std::vector<std::string>, FileError> ExpandInputs(
    const std::vector<std::string>& given) {
  std::vector<std::string> files;
  std::set<std::string> seen;
  const auto add = [&](const std::string& path) {
    std::error_code error;
    const fs::path canonical = fs::canonical(path, error);
    if (seen.insert(error ? path : canonical.string()).second) files.push_back(path);
  };
  for (const std::string& path : given) {
    struct stat status;
    if (stat(path.c_str(), &status) != 0) {
      return tl::unexpected(FileError{path, SystemError(errno).value()});
    }
    if (!S_ISDIR(status.st_mode)) {
      add(path);
      continue;
    }
    std::vector<std::string> found;
    std::error_code error;
    for (fs::recursive_directory_iterator entry(path, error), end; !error && entry != end;
         entry.increment(error)) {
      std::error_code ignored;
      if (entry->is_regular_file(ignored) && LooksLikeProgram(entry->path())) {
        found.push_back(entry->path().string());
      }
    }
    if (error) {
      return tl::unexpected(
          FileError{path, {ErrorCode::kInvalidInput, "cannot be listed: " + error.message()}});
    }
    if (found.empty()) {
      return tl::unexpected(FileError{
          path,
          {ErrorCode::kInvalidInput,
           "there is no program in this folder; programs end in .hlo, .txt or .pb, or in one of "
           "these and .gz: name files that end otherwise one by one"}});
    }
    std::sort(found.begin(), found.end());
    for (const std::string& file : found) add(file);
  }
  return files;
}

StatusOr<std::string> ReadInput(const std::string& path, size_t most_bytes) {
  // A pipe without a writer must not keep open() waiting.
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return SystemError(errno);
  struct Closer {
    int file;
    ~Closer() { close(file); }
  } closer{file};
  struct stat status;
  if (fstat(file, &status) != 0) return SystemError(errno);
  if (S_ISDIR(status.st_mode)) {
    return MakeError(ErrorCode::kInvalidInput, "this is a folder; give a file");
  }
  if (!S_ISREG(status.st_mode)) {
    return MakeError(ErrorCode::kInvalidInput, "this is not a regular file; save it to one first");
  }
  const auto size = static_cast<size_t>(status.st_size);
  if (size > most_bytes) {
    return MakeError(ErrorCode::kInvalidInput,
                     fmt::format("the file has {} MiB, more than the {} MiB that hone reads; "
                                 "--max-input-mb allows more",
                                 (size + (1 << 20) - 1) >> 20, most_bytes >> 20));
  }
  // Files in /proc say that they are empty and are not: what counts is what can be read.
  std::string data(size + 1, '\0');
  size_t length = 0;
  for (;;) {
    const ssize_t got = read(file, data.data() + length, data.size() - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError(errno);
    if (got == 0) break;
    length += static_cast<size_t>(got);
    if (length > most_bytes) {
      return MakeError(ErrorCode::kInvalidInput, "the file grows while it is read");
    }
    if (length == data.size()) data.resize(2 * data.size());
  }
  data.resize(length);
  if (length == 0) {
    return MakeError(ErrorCode::kInvalidInput, "the file is empty; give a file with a program");
  }
  return data;
}

StatusOr<ProgramInfo> LoadProgram(Pool& pool, const std::string& path, size_t most_bytes) {
  StatusOr<std::string> data = ReadInput(path, most_bytes);
  if (!data) return tl::unexpected(data.error());
  return pool.Load(*std::move(data));
}

}  // namespace hone::cli
