#include "jobs/package.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <regex>
#include <system_error>

#include "jobs/input.h"

namespace hone::jobs {
namespace {

namespace fs = std::filesystem;

}  // namespace

std::string PythonPathWith(const std::string& first) {
  const char* const path = std::getenv("PYTHONPATH");
  return path == nullptr || *path == '\0' ? first : first + ":" + path;
}

StatusOr<std::string> PackageFolder() {
  const fs::path here = ExecutableFolder();
  std::error_code error;
  for (const fs::path& folder :
       {here.parent_path().parent_path() / "python", here.parent_path().parent_path()}) {
    if (fs::exists(folder / kHook / "sitecustomize.py", error)) return folder.string();
  }
  return MakeError(ErrorCode::kUnsupported, "hone's Python package is not beside " + here.string() +
                                                ": reinstall hone, or run it from its source tree");
}

std::string PackagePython() {
  const StatusOr<std::string> package = PackageFolder();
  if (package && package->ends_with("-packages")) {
    // PREFIX/lib/python3.11/site-packages belongs to PREFIX/bin/python3.
    const fs::path python = fs::path(*package) / "../../../bin/python3";
    if (access(python.c_str(), X_OK) == 0) return python.lexically_normal().string();
  }
  return "python3";
}

StatusOr<Finished> RunModule(const std::string& python, const std::string& module,
                             const std::vector<std::string>& arguments, bool show) {
  const StatusOr<std::string> package = PackageFolder();
  if (!package) return tl::unexpected(package.error());
  std::vector<std::string> words{python, "-m", module};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return RunProgram(words, {.variables = {"PYTHONPATH=" + PythonPathWith(*package)}, .show = show});
}

bool NeedsLowering(const std::string& given) {
  static const std::regex function(R"([^\n]+\.py:[A-Za-z_][A-Za-z0-9_.]*(\([^\n]*\))?)");
  return given.ends_with(".mlir") || std::regex_match(given, function);
}

StatusOr<std::string> Lower(const std::string& given, size_t most_bytes) {
  std::string name = (fs::temp_directory_path() / "hone-lowered-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    return MakeError(ErrorCode::kInvalidInput, name + ": " + std::strerror(errno));
  }
  struct Remover {
    const std::string& folder;
    ~Remover() {
      std::error_code ignored;
      fs::remove_all(folder, ignored);
    }
  } remover{name};
  const std::string lowered = name + "/program.pb";
  const StatusOr<Finished> done =
      RunModule("python3", "hone.lower", {given, "-o", lowered}, /*show=*/false);
  if (!done) return tl::unexpected(done.error());
  if (done->exit_code != 0) {
    const std::string said =
        done->err.empty() ? "python3 ended with " + std::to_string(done->exit_code) : done->err;
    return MakeError(ErrorCode::kInvalidInput,
                     said + "\nit was lowered by the python3 that is first in PATH");
  }
  return ReadInput(lowered, most_bytes);
}

}  // namespace hone::jobs
