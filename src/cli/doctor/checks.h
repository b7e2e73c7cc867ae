// What `hone doctor` looks at: checks.cc lists it, each group has a file.
#ifndef HONE_CLI_DOCTOR_CHECKS_H_
#define HONE_CLI_DOCTOR_CHECKS_H_

#include <string>
#include <vector>

#include "core/lapack.h"

namespace hone::cli::doctor {

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

// In the order in which they are told.
const std::vector<Check>& Checks();

// compiler.cc
Finding Libraries(const Surroundings& here);
Finding Worker(const Surroundings& here);
Finding Sandbox(const Surroundings& here);
Finding SandboxFinding(const std::string& said);  // by a worker's --check-sandbox
Finding Learner(const Surroundings& here);
Finding Lapack(const Surroundings& here);
// machine.cc
Finding Processor(const Surroundings& here);
Finding Cores(const Surroundings& here);
Finding Memory(const Surroundings& here);
Finding Disk(const Surroundings& here);
// steadiness.cc
Finding Governor(const Surroundings& here);
Finding Turbo(const Surroundings& here);
Finding HugePages(const Surroundings& here);
Finding Load(const Surroundings& here);
Finding Repetition(const Surroundings& here);
// python.cc
Finding Python(const Surroundings& here);
Finding Gymnasium(const Surroundings& here);
Finding Jax(const Surroundings& here);
// tools.cc
Finding Node(const Surroundings& here);
Finding Chromium(const Surroundings& here);
Finding Ray(const Surroundings& here);

}  // namespace hone::cli::doctor

#endif  // HONE_CLI_DOCTOR_CHECKS_H_
