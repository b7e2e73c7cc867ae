#include "cli/doctor/checks.h"
#include "cli/doctor/probe.h"

namespace hone::cli::doctor {

Finding Uptime(const Surroundings& here) {
  return {State::kOk, "up for " + ReadSystem(here, "proc/uptime") + " s", ""};
}

}  // namespace hone::cli::doctor
