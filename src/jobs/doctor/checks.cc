#include "jobs/doctor/checks.h"

namespace hone::jobs::doctor {

const char* StateName(State state) {
  switch (state) {
    case State::kOk:
      return "ok";
    case State::kWarning:
      return "warning";
    case State::kMissing:
      return "missing";
    case State::kOptional:
      return "optional";
  }
  return "";
}

const std::vector<Check>& Checks() {
#define HONE_ROW(group, name, look) {group, name, look},
  static const std::vector<Check> checks = {HONE_DOCTOR_CHECKS(HONE_ROW)};
#undef HONE_ROW
  return checks;
}

}  // namespace hone::jobs::doctor
