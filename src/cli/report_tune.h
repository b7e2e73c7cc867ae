// The report of `hone tune`.
#ifndef HONE_CLI_REPORT_TUNE_H_
#define HONE_CLI_REPORT_TUNE_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "report/document.h"
#include "tune/pool_evaluator.h"
#include "tune/tune_program.h"

namespace hone::cli {

struct TuneReport {
  std::string file;
  const tune::TuneResult& result;
  std::string strategy;
  std::string stages;
  uint64_t seed = 1;
  double others_cores = 0;  // that other processes kept busy while tuning
  bool show_progress = false;
  const std::atomic<bool>* interrupted = nullptr;  // then what takes time is left out
};

// Races the plan against itself without each of its decisions, as many as half a minute allows, and
// measures the kernels of both ways. What cannot be had is left out, and the report says so.
report::Document MakeReport(tune::PoolEvaluator& evaluator, const TuneReport& what);

}  // namespace hone::cli

#endif  // HONE_CLI_REPORT_TUNE_H_
