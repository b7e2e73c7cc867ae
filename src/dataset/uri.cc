#include "dataset/uri.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/nearest.h"
#include "dataset/index.h"
#include "dataset/programs.h"

namespace hone::dataset {
namespace {

namespace fs = std::filesystem;

bool Exists(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

struct Parts {
  std::string dataset;
  std::string file;  // may be empty
};

Parts PartsOf(std::string_view uri) {
  while (uri.ends_with('/')) uri.remove_suffix(1);
  const size_t slash = std::min(uri.find('/'), uri.size());
  return {std::string(uri.substr(0, slash)),
          std::string(uri.substr(std::min(slash + 1, uri.size())))};
}

// Nothing outside the folder has a URI.
bool LeavesFolder(const fs::path& file) {
  return file.is_absolute() || std::find(file.begin(), file.end(), "..") != file.end();
}

std::vector<std::string> Names(const std::vector<Dataset>& datasets) {
  std::vector<std::string> names;
  names.reserve(datasets.size());
  for (const Dataset& dataset : datasets) names.push_back(dataset.name);
  return names;
}

const Dataset* Find(const std::vector<Dataset>& datasets, const std::string& name) {
  const auto found = std::find_if(datasets.begin(), datasets.end(),
                                  [&](const Dataset& dataset) { return dataset.name == name; });
  return found == datasets.end() ? nullptr : &*found;
}

// " (did you mean 'models/…'?)" or "".
std::string DidYouMeanProgram(const Dataset& dataset, const std::string& file) {
  const StatusOr<std::vector<std::string>> files = ListPrograms(dataset.folder);
  if (!files) return "";
  std::vector<std::string> names;
  for (const std::string& known : *files) names.push_back(WithoutExtension(known));
  const std::string nearest = Nearest(WithoutExtension(file), names);
  return nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", UriOf(dataset, nearest));
}

}  // namespace

std::string ShippedFolder(const std::string& executable) {
  const fs::path folder = fs::path(executable).parent_path();
  for (const char* where : {"../../data", "../share/hone/data", "../data"}) {
    const fs::path data = (folder / where).lexically_normal();
    if (Exists(IndexPath(data.string()))) return data.string();
  }
  return "";
}

StatusOr<Dataset> DatasetOf(const std::string& folder) {
  std::error_code error;
  const fs::path path = fs::canonical(folder, error);
  if (error || !fs::is_directory(path, error)) {
    return MakeError(ErrorCode::kInvalidInput,
                     fmt::format("there is no folder '{}'; give one that holds programs", folder));
  }
  if (!path.has_filename()) {
    return MakeError(ErrorCode::kInvalidInput,
                     fmt::format("'{}' has no name that its data set could be called by; give a "
                                 "folder below it",
                                 folder));
  }
  return Dataset{path.filename().string(), folder};
}

StatusOr<std::vector<Dataset>> KnownDatasets(const std::vector<std::string>& folders,
                                             const std::string& executable) {
  std::vector<Dataset> datasets;
  for (const std::string& folder : folders) {
    StatusOr<Dataset> dataset = DatasetOf(folder);
    if (!dataset) return tl::unexpected(dataset.error());
    if (const Dataset* other = Find(datasets, dataset->name); other != nullptr) {
      return MakeError(ErrorCode::kInvalidInput,
                       fmt::format("'{}' and '{}' are both data sets called '{}'; rename one, or "
                                   "give one at a time",
                                   other->folder, folder, dataset->name));
    }
    datasets.push_back(*std::move(dataset));
  }
  const std::string shipped = ShippedFolder(executable);
  if (!shipped.empty() && Find(datasets, kShippedName) == nullptr) {
    datasets.push_back({kShippedName, shipped});
  }
  return datasets;
}

std::string UriOf(const Dataset& dataset, std::string_view file) {
  return dataset.name + "/" + WithoutExtension(file);
}

bool LooksLikeUri(const std::vector<Dataset>& datasets, std::string_view text) {
  const Parts parts = PartsOf(text);
  if (parts.dataset.empty() || parts.dataset.front() == '.' || LeavesFolder(parts.file)) {
    return false;
  }
  if (Find(datasets, parts.dataset) != nullptr) return true;
  return !parts.file.empty() && !Nearest(parts.dataset, Names(datasets)).empty();
}

StatusOr<std::string> Resolve(const std::vector<Dataset>& datasets, std::string_view uri) {
  const Parts parts = PartsOf(uri);
  const Dataset* const dataset = Find(datasets, parts.dataset);
  if (dataset == nullptr) {
    const Dataset* const meant = Find(datasets, Nearest(parts.dataset, Names(datasets)));
    return MakeError(
        ErrorCode::kInvalidInput,
        fmt::format("there is no data set '{}'{}; --datasets names folders of programs",
                    parts.dataset, meant == nullptr ? "" : DidYouMeanProgram(*meant, parts.file)));
  }
  if (LeavesFolder(parts.file)) {
    return MakeError(ErrorCode::kInvalidInput, "a URI cannot lead out of its data set's folder");
  }
  const fs::path path = fs::path(dataset->folder) / parts.file;
  // First with an extension: a program and a folder of the same name can stand side by side.
  for (const std::string& extension : ProgramExtensions()) {
    std::error_code error;
    if (fs::is_regular_file(path.string() + extension, error)) return path.string() + extension;
  }
  if (parts.file.empty() || Exists(path)) return path.string();
  return MakeError(
      ErrorCode::kInvalidInput,
      fmt::format("data set '{}' has no program '{}'{}; see `hone dataset list {}`", dataset->name,
                  parts.file, DidYouMeanProgram(*dataset, parts.file), dataset->name));
}

}  // namespace hone::dataset
