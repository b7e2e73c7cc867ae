// The report of `hone rewrites`.
#ifndef HONE_JOBS_REPORT_REWRITES_H_
#define HONE_JOBS_REPORT_REWRITES_H_

#include <optional>
#include <string>

#include "core/comparison.h"
#include "core/program.h"
#include "core/rewrite.h"
#include "report/document.h"
#include "wire/pool.h"

namespace hone::jobs {

struct RewritesReport {
  std::string file;
  const ProgramInfo& program;
  const StateName& state;  // that the pass is listed on
  std::string pass;
  const Rewrites& rewrites;
  // Where some were made: what came of it.
  std::optional<StateName> result;
  std::optional<Metrics> metrics;
  std::optional<ComparisonReport> comparison;
};

report::Document MakeReport(Pool& pool, const RewritesReport& what);

}  // namespace hone::jobs

#endif  // HONE_JOBS_REPORT_REWRITES_H_
