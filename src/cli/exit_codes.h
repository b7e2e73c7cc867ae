// The exit codes of `hone`.
#ifndef HONE_CLI_EXIT_CODES_H_
#define HONE_CLI_EXIT_CODES_H_

namespace hone::cli {

enum ExitCode : int {
  kFine = 0,        // also where nothing better was found
  kDifferent = 1,   // check: the programs compute different things
  kBadInput = 2,    // nothing was done and nothing was written
  kSomeFailed = 3,  // some files, or a pass, failed
  kCannotTell = 4,  // check: no verdict; blame: not all of it is explained
  kInterrupted = 130,
};

}  // namespace hone::cli

#endif  // HONE_CLI_EXIT_CODES_H_
