// The report of `hone eval`.
#ifndef HONE_CLI_REPORT_EVAL_H_
#define HONE_CLI_REPORT_EVAL_H_

#include <string>
#include <vector>

#include "report/document.h"
#include "report/evaluation.h"

namespace hone::cli {

struct EvalReport {
  std::string method;
  std::string objective;
  std::string actions;
  std::string xla;  // its version
  const std::vector<report::Evaluation>& rows;
  size_t failed = 0;
};

report::Document MakeReport(const EvalReport& what);

}  // namespace hone::cli

#endif  // HONE_CLI_REPORT_EVAL_H_
