// Policies and coresets for searchers: those that come with hone, and those that a user names.
#ifndef HONE_JOBS_MODELS_H_
#define HONE_JOBS_MODELS_H_

#include <string>

#include "core/result.h"
#include "tune/coreset.h"
#include "tune/optimize.h"

namespace hone::jobs {

// Models that a searcher may need beside the program.
struct ModelOptions {
  std::string policy;   // a path; "" is the one that comes with hone
  std::string coreset;  // likewise
};

// Fills in the policy and the coreset where the searcher needs them or where they were named.
// Errors: there is no such searcher; files that are missing or broken.
Status LoadModels(const ModelOptions& options, const std::string& searcher,
                  OptimizeOptions& search);

}  // namespace hone::jobs

#endif  // HONE_JOBS_MODELS_H_
