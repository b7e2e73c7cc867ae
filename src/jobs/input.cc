#include "jobs/input.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "core/nearest.h"
#include "dataset/index.h"
#include "dataset/programs.h"
#include "jobs/package.h"

namespace hone::jobs {
namespace {

namespace fs = std::filesystem;

// MLIR's, in which StableHLO comes from jax.export and others.
constexpr std::string_view kBytecode = "ML\xefR";
// With which some editors begin a text of UTF-8.
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

tl::unexpected<Error> SystemError(int number) {
  const char* const todo = number == ENOENT   ? "; is the name right?"
                           : number == EACCES ? "; are you allowed to read it?"
                                              : "";
  return MakeError(ErrorCode::kInvalidInput, fmt::format("{}{}", std::strerror(number), todo));
}

}  // namespace

StatusOr<std::vector<dataset::Dataset>> FindDatasets(const std::vector<std::string>& folders) {
  return dataset::KnownDatasets(folders, (ExecutableFolder() / "hone").string());
}

fs::path ExecutableFolder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

StatusOr<std::vector<std::string>> InSplit(const std::vector<std::string>& files,
                                           const std::string& split) {
  if (split.empty()) return files;
  const auto& splits = dataset::Splits();
  if (std::find(splits.begin(), splits.end(), split) == splits.end()) {
    return MakeError(ErrorCode::kInvalidInput,
                     fmt::format("there is no split '{}'{}", split, DidYouMean(split, splits)));
  }
  std::map<fs::path, std::map<std::string, std::string>> splits_of;  // folder to file to split
  std::vector<std::string> chosen;
  for (const std::string& file : files) {
    std::error_code error;
    const fs::path path = fs::absolute(file, error).lexically_normal();
    fs::path folder = path.parent_path();
    while (folder.has_relative_path() && !fs::exists(dataset::IndexPath(folder.string()), error)) {
      folder = folder.parent_path();
    }
    if (!splits_of.count(folder)) {
      const StatusOr<dataset::Index> index = dataset::ReadIndex(folder.string());
      if (!index) {
        return MakeError(ErrorCode::kInvalidInput,
                         file +
                             ": no index.tsv says in what split it is; `hone dataset index` and "
                             "`hone dataset split` make one");
      }
      for (const dataset::Row& row : index->rows) splits_of[folder][row.file] = row.split;
    }
    if (splits_of[folder][path.lexically_relative(folder).string()] == split) {
      chosen.push_back(file);
    }
  }
  if (chosen.empty()) {
    return MakeError(ErrorCode::kInvalidInput, "none of the programs is in the split " + split);
  }
  return chosen;
}

StatusOr<std::string> FindInput(const std::string& given, const std::vector<std::string>& folders) {
  if (NeedsLowering(given)) return given;
  struct stat status;
  if (stat(given.c_str(), &status) == 0 || errno != ENOENT) return given;
  const auto datasets = FindDatasets(folders);
  if (!datasets) return tl::unexpected(datasets.error());
  if (!dataset::LooksLikeUri(*datasets, given)) return given;
  StatusOr<std::string> path = dataset::Resolve(*datasets, given);
  if (!path) path.error().message = "no such file; as a URI: " + path.error().message;
  return path;
}

FileOr<std::vector<std::string>> ExpandInputs(const std::vector<std::string>& given,
                                              const std::vector<std::string>& datasets) {
  std::vector<std::string> files;
  std::set<std::string> seen;
  const auto add = [&](const std::string& path) {
    std::error_code error;
    const fs::path canonical = fs::canonical(path, error);
    if (seen.insert(error ? path : canonical.string()).second) files.push_back(path);
  };
  for (const std::string& name : given) {
    const StatusOr<std::string> path = FindInput(name, datasets);
    if (!path) return Wrong(name, path.error());
    if (NeedsLowering(*path)) {
      files.push_back(*path);
      continue;
    }
    struct stat status;
    if (stat(path->c_str(), &status) != 0) {
      return tl::unexpected(FileError{name, SystemError(errno).value()});
    }
    if (!S_ISDIR(status.st_mode)) {
      add(*path);
      continue;
    }
    const StatusOr<std::vector<std::string>> found = dataset::ListPrograms(*path);
    if (!found) return Wrong(name, found.error());
    for (const std::string& file : *found) add((fs::path(*path) / file).string());
  }
  return files;
}

FileOr<std::vector<std::string>> ChooseInputs(const ProgramSet& programs,
                                              const std::vector<std::string>& datasets) {
  const auto files = ExpandInputs(programs.files, datasets);
  if (!files) return tl::unexpected(files.error());
  return About("", InSplit(*files, programs.split));
}

StatusOr<std::string> ReadInput(const std::string& path, size_t most_bytes) {
  if (NeedsLowering(path)) return Lower(path, most_bytes);
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
  if (data.starts_with(kBytecode)) return Lower(path, most_bytes);
  if (data.starts_with(kByteOrderMark)) data.erase(0, kByteOrderMark.size());
  return data;
}

StatusOr<std::string> ReadInput(const std::string& given, size_t most_bytes,
                                const std::vector<std::string>& datasets) {
  const StatusOr<std::string> path = FindInput(given, datasets);
  return path ? ReadInput(*path, most_bytes) : path;
}

StatusOr<ProgramInfo> LoadProgram(Pool& pool, const std::string& path, size_t most_bytes) {
  StatusOr<std::string> data = ReadInput(path, most_bytes);
  if (!data) return tl::unexpected(data.error());
  return pool.Load(*std::move(data));
}

}  // namespace hone::jobs
