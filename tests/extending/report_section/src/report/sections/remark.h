// An example: a remark.
#ifndef HONE_REPORT_SECTIONS_REMARK_H_
#define HONE_REPORT_SECTIONS_REMARK_H_

#include <string>

#include "report/json.h"

namespace hone::report {

struct Remark {
  std::string text;
};

inline Json ToSection(const Remark& remark) { return {{"kind", "remark"}, {"text", remark.text}}; }

}  // namespace hone::report

#endif  // HONE_REPORT_SECTIONS_REMARK_H_
