// A recipe's result again, to the byte: `hone replay`.
#ifndef HONE_JOBS_REPLAY_H_
#define HONE_JOBS_REPLAY_H_

#include <string>

#include "core/program.h"
#include "jobs/events.h"
#include "jobs/json.h"
#include "jobs/workers.h"
#include "tune/recipe.h"

namespace hone::jobs {

struct ReplayOptions {
  std::string recipe;   // a file
  std::string program;  // where it has moved; "": as the recipe names it, or else beside that
  std::string output;   // the file that the result is written to; "" is none
};
struct ReplayedRecipe {
  Recipe recipe;
  std::string file;  // of the program
  ProgramInfo program;
  Replayed replayed;
};
// Warns where versions or programs differ.
FileOr<ReplayedRecipe> ReplayRecipe(const ReplayOptions& options, const WorkerOptions& workers,
                                    Events& events);

// With the program where it was written to no file.
Json ToJson(const ReplayedRecipe& done, const ReplayOptions& options);

}  // namespace hone::jobs

#endif  // HONE_JOBS_REPLAY_H_
