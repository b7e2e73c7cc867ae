// A recipe's result again, to the byte: `hone replay`.
#ifndef HONE_JOBS_REPLAY_H_
#define HONE_JOBS_REPLAY_H_

#include <string>

#include "core/program.h"
#include "jobs/events.h"
#include "jobs/json.h"
#include "tune/recipe.h"
#include "wire/pool.h"

namespace hone::jobs {

StatusOr<Recipe> ReadRecipe(const std::string& file);

// The recipe's program: as the recipe names it, or else beside the recipe's file.
StatusOr<std::string> FindProgramOf(const Recipe& recipe, const std::string& recipe_file);

struct ReplayOptions {
  std::string recipe_file;
  std::string file;  // of the program
  ExportFormat format = ExportFormat::kText;
};
struct ReplayedRecipe {
  ProgramInfo program;
  Replayed replayed;
};
// `data` are the bytes of the program's file. Warns where versions or programs differ. Errors: with
// the file that they are about.
tl::expected<ReplayedRecipe, FileError> ReplayRecipe(Pool& pool, const Recipe& recipe,
                                                     std::string data, const ReplayOptions& options,
                                                     Events& events);

Json ToJson(const ReplayedRecipe& replayed, const Recipe& recipe, const ReplayOptions& options);

}  // namespace hone::jobs

#endif  // HONE_JOBS_REPLAY_H_
