// The memory of a program planned, and the plan and its page written; a written plan run on the
// modelled machine: `hone memory`.
#ifndef HONE_JOBS_MEMORY_FILES_H_
#define HONE_JOBS_MEMORY_FILES_H_

#include <cstdint>
#include <string>

#include "jobs/plan_memory.h"
#include "jobs/workers.h"

namespace hone::jobs {

struct PlanFileOptions {
  std::string file;
  std::string machine = "neuroncore_v2";  // a preset, or a file in their format
  // A file for the plan, where it is verified or an interrupt came before; "" writes none.
  std::string output;
  std::string report;
  std::string store;
  PlanMemoryOptions job;  // but for the store and the program's name
};

struct PlannedFile {
  memory::Machine machine;
  LoadedNetwork loaded;
  MemoryResult result;
};
FileOr<PlannedFile> PlanMemoryOf(const PlanFileOptions& options, const WorkerOptions& workers,
                                 Events& events);
Json ToJson(const PlannedFile& planned, const PlanFileOptions& options);

struct SimulateOptions {
  std::string plan;     // a file
  std::string program;  // where it is not where it was; "": as the plan names it
  VerifyOptions verify;
};

struct SimulatedPlan {
  std::string file;  // the program's
  std::string machine;
  Verification verification;
};
FileOr<SimulatedPlan> SimulatePlan(const SimulateOptions& options, const WorkerOptions& workers,
                                   Events& events);
Json ToJson(const SimulatedPlan& simulated, const SimulateOptions& options);

// The machines that come with hone.
Json MachinesJson();

}  // namespace hone::jobs

#endif  // HONE_JOBS_MEMORY_FILES_H_
