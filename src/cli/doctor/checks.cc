#include "cli/doctor/checks.h"

namespace hone::cli::doctor {

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
  static const std::vector<Check> checks = {
      {"compiler", "libraries", Libraries},
      {"compiler", "worker", Worker},
      {"compiler", "sandbox", Sandbox},
      {"compiler", "learner", Learner},
      {"compiler", "lapack", Lapack},
      {"machine", "processor", Processor},
      {"machine", "cores", Cores},
      {"machine", "memory", Memory},
      {"machine", "disk", Disk},
      {"steadiness", "governor", Governor},
      {"steadiness", "turbo", Turbo},
      {"steadiness", "huge_pages", HugePages},
      {"steadiness", "load", Load},
      {"steadiness", "repetition", Repetition},
      {"python", "python", Python},
      {"python", "gymnasium", Gymnasium},
      {"python", "jax", Jax},
      {"tools", "node", Node},
      {"tools", "chromium", Chromium},
      {"tools", "ray", Ray},
  };
  return checks;
}

}  // namespace hone::cli::doctor
