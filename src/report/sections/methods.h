// A method on many programs, against XLA's own order.
#ifndef HONE_REPORT_SECTIONS_METHODS_H_
#define HONE_REPORT_SECTIONS_METHODS_H_

#include <string>
#include <vector>

#include "report/evaluation.h"
#include "report/json.h"

namespace hone::report {

struct Methods {
  std::string note;
  std::vector<Evaluation> rows;
};

Json ToSection(const Methods& methods);

}  // namespace hone::report

#endif  // HONE_REPORT_SECTIONS_METHODS_H_
