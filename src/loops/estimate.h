// What a schedule might cost, without compiling it: a number that says the same everywhere, for
// tests and for ranking. It knows vectors, processors, strides and what is fused, and nothing of
// caches.
#ifndef HONE_LOOPS_ESTIMATE_H_
#define HONE_LOOPS_ESTIMATE_H_

#include "loops/default_schedule.h"
#include "loops/schedule.h"

namespace hone::loops {

// An estimate is to be the same everywhere: then it is of this processor.
inline constexpr Machine kEstimatedMachine = {2, 32, 16};

// In operations of one processor, one at a time; lower is better.
double EstimatedCost(const Scheduled& scheduled, const Machine& machine);

}  // namespace hone::loops

#endif  // HONE_LOOPS_ESTIMATE_H_
