#include "jobs/ready_worker.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <system_error>

#include "jobs/cache_folder.h"
#include "jobs/input.h"
#include "jobs/package.h"
#include "wire/worker_process.h"

namespace hone::jobs {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibraries[] = {"libtensorflow_cc.so.2", "libtensorflow_framework.so.2"};
constexpr size_t kHashInName = 16;  // characters of a worker's hash, in its folder's name

std::string ReadText(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// As python/hone/fetch_xla.py writes and reads it.
bool IsWhole(const fs::path& folder, const std::string& wheel_sha256) {
  const std::vector<std::string> stamp = Lines(ReadText(folder / "stamp"));
  if (stamp.empty() || stamp.front() != wheel_sha256) return false;
  return std::all_of(std::begin(kLibraries), std::end(kLibraries), [&](const char* name) {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(folder / name, error);
    const std::string line = std::string(name) + " " + std::to_string(size);
    return !error && std::find(stamp.begin(), stamp.end(), line) != stamp.end();
  });
}

fs::path InstalledLock() { return ExecutableFolder() / "xla.lock"; }

}  // namespace

StatusOr<XlaLibraries> FindXlaLibraries() {
  const fs::path here = ExecutableFolder();
  std::error_code error;
  fs::path lock = InstalledLock();
  if (!fs::exists(lock, error)) lock = here.parent_path().parent_path() / "setup/xla.lock";
  static const std::regex locked(R"(([\w-]+)==(\S+) --hash=sha256:([0-9a-f]{64}))");
  const std::string text = ReadText(lock);
  std::smatch found;
  if (!std::regex_search(text, found, locked)) {
    return MakeError(ErrorCode::kUnsupported,
                     "there is no xla.lock beside " + here.string() +
                         ": reinstall hone, or run it from its source tree");
  }
  const fs::path folder = fs::path(CacheFolder()) / (found[1].str() + "-" + found[2].str());
  return XlaLibraries{folder.string(), IsWhole(folder, found[3].str())};
}

Status FetchXla(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "--errors-on-stdout");
  const StatusOr<Finished> done =
      RunModule(PackagePython(), "hone.fetch_xla", arguments, /*show=*/true);
  if (!done) return tl::unexpected(done.error());
  if (done->exit_code == 0) return {};
  const ErrorCode code = done->exit_code == 130 ? ErrorCode::kInterrupted : ErrorCode::kUnsupported;
  std::string said = done->out;
  while (!said.empty() && said.back() == '\n') said.pop_back();
  return MakeError(code, said.empty() ? "XLA could not be fetched" : said);
}

StatusOr<std::string> ReadyWorker(bool quiet, const std::string& target) {
  const fs::path here = ExecutableFolder();
  std::error_code error;
  if (target != "cpu") {
    const std::string worker = wire::FindWorker(target);
    if (access(worker.c_str(), X_OK) == 0) return worker;
    return MakeError(ErrorCode::kUnsupported,
                     "--target " + target +
                         " needs hone-worker-gpu, which is not here: in hone's source "
                         "tree, run `setup/install --gpu` (572 MB are fetched) and `setup/build`");
  }
  if (!fs::exists(InstalledLock(), error)) return wire::FindWorker();
  const StatusOr<XlaLibraries> xla = FindXlaLibraries();
  if (!xla) return tl::unexpected(xla.error());
  const std::string hash = ReadText(here / "hone-worker.sha256").substr(0, kHashInName);
  const fs::path worker = fs::path(CacheFolder()) / ("worker-" + hash) / "hone-worker";
  if (xla->whole && access(worker.c_str(), X_OK) == 0) return worker.string();
  if (Status fetched =
          FetchXla(quiet ? std::vector<std::string>{"--quiet"} : std::vector<std::string>{});
      !fetched) {
    return tl::unexpected(fetched.error());
  }
  return worker.string();
}

}  // namespace hone::jobs
