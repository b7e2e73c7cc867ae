// The report of `hone optimize`.
#ifndef HONE_JOBS_REPORT_OPTIMIZE_H_
#define HONE_JOBS_REPORT_OPTIMIZE_H_

#include <string>

#include "core/program.h"
#include "jobs/events.h"
#include "report/document.h"
#include "tune/optimize.h"
#include "wire/pool.h"

namespace hone::jobs {

struct OptimizeReport {
  std::string file;
  const ProgramInfo& program;
  const OptimizeResult& result;
  std::string objective;
  std::string actions;
  std::string search;
  uint64_t seed = 1;
};

// Passes once more, step by step and each left out once; graphs; kernels of a run. Sections that
// cannot be made are left out, and the report says so; once interrupted, also those that take time.
report::Document MakeReport(Pool& pool, const OptimizeReport& what, Events& events);

}  // namespace hone::jobs

#endif  // HONE_JOBS_REPORT_OPTIMIZE_H_
