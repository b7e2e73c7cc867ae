// The report of `hone tune`.
#ifndef HONE_JOBS_REPORT_TUNE_H_
#define HONE_JOBS_REPORT_TUNE_H_

#include <cstdint>
#include <string>

#include "jobs/events.h"
#include "report/document.h"
#include "tune/pool_evaluator.h"
#include "tune/tune_program.h"

namespace hone::jobs {

struct TuneReport {
  std::string file;
  const tune::TuneResult& result;
  std::string strategy;
  std::string stages;
  uint64_t seed = 1;
  double others_cores = 0;  // that other processes kept busy while tuning
};

// Races the plan against itself without each of its decisions, as many as half a minute allows, and
// measures the kernels of both ways. Sections that cannot be made are left out, and the report says
// so; once interrupted, also those that take time.
report::Document MakeReport(tune::PoolEvaluator& evaluator, const TuneReport& what, Events& events);

}  // namespace hone::jobs

#endif  // HONE_JOBS_REPORT_TUNE_H_
