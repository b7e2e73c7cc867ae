// The causes of a slower or different result, as JSON and as bug reports: `hone blame`.
#ifndef HONE_JOBS_BLAME_H_
#define HONE_JOBS_BLAME_H_

#include <string>
#include <vector>

#include "blame/blame.h"
#include "jobs/json.h"
#include "wire/pool.h"

namespace hone::jobs {

// `other` is the program that `file` was held against; "" where plans and flags were.
Json ToJson(const std::string& file, const std::string& other, const blame::BlameResult& result);

struct NamedFile {
  std::string name;
  std::string bytes;
};
// For each cause QUESTION-N.md, the small program where there is one, and the decision as a plan
// for it. `rules` are --rules' files, `a` the plan that is held to be good.
std::vector<NamedFile> BugReports(Pool& pool, const std::string& file,
                                  const std::vector<std::string>& rules, const tune::TunePlan& a,
                                  const blame::BlameResult& result);

}  // namespace hone::jobs

#endif  // HONE_JOBS_BLAME_H_
