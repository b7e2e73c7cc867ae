// Recipes as JSON text, and replaying them.
#ifndef HONE_TUNE_RECIPE_H_
#define HONE_TUNE_RECIPE_H_

#include <string>
#include <string_view>
#include <vector>

#include "core/comparison.h"
#include "core/pass.h"
#include "core/recipe.h"
#include "core/result.h"
#include "wire/pool.h"

namespace hone {

// Among a recipe's flags: so many constants of its program had made-up values.
inline constexpr const char* kStandInsFlag = "stand_in_constants";

// Indented JSON with a line's end; equal recipes give equal text.
std::string RecipeToJson(const Recipe& recipe);

// Every field is checked; the error names the field that is wrong.
StatusOr<Recipe> RecipeFromJson(std::string_view text);

// The id of a pool's pass. An unknown name is an error that suggests the nearest.
StatusOr<PassId> FindPass(const std::vector<PassInfo>& passes, std::string_view name);
StatusOr<std::vector<PassId>> FindPasses(const std::vector<PassInfo>& passes,
                                         const std::vector<std::string>& names);

struct Replayed {
  Exported result;
  Metrics metrics;           // of these very bytes
  bool as_recorded = false;  // its fingerprint is the recipe's
};

// Runs the recipe's passes on a loaded program, step by step and verified. A result other than the
// recipe's, a few times over, is compared with the program, and is as good where it computes the
// same. Errors: another program than the recipe's, an unknown pass, a pass that fails, a result that
// is neither the recipe's nor known to compute the same. A recipe of a program with made-up constants
// also takes the one with its real constants: of the same name, compared with its own result.
StatusOr<Replayed> Replay(Pool& pool, const ProgramInfo& program, const Recipe& recipe,
                          ExportFormat format, const CompareOptions& comparing = {});

}  // namespace hone

#endif  // HONE_TUNE_RECIPE_H_
