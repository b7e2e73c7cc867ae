// A program as the stock compiler makes it against the same under a plan, in pairs (by estimates
// for a target that is not here), and where the time of each goes: `hone bench`.
#ifndef HONE_JOBS_BENCH_H_
#define HONE_JOBS_BENCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/race.h"
#include "jobs/events.h"
#include "jobs/json.h"
#include "jobs/open_program.h"
#include "tune/tune_plan.h"

namespace hone::jobs {

struct BenchOptions {
  std::string file;  // what the program is called in what is told
  tune::TunePlan plan;
  double seconds = 10;  // of racing
  uint64_t seed = 1;    // of the inputs
  bool kernels = false;
};

struct Benched {
  bool estimated = false;  // for a target that is not here: by its XLA's own model
  RaceReport race;         // of the stock executable against the plan's
  // Where they are asked for; none of the plan where both are the same executable.
  std::vector<KernelTime> kernels_of_stock;
  std::vector<KernelTime> kernels_of_plan;
};

// Errors: a program that cannot be run.
StatusOr<Benched> Bench(const OpenedProgram& opened, const BenchOptions& options, Events& events);

// With the dearest so many kernels; 0: without kernels.
Json ToJson(const Benched& benched, const OpenedProgram& opened, size_t kernels);

}  // namespace hone::jobs

#endif  // HONE_JOBS_BENCH_H_
