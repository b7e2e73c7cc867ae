// Is XLA there, and does it answer?
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "jobs/child.h"
#include "jobs/doctor/checks.h"
#include "jobs/input.h"
#include "jobs/ready_worker.h"
#include "wire/pool.h"

namespace hone::jobs::doctor {
namespace {

namespace fs = std::filesystem;

bool Installed() {
  std::error_code error;
  return fs::exists(ExecutableFolder() / "xla.lock", error);
}

}  // namespace

Finding Libraries(const Surroundings&) {
  const StatusOr<XlaLibraries> xla = FindXlaLibraries();
  if (!xla) return {State::kMissing, xla.error().message, "reinstall hone"};
  if (xla->whole) {
    return {State::kOk, xla->folder + ", unpacked of the pinned wheel and of the right sizes", ""};
  }
  const char* const to_do =
      Installed() ? "run `hone setup`, which fetches 274 MB" : "run setup/install";
  // A worker that was built in a source tree may have been linked with another folder.
  return {Installed() ? State::kMissing : State::kWarning, xla->folder + " does not hold them",
          to_do};
}

Finding Worker(const Surroundings&) {
  if (const StatusOr<XlaLibraries> xla = FindXlaLibraries(); Installed() && xla && !xla->whole) {
    return {State::kMissing, "cannot start without the libraries", "run `hone setup`"};
  }
  PoolOptions options;
  StatusOr<std::string> path = ReadyWorker(/*quiet=*/true);
  if (path) options.worker_path = *std::move(path);
  const StatusOr<std::unique_ptr<Pool>> pool =
      path ? Pool::Start(options) : tl::unexpected(path.error());
  if (!pool) {
    return {State::kMissing, pool.error().message,
            Installed() ? "run `hone setup`; if that does not help, reinstall hone"
                        : "run `make build`"};
  }
  return {State::kOk,
          fmt::format("answers: {}, {} passes", (*pool)->version(), (*pool)->passes().size()), ""};
}

Finding SandboxFinding(const std::string& said) {
  int refused = 0;
  std::string missing;
  std::string possible;
  std::istringstream lines(said);
  for (std::string line; std::getline(lines, line);) {
    const std::string word = line.substr(0, line.find(' '));
    const std::string rest = line.substr(std::min(line.size(), word.size() + 1));
    if (word == "refused") ++refused;
    if (word == "missing") missing += (missing.empty() ? "" : "; ") + rest;
    if (word == "possible")
      possible += (possible.empty() ? "" : ", ") + rest.substr(0, rest.find(": "));
  }
  if (missing.empty() && possible.empty() && refused > 0) {
    return {State::kOk,
            fmt::format("workers are locked up: {} of {} ways out are refused", refused, refused),
            ""};
  }
  std::string what = missing.empty() ? "workers are not locked up as they should be" : missing;
  if (!possible.empty()) what += "; a worker can: " + possible;
  return {State::kWarning, what,
          "tune programs that you trust only, or run hone on Linux 5.13 or later with seccomp and "
          "Landlock, in a container that allows them"};
}

Finding Sandbox(const Surroundings&) {
  const StatusOr<std::string> worker = ReadyWorker(/*quiet=*/true);
  const StatusOr<Finished> done =
      worker ? RunProgram({*worker, "--check-sandbox"}, {.variables = {}, .seconds = 30})
             : tl::unexpected(worker.error());
  if (!done || done->exit_code != 0) {
    return {State::kWarning, "the worker does not start, so nothing is known", "see worker"};
  }
  return SandboxFinding(done->out);
}

Finding Learner(const Surroundings&) {
  const fs::path path = ExecutableFolder() / "hone-learn";
  std::error_code error;
  if (!fs::exists(path, error)) {
    return {State::kOptional, "no hone-learn, which only `hone train` is",
            "to train policies, build hone where libtorch is (on Debian: libtorch-dev)"};
  }
  const StatusOr<Finished> done =
      RunProgram({path.string(), "--help"}, {.variables = {}, .seconds = 30});
  if (done && done->exit_code == 0) return {State::kOk, "hone-learn runs", ""};
  const std::string said = done ? done->err : done.error().message;
  return {State::kWarning, "hone-learn does not run: " + said,
          "install libtorch (on Debian: libtorch-dev)"};
}

Finding Lapack(const Surroundings& here) {
  for (const std::string& name : here.lapack) {
    void* const library = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) continue;
    const link_map* where = nullptr;
    const bool known = dlinfo(library, RTLD_DI_LINKMAP, &where) == 0 && where != nullptr;
    Finding found{State::kOk, known ? where->l_name : name, ""};
    dlclose(library);
    return found;
  }
  return {State::kWarning,
          "not here: programs with solve, factorisations, singular values or eigenvalues cannot be "
          "run, so neither tuned nor measured",
          fmt::format("on Debian: apt-get install {}", kLapackPackage)};
}

}  // namespace hone::jobs::doctor
