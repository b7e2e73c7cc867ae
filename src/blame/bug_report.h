// The findings about a cause, as a text for those who can mend it.
#ifndef HONE_BLAME_BUG_REPORT_H_
#define HONE_BLAME_BUG_REPORT_H_

#include <string>

#include "blame/blame.h"

namespace hone::blame {

struct ReportFacts {
  std::string file;         // the program's
  std::string xla_version;  // Pool::version
  std::string hone_version;
  std::string machine;  // a line
  tune::TunePlan a;
  // Names of the files beside the report; "" where one is not written.
  std::string reduced, plan, after;
  std::string rules;  // options that hone needs to know the passes: " --rules FILE"
};

// Markdown: the decision, what it does, the small program, commands of XLA's own tools and of hone.
std::string BugReport(const Answer& answer, const Cause& cause, const ReportFacts& facts);

// "1.83 times the time, 95 % interval [1.80, 1.86]", or what differs.
std::string Effect(Question question, const Finding& finding);

}  // namespace hone::blame

#endif  // HONE_BLAME_BUG_REPORT_H_
