// The report of `hone eval`.
#ifndef HONE_JOBS_REPORT_EVALUATION_H_
#define HONE_JOBS_REPORT_EVALUATION_H_

#include <string>
#include <vector>

#include "report/document.h"
#include "report/evaluation.h"

namespace hone::jobs {

struct EvalReport {
  std::string method;
  std::string objective;
  std::string actions;
  std::string xla;  // its version
  const std::vector<report::Evaluation>& rows;
  size_t failed = 0;
};

report::Document MakeReport(const EvalReport& what);

}  // namespace hone::jobs

#endif  // HONE_JOBS_REPORT_EVALUATION_H_
