// A part of a program that is tuned alone: an expensive operation with the cheap ones around it.
#ifndef HONE_CORE_PROGRAM_TASK_H_
#define HONE_CORE_PROGRAM_TASK_H_

#include <cstdint>
#include <string>

namespace hone {

struct ProgramTask {
  std::string text;    // a program of its own, as HLO
  std::string what;    // the name of an instruction of it, its most expensive, in the first place
  int64_t places = 1;  // in the program that have the task
  int64_t runs = 1;    // of it in a run of the program, over all places, as far as loops tell
};

}  // namespace hone

#endif  // HONE_CORE_PROGRAM_TASK_H_
