// Programs and packages that single features want.
#include "jobs/doctor/checks.h"
#include "jobs/doctor/probe.h"

namespace hone::jobs::doctor {
namespace {

Finding Found(const std::optional<std::string>& version, const char* what, const char* to_do) {
  if (version) return {State::kOk, *version, ""};
  return {State::kOptional, what, to_do};
}

}  // namespace

Finding Node(const Surroundings&) {
  return Found(FirstLineOf({"node", "--version"}),
               "not here: only building the page of HTML reports wants it",
               "on Debian: apt-get install nodejs npm");
}

Finding Chromium(const Surroundings&) {
  return Found(FirstLineOf({"chromium", "--version"}),
               "not here: only the tests of HTML reports want it",
               "on Debian: apt-get install chromium");
}

Finding Ray(const Surroundings& here) {
  return Found(FirstLineOf({here.python, "-c",
                            "import importlib.metadata as m; print('ray', m.version('ray'))"}),
               "not here: only work over several machines wants it",
               "setup/install --ray, or pip install 'ray[client]'");
}

}  // namespace hone::jobs::doctor
