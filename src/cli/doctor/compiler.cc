// Is XLA there, and does it answer?
#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "cli/child.h"
#include "cli/common.h"
#include "cli/doctor/checks.h"
#include "cli/input.h"
#include "cli/worker.h"

namespace hone::cli::doctor {
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
  CommonOptions options;
  options.quiet = true;
  const StatusOr<std::unique_ptr<Pool>> pool = StartPool(options);
  if (!pool) {
    return {State::kMissing, pool.error().message,
            Installed() ? "run `hone setup`; if that does not help, reinstall hone"
                        : "run `make build`"};
  }
  return {State::kOk,
          fmt::format("answers: {}, {} passes", (*pool)->version(), (*pool)->passes().size()), ""};
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

}  // namespace hone::cli::doctor
