// A coreset (tune/coreset.h) of many programs: `hone coreset`.
#ifndef HONE_JOBS_MAKE_CORESET_H_
#define HONE_JOBS_MAKE_CORESET_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "jobs/events.h"
#include "jobs/input.h"
#include "jobs/json.h"
#include "jobs/workers.h"
#include "tune/coreset.h"

namespace hone::jobs {

struct CoresetOptions {
  ProgramSet programs;
  std::string objective = "op_count";
  std::string actions = "simplify";
  double seconds = 5;  // of the search on each program
  size_t size = 32;    // sequences, at most
  uint64_t seed = 1;
  std::string output;  // a file
};

struct CoresetResult {
  Coreset coreset;
  size_t candidates = 0;  // sequences that it was chosen from
  size_t programs = 0;    // that they were compared on
};

// Each program's search yields candidates; all candidates are compared on all programs.
// A program that fails is left out with a warning. Errors: kUnsupported where no sequence helps any
// program, kInterrupted where there was no time to know.
FileOr<CoresetResult> MakeCoreset(const CoresetOptions& options, const WorkerOptions& workers,
                                  Events& events);

Json ToJson(const CoresetResult& result, const CoresetOptions& options);

}  // namespace hone::jobs

#endif  // HONE_JOBS_MAKE_CORESET_H_
