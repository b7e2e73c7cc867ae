// A task as an HLO module, the way that a user's JAX would write it: what XLA is given to beat.
#ifndef HONE_LOOPS_HLO_H_
#define HONE_LOOPS_HLO_H_

#include <string>

#include "loops/task.h"

namespace hone::loops {

// Parameters are the task's inputs; the result is a tuple of the outputs.
std::string HloText(const Task& task);

}  // namespace hone::loops

#endif  // HONE_LOOPS_HLO_H_
