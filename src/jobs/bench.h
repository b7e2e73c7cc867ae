// A program as the stock compiler makes it against the same under a plan, in pairs (by estimates
// for a target that is not here), and where the time of each goes: `hone bench`.
#ifndef HONE_JOBS_BENCH_H_
#define HONE_JOBS_BENCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/race.h"
#include "jobs/events.h"
#include "jobs/given_inputs.h"
#include "jobs/json.h"
#include "jobs/open_program.h"

namespace hone::jobs {

struct BenchOptions {
  std::string file;
  std::string plan;     // a file; "" is the stock compiler's way
  std::string device;   // as device::ParseDeviceName takes it; "": workers measure
  double seconds = 10;  // of racing
  uint64_t seed = 1;    // of the inputs
  GivenInputs inputs;   // a file of your own to run on, where workers measure
  size_t kernels = 0;   // the dearest so many are told
};

struct Benched {
  OpenedProgram opened;
  bool estimated = false;  // for a target that is not here: by its XLA's own model
  RaceReport race;         // of the stock executable against the plan's
  // Of the one executable, where both are the same: then the race has its time, twice.
  size_t runs = 0;
  // Where they are asked for; none of the plan where both are the same executable.
  std::vector<KernelTime> kernels_of_stock;
  std::vector<KernelTime> kernels_of_plan;

  bool IsHere() const { return opened.device == nullptr && !estimated; }
};

FileOr<Benched> Bench(const BenchOptions& options, const WorkerOptions& workers, Events& events);

Json ToJson(const Benched& benched, const BenchOptions& options);

}  // namespace hone::jobs

#endif  // HONE_JOBS_BENCH_H_
