// The exit codes of `hone`.
#ifndef HONE_CLI_EXIT_CODES_H_
#define HONE_CLI_EXIT_CODES_H_

#include <vector>

#include "jobs/manual.h"

namespace hone::cli {

enum ExitCode : int {
  kFine = 0,
  kDifferent = 1,
  kBadInput = 2,
  kSomeFailed = 3,
  kCannotTell = 4,
  kInterrupted = 130,
};

// As the manual explains them.
inline const std::vector<jobs::ExitLine> kExits = {
    {kFine, "fine; also where nothing better than XLA's own was found"},
    {kDifferent, "check: the programs compute different things"},
    {kBadInput, "bad input: nothing was done and nothing was written"},
    {kSomeFailed, "some files, or a pass, failed; doctor: something is missing"},
    {kCannotTell, "check: no verdict; blame: not all of it is explained"},
    {kInterrupted, "interrupted; the best so far is kept"},
};

}  // namespace hone::cli

#endif  // HONE_CLI_EXIT_CODES_H_
