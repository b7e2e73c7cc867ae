// Where each of several files' results goes.
#ifndef HONE_CLI_TARGETS_H_
#define HONE_CLI_TARGETS_H_

#include <string>
#include <vector>

#include "core/result.h"
#include "jobs/events.h"

namespace hone::cli {

// The name that was given for one file; for several a file in that folder, which is made, named
// after each with another extension. Empty names where nothing was given. Errors: two of the same.
StatusOr<std::vector<std::string>> Targets(const std::vector<std::string>& files,
                                           const std::string& given, const char* extension);

// The same, each tried: can a file be written there? Errors name what was given, or the target.
tl::expected<std::vector<std::string>, jobs::FileError> WritableTargets(
    const std::vector<std::string>& files, const std::string& given, const char* extension);

}  // namespace hone::cli

#endif  // HONE_CLI_TARGETS_H_
