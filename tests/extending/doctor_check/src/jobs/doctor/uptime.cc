#include "jobs/doctor/checks.h"
#include "jobs/doctor/probe.h"

namespace hone::jobs::doctor {

Finding Uptime(const Surroundings& here) {
  return {State::kOk, "up for " + ReadSystem(here, "proc/uptime") + " s", ""};
}

}  // namespace hone::jobs::doctor
