// The checks of `hone doctor`: listed here, each group has a file.
#ifndef HONE_JOBS_DOCTOR_CHECKS_H_
#define HONE_JOBS_DOCTOR_CHECKS_H_

#include <string>
#include <vector>

#include "core/lapack.h"

namespace hone::jobs::doctor {

enum class State {
  kOk,
  kWarning,   // works, but something will be slow, noisy or left out
  kMissing,   // hone cannot do its work without
  kOptional,  // not here, and only one feature wants it
};
const char* StateName(State state);

struct Finding {
  State state = State::kOk;
  std::string what;   // what was found, with figures
  std::string to_do;  // empty where there is nothing to do
};

// Where a check looks. Tests bring their own.
struct Surroundings {
  std::string root = "/";     // below which proc/ and sys/ are
  std::string cache;          // the cache folder
  std::string python;         // runs the Python package
  double steady_seconds = 1;  // how long is measured whether times repeat
  std::vector<std::string> lapack = LapackLibraries();
};

struct Check {
  const char* group;
  const char* name;
  Finding (*look)(const Surroundings& here);
};

const std::vector<Check>& Checks();

// Group, which is also the file; name; function. In the order in which they are told.
#define HONE_DOCTOR_CHECKS(X)               \
  X("compiler", "libraries", Libraries)     \
  X("compiler", "worker", Worker)           \
  X("compiler", "sandbox", Sandbox)         \
  X("compiler", "learner", Learner)         \
  X("compiler", "lapack", Lapack)           \
  X("machine", "processor", Processor)      \
  X("machine", "cores", Cores)              \
  X("machine", "memory", Memory)            \
  X("machine", "disk", Disk)                \
  X("steadiness", "governor", Governor)     \
  X("steadiness", "turbo", Turbo)           \
  X("steadiness", "huge_pages", HugePages)  \
  X("steadiness", "load", Load)             \
  X("steadiness", "repetition", Repetition) \
  X("python", "python", Python)             \
  X("python", "gymnasium", Gymnasium)       \
  X("python", "jax", Jax)                   \
  X("tools", "node", Node)                  \
  X("tools", "chromium", Chromium)          \
  X("tools", "ray", Ray)

#define HONE_DECLARE(group, name, look) Finding look(const Surroundings& here);
HONE_DOCTOR_CHECKS(HONE_DECLARE)
#undef HONE_DECLARE

Finding SandboxFinding(const std::string& said);  // by a worker's --check-sandbox

}  // namespace hone::jobs::doctor

#endif  // HONE_JOBS_DOCTOR_CHECKS_H_
