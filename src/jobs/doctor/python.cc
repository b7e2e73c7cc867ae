// The Python half: its version, and the packages that parts of it want.
#include <fmt/format.h>

#include "jobs/child.h"
#include "jobs/doctor/checks.h"
#include "jobs/doctor/probe.h"
#include "jobs/package.h"

namespace hone::jobs::doctor {
namespace {

constexpr const char* kVersion = "import sys; print('%d.%d.%d' % sys.version_info[:3])";
constexpr const char* kGymnasium =
    "import importlib.metadata as m; print('gymnasium', m.version('gymnasium') + ', numpy', "
    "m.version('numpy'))";
// Ends with 1 where there is no JAX, and otherwise says what hone.jax says of it.
constexpr const char* kJax = R"(
import importlib.metadata, sys
try:
    version = importlib.metadata.version("jax")
except importlib.metadata.PackageNotFoundError:
    sys.exit(1)
try:
    from hone.stablehlo import require_jax
    require_jax("hone.jax")
    import hone.jax._compile
except Exception as error:
    print(f"-{version}: {error}")
else:
    print(f"+{version}")
)";

}  // namespace

Finding Python(const Surroundings& here) {
  const std::optional<std::string> version = FirstLineOf({here.python, "-c", kVersion});
  if (!version) {
    return {State::kMissing, here.python + " cannot be run",
            "install Python 3.11 or newer (on Debian: apt-get install python3): XLA is fetched "
            "with it"};
  }
  const bool old = version->rfind("2.", 0) == 0 ||
                   (version->rfind("3.", 0) == 0 && NumberIn(version->substr(2)) < 11);
  if (old)
    return {State::kMissing, *version + " (" + here.python + ")",
            "hone's package needs Python 3.11 or newer"};
  return {State::kOk, *version + " (" + here.python + ")", ""};
}

Finding Gymnasium(const Surroundings& here) {
  const std::optional<std::string> versions = FirstLineOf({here.python, "-c", kGymnasium});
  if (versions) return {State::kOk, *versions, ""};
  return {State::kOptional, "not here: only the environments for Python want it",
          "pip install gymnasium"};
}

Finding Jax(const Surroundings& here) {
  const StatusOr<std::string> package = PackageFolder();
  const StatusOr<Finished> done =
      RunProgram({here.python, "-c", kJax},
                 {.variables = {"PYTHONPATH=" + package.value_or("")}, .seconds = 60});
  if (!done || done->exit_code != 0 || done->out.empty()) {
    return {State::kOptional, "not here: only hone.jax, `hone record` and `hone with` want it",
            "pip install 'hone[jax]'"};
  }
  const std::string version = done->out.substr(1, done->out.find('\n') - 1);
  if (done->out.front() == '+') return {State::kOk, version + ", and hone's hook fits it", ""};
  return {
      State::kWarning, version,
      "hone.jax, `hone record` and `hone with` do not work with this one: pip install 'hone[jax]'"};
}

}  // namespace hone::jobs::doctor
