// Tasks of loops as users name them.
#ifndef HONE_CLI_LOOP_TASKS_H_
#define HONE_CLI_LOOP_TASKS_H_

#include <string>

#include "core/result.h"

namespace hone::cli {

// Reads the text of a file, or of a task that comes with hone, unchecked. Errors: it is neither.
StatusOr<std::string> ReadTaskText(const std::string& given);

}  // namespace hone::cli

#endif  // HONE_CLI_LOOP_TASKS_H_
