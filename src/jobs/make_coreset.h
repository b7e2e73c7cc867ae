// A coreset (tune/coreset.h) of many programs: `hone coreset`.
#ifndef HONE_JOBS_MAKE_CORESET_H_
#define HONE_JOBS_MAKE_CORESET_H_

#include <cstddef>
#include <string>
#include <vector>

#include "jobs/events.h"
#include "tune/coreset.h"
#include "tune/optimize.h"
#include "wire/pool.h"

namespace hone::jobs {

struct CoresetOptions {
  std::vector<std::string> files;
  ReadProgram read;
  OptimizeOptions search;  // on each program; not verified
  size_t size = 32;        // sequences, at most
};

struct CoresetResult {
  Coreset coreset;
  size_t candidates = 0;  // sequences that it was chosen from
  size_t programs = 0;    // that they were compared on
};

// Each program's search yields candidates; all candidates are compared on all programs.
// A program that fails is left out with a warning. Errors: kUnsupported where no sequence helps any
// program, kInterrupted where there was no time to know.
StatusOr<CoresetResult> MakeCoreset(Pool& pool, const CoresetOptions& options, Events& events);

}  // namespace hone::jobs

#endif  // HONE_JOBS_MAKE_CORESET_H_
