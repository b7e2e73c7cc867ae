// A pass, rewrite by rewrite.
#ifndef HONE_REPORT_SECTIONS_REWRITES_H_
#define HONE_REPORT_SECTIONS_REWRITES_H_

#include <string>

#include "core/rewrite.h"
#include "report/json.h"

namespace hone::report {

struct RewriteList {
  std::string note;
  std::string pass;
  const Rewrites* rewrites = nullptr;
};

// Only the first sites have their texts where there are very many; the number left out is told.
Json ToSection(const RewriteList& list);

}  // namespace hone::report

#endif  // HONE_REPORT_SECTIONS_REWRITES_H_
