#include "dataset/programs.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

namespace hone::dataset {
namespace {

namespace fs = std::filesystem;

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

std::string_view FileName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

}  // namespace

const std::vector<std::string>& ProgramExtensions() {
  static const std::vector<std::string> extensions = {".hlo",    ".txt",    ".pb",
                                                      ".hlo.gz", ".txt.gz", ".pb.gz"};
  return extensions;
}

std::string WithoutExtension(std::string_view file) {
  const std::string lower = LowerCase(file);
  for (const std::string& extension : ProgramExtensions()) {
    if (lower.ends_with(extension)) {
      return std::string(file.substr(0, file.size() - extension.size()));
    }
  }
  return std::string(file);
}

bool LooksLikeProgram(std::string_view file) {
  const std::string name = LowerCase(FileName(file));
  if (name.empty() || name.front() == '.') return false;
  for (const char* word : {"readme", "license", "index.", "requirements", "cmakelists"}) {
    if (name.starts_with(word)) return false;
  }
  return WithoutExtension(name).size() < name.size();
}

StatusOr<std::vector<std::string>> ListPrograms(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_regular_file(ignored) && LooksLikeProgram(entry->path().string())) {
      found.push_back(entry->path().lexically_relative(folder).string());
    }
  }
  if (error) return MakeError(ErrorCode::kInvalidInput, "cannot be listed: " + error.message());
  if (found.empty()) {
    return MakeError(ErrorCode::kInvalidInput,
                     "there is no program in this folder; programs end in .hlo, .txt or .pb, or in "
                     "one of these and .gz: name files that end otherwise one by one");
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string GuessFamily(std::string_view file) {
  const fs::path parent = fs::path(file).parent_path();
  if (!parent.empty()) return parent.filename().string();
  const auto end = std::find_if_not(file.begin(), file.end(), IsLetter);
  return end == file.begin() ? WithoutExtension(file) : LowerCase({file.begin(), end});
}

std::string GuessPhase(std::string_view file) {
  static const std::set<std::string> train = {"train", "training", "update", "grad", "gradient"};
  static const std::set<std::string> forward = {"fwd",       "forward", "infer",
                                                "inference", "predict", "apply"};
  const std::string name = LowerCase(FileName(file));
  std::set<std::string> words;
  for (auto at = name.begin(); at != name.end();) {
    at = std::find_if(at, name.end(), IsLetter);
    const auto end = std::find_if_not(at, name.end(), IsLetter);
    words.emplace(at, end);
    at = end;
  }
  const auto is_in = [](const std::set<std::string>& set) {
    return [&set](const std::string& word) { return set.contains(word); };
  };
  if (std::any_of(words.begin(), words.end(), is_in(train))) return "train";
  return std::any_of(words.begin(), words.end(), is_in(forward)) ? "fwd" : "other";
}

}  // namespace hone::dataset
