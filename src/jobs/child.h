// Other programs, run and waited for.
#ifndef HONE_JOBS_CHILD_H_
#define HONE_JOBS_CHILD_H_

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace hone::jobs {

struct Finished {
  int exit_code = 0;  // or 128 + the signal that ended it
  std::string out;
  std::string err;  // empty where it was shown; without the last line's end
};

struct ChildOptions {
  std::vector<std::string> variables;  // "NAME=VALUE", beside ours or in place of them
  bool show = false;                   // its stderr goes to ours
  std::string_view input;              // that it reads on stdin
  double seconds = 0;                  // after which it is killed; 0 is never
};

// `words` begin with the program, which is looked for in PATH. Errors: there is none.
StatusOr<Finished> RunProgram(const std::vector<std::string>& words,
                              const ChildOptions& options = {});

// Ours with these variables, "NAME=VALUE", beside it or in place of its own.
std::vector<std::string> EnvironmentWith(const std::vector<std::string>& added);
// As exec and spawn take words: null comes last. Valid as long as the texts are.
std::vector<char*> Pointers(std::vector<std::string>& texts);

}  // namespace hone::jobs

#endif  // HONE_JOBS_CHILD_H_
