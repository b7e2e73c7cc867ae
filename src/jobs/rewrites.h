// Lists the rewrites that a pass would make in a program, and makes some of them: `hone rewrites`.
#ifndef HONE_JOBS_REWRITES_H_
#define HONE_JOBS_REWRITES_H_

#include <optional>
#include <string>
#include <vector>

#include "core/comparison.h"
#include "core/recipe.h"
#include "core/rewrite.h"
#include "jobs/events.h"
#include "jobs/json.h"
#include "wire/pool.h"

namespace hone::jobs {

struct ListRewritesOptions {
  std::string pass;
  std::vector<std::string> after;  // passes that are run first
  bool texts = false;              // of originals and replacements
  bool time_pass = false;
};

struct ListedRewrites {
  PassId pass = 0;
  StateName state;  // after those passes
  Rewrites rewrites;
};

StatusOr<ListedRewrites> ListRewrites(Pool& pool, const ProgramInfo& program,
                                      const ListRewritesOptions& options, Events& events);

struct MadeRewrites {
  bool changed = false;
  std::string bytes;  // the program with them
  Fingerprint fingerprint;
  ProgramInfo program;                         // of these very bytes, loaded
  std::optional<ComparisonReport> comparison;  // with the program as it was
};

// The rewrites that `decisions` choose among those listed; `compare` also runs both programs. A
// comparison that breaks down is one without a verdict.
StatusOr<MadeRewrites> MakeRewrites(Pool& pool, const ProgramInfo& program,
                                    const ListedRewrites& listed, const Decisions& decisions,
                                    ExportFormat format, bool compare, Events& events);

// How it was made, from the program on; `file` as the user gave it.
Recipe RecipeOf(const Pool& pool, const ProgramInfo& program, const std::string& file,
                const ListedRewrites& listed, const Decisions& decisions, const MadeRewrites& made);

// Sites that were accepted, as far as they were listed: for a plan by content.
Decisions ByContent(const Decisions& decisions, const Rewrites& rewrites);

Json ToJson(const Rewrites& rewrites, const std::string& file, const std::string& pass);

}  // namespace hone::jobs

#endif  // HONE_JOBS_REWRITES_H_
