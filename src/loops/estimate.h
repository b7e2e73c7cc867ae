// What a schedule might cost, without compiling it: a number that says the same everywhere, for
// tests and for ranking. It knows vectors, processors, strides and what is fused, and nothing of
// caches.
#ifndef HONE_LOOPS_ESTIMATE_H_
#define HONE_LOOPS_ESTIMATE_H_

#include "loops/default_schedule.h"
#include "loops/schedule.h"

namespace hone::loops {

// In operations of one processor, one at a time; lower is better.
double EstimatedCost(const Scheduled& scheduled, const Machine& machine);

}  // namespace hone::loops

#endif  // HONE_LOOPS_ESTIMATE_H_
