// The optimised program that the compiler makes under a plan, written: `hone apply`.
#ifndef HONE_JOBS_APPLY_H_
#define HONE_JOBS_APPLY_H_

#include <string>

#include "core/compile_plan.h"
#include "jobs/events.h"
#include "jobs/json.h"
#include "jobs/workers.h"

namespace hone::jobs {

struct ApplyOptions {
  std::string plan;
  std::string file;
  std::string output;
};

FileOr<Compiled> Apply(const ApplyOptions& options, const WorkerOptions& workers, Events& events);

Json ToJson(const Compiled& compiled, const ApplyOptions& options);

}  // namespace hone::jobs

#endif  // HONE_JOBS_APPLY_H_
