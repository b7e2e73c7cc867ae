// Where each of several files' results goes.
#ifndef HONE_JOBS_TARGETS_H_
#define HONE_JOBS_TARGETS_H_

#include <string>
#include <vector>

#include "core/result.h"
#include "jobs/events.h"

namespace hone::jobs {

// The name that was given for one file; for several a file in that folder, which is made, named
// after each with another extension. Empty names where nothing was given. Errors: two of the same.
StatusOr<std::vector<std::string>> Targets(const std::vector<std::string>& files,
                                           const std::string& given, const char* extension);

// A kind of output file of a command: the option that was given, and where it goes.
struct Wanted {
  const std::string& given;
  const char* extension;
  std::vector<std::string>& targets;
};
// Fills in the targets, and tries each: can a file be written there? Errors name what was given, or
// the target.
FileOr<void> PlanTargets(const std::vector<std::string>& files, const std::vector<Wanted>& wanted);

}  // namespace hone::jobs

#endif  // HONE_JOBS_TARGETS_H_
