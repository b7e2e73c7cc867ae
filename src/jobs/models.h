// The policy, the coreset and the limits of a search, as a user names them. A policy and a coreset
// come with hone.
#ifndef HONE_JOBS_MODELS_H_
#define HONE_JOBS_MODELS_H_

#include <string>

#include "core/result.h"
#include "jobs/quantities.h"
#include "tune/change_policy.h"
#include "tune/coreset.h"
#include "tune/optimize.h"

namespace hone::jobs {

// Models that a searcher may need beside the program.
struct ModelOptions {
  std::string policy;   // a path; "" is the one that comes with hone
  std::string coreset;  // likewise
};

// A limit that was not given is none.
void SetBudget(const Budget& budget, OptimizeOptions& search);

// Fills in the policy and the coreset where the searcher needs them or where they were named.
// Errors: there is no such searcher; files that are missing or broken.
Status LoadModels(const ModelOptions& options, const std::string& searcher,
                  OptimizeOptions& search);

// The policy of `hone tune` in a file. Errors do not name it.
StatusOr<tune::ChangePolicy> ReadChangePolicy(const std::string& path);

}  // namespace hone::jobs

#endif  // HONE_JOBS_MODELS_H_
