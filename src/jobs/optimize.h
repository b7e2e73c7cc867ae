// A better order of XLA's passes for a program, told as it is searched, and measured on a device
// where one is given: `hone optimize`.
#ifndef HONE_JOBS_OPTIMIZE_H_
#define HONE_JOBS_OPTIMIZE_H_

#include <optional>
#include <string>

#include "core/recipe.h"
#include "device/remote_device.h"
#include "jobs/compare.h"
#include "jobs/events.h"
#include "jobs/given_inputs.h"
#include "jobs/json.h"
#include "store/store.h"
#include "tune/optimize.h"
#include "wire/pool.h"

namespace hone::jobs {

struct OptimizeProgramOptions {
  std::string file;  // what the program is called in what is told
  OptimizeOptions
      search;  // but for progress and interrupts, which are Events'; its seed counts for all
  GivenInputs inputs;
  bool allow_unverified = false;           // also of programs that cannot be run
  device::RemoteDevice* device = nullptr;  // where program and result are raced, too; may be null
  double device_seconds = 10;              // for that
  // The search begins with its results; better, verified ones are put there. May be null.
  store::Store* store = nullptr;
};

struct OptimizedProgram {
  OptimizeResult result;
  std::optional<OnDevice> on_device;
  std::string withheld;          // why the result must not be given out; "" where it may be
  std::optional<double> stored;  // what the store had before; nullopt where it had nothing

  // "true", "false" or "skipped".
  const char* Verified() const;
  // The share of what XLA's own order gains that was gained; nullopt where that gains nothing.
  std::optional<double> Ratio() const;
};

StatusOr<OptimizedProgram> OptimizeProgram(Pool& pool, const ProgramInfo& program,
                                           const OptimizeProgramOptions& options, Events& events);

// The head of every command's recipe: versions and the program.
Recipe StartRecipe(const Pool& pool, const ProgramInfo& program, const std::string& file);

// How the result was made.
Recipe RecipeOf(const Pool& pool, const ProgramInfo& program, const OptimizeProgramOptions& options,
                const OptimizedProgram& optimized);

// The answer of `hone optimize --json` for a program: all but the files that are written. `seconds`
// is what was spent on it, `timing` adds that of the workers.
Json ToJson(const Pool& pool, const ProgramInfo& program, const OptimizeProgramOptions& options,
            const OptimizedProgram& optimized, double seconds, bool timing);

// The names of passes.
std::vector<std::string> NamesOf(const Pool& pool, const std::vector<PassId>& passes);

// A value of an objective for people: seconds with their unit, whole numbers as such, large ones
// with a unit.
std::string ValueText(Objective objective, double value);

}  // namespace hone::jobs

#endif  // HONE_JOBS_OPTIMIZE_H_
