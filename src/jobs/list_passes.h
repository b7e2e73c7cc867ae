// The passes that hone knows, and those of XLA's that it leaves out: `hone passes`.
#ifndef HONE_JOBS_LIST_PASSES_H_
#define HONE_JOBS_LIST_PASSES_H_

#include <string>
#include <vector>

#include "core/pass.h"
#include "jobs/events.h"
#include "jobs/json.h"
#include "jobs/workers.h"

namespace hone::jobs {

std::vector<std::string> PassGroupNames();

struct ListPassesOptions {
  std::string group;      // only this one; "" is all
  bool simplify = false;  // only the action set `simplify`
};

struct ListedPasses {
  std::string version;  // XLA's
  std::vector<PassInfo> passes;
  std::vector<ExcludedPass> excluded;
};

// Errors: there is no such group.
StatusOr<ListedPasses> ListPasses(const ListPassesOptions& options, const WorkerOptions& workers,
                                  Events& events);

Json ToJson(const ListedPasses& listed);

}  // namespace hone::jobs

#endif  // HONE_JOBS_LIST_PASSES_H_
