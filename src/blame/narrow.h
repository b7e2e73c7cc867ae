// A decision that is accused, as far down as decisions go: of a pass to its rewrites, of a flag to
// the places that are decided otherwise under it.
#ifndef HONE_BLAME_NARROW_H_
#define HONE_BLAME_NARROW_H_

#include <cstddef>
#include <functional>
#include <vector>

#include "blame/decision.h"
#include "blame/differences.h"
#include "blame/laboratory.h"

namespace hone::blame {

struct Narrowing {
  Laboratory& laboratory;
  ProgramId program = 0;
  tune::TunePlan a;
  // Whether the second shows what is asked about, against the first; confirm is surer.
  std::function<Finding(const tune::TunePlan&, const tune::TunePlan&)> test;
  std::function<Finding(const tune::TunePlan&, const tune::TunePlan&)> confirm;
  std::function<bool()> stop;
};

// `a` with the differences `guilty`, of which `index` is one, shows it. The narrowed decision is
// confirmed, both by itself and by leaving it out; where that fails, the whole decision is
// reported.
Decision Narrow(const Narrowing& narrowing, const Differences& differences, size_t index,
                const std::vector<size_t>& guilty);

}  // namespace hone::blame

#endif  // HONE_BLAME_NARROW_H_
