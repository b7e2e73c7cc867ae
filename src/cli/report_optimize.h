// The report of `hone optimize`.
#ifndef HONE_CLI_REPORT_OPTIMIZE_H_
#define HONE_CLI_REPORT_OPTIMIZE_H_

#include <atomic>
#include <string>

#include "core/program.h"
#include "report/document.h"
#include "tune/optimize.h"
#include "wire/pool.h"

namespace hone::cli {

struct OptimizeReport {
  std::string file;
  const ProgramInfo& program;
  const OptimizeResult& result;
  std::string objective;
  std::string actions;
  std::string search;
  uint64_t seed = 1;
  bool show_progress = false;
  const std::atomic<bool>* interrupted = nullptr;  // then what takes time is left out
};

// Passes once more, step by step and each left out once; graphs; kernels of a run. What cannot be
// had is left out, and the report says so.
report::Document MakeReport(Pool& pool, const OptimizeReport& what);

}  // namespace hone::cli

#endif  // HONE_CLI_REPORT_OPTIMIZE_H_
