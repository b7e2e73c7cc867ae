// Scripts that complete hone's command line, for each shell: `hone completion`.
#ifndef HONE_JOBS_COMPLETIONS_H_
#define HONE_JOBS_COMPLETIONS_H_

#include <string>
#include <vector>

#include "jobs/manual.h"

namespace hone::jobs {

// The shells that there are scripts for.
const std::vector<std::string>& Shells();

// What `shell`, one of Shells(), reads to complete commands, their actions, flags and the values of
// flags that have a list of them; elsewhere it completes names of files.
std::string CompletionScript(const CommandInfo& hone, const std::string& shell);

}  // namespace hone::jobs

#endif  // HONE_JOBS_COMPLETIONS_H_
