// A decision that is accused, and the same decision on a part of the program.
#ifndef HONE_BLAME_DECISION_H_
#define HONE_BLAME_DECISION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "blame/differences.h"
#include "blame/laboratory.h"
#include "core/compile_plan.h"
#include "core/rewrite.h"
#include "tune/tune_plan.h"

namespace hone::blame {

// A place within the stock pipeline, decided otherwise.
struct DecidedSite {
  CompileSite site;
  std::string value;
};

struct Decision {
  Difference difference;
  // Of a pass: where it is in the plan that has this decision and no other; of it the rewrites that
  // do it, none where the pass as a whole does.
  size_t position = 0;
  std::vector<RewriteSite> rewrites;
  // Of a choice: its place. Of a flag: places that, decided as under the flag, do it without the
  // flag.
  std::vector<DecidedSite> sites;
};

// The plan, its pass at `position` without these sites of a listing of that pass.
tune::TunePlan Decline(tune::TunePlan plan, size_t position, const Rewrites& listing,
                       const std::vector<size_t>& declined);

// `a` with the decisions, on another program, a part of the one that they were found on: places are
// found again by the names of instructions, or by what they look like. An error where one is not
// found.
StatusOr<tune::TunePlan> OnPart(Laboratory& laboratory, ProgramId part, const tune::TunePlan& a,
                                const std::vector<Decision>& decisions);

// A line: "choice dot_strategy of dot.5: naive instead of eigen".
std::string Describe(const Decision& decision);
// The instruction that it is about, by name; "" where it is about no single one.
std::string InstructionOf(const Decision& decision);

}  // namespace hone::blame

#endif  // HONE_BLAME_DECISION_H_
