// Tasks of loops as users name them.
#ifndef HONE_CLI_LOOP_TASKS_H_
#define HONE_CLI_LOOP_TASKS_H_

#include <string>

#include "core/result.h"

namespace hone::cli {

// Of a file, or of a task that comes with hone. Errors: it is neither. What it says is not checked.
StatusOr<std::string> ReadTaskText(const std::string& given);

}  // namespace hone::cli

#endif  // HONE_CLI_LOOP_TASKS_H_
