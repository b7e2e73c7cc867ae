// What a schedule looks like to a model of its cost, in numbers: its nests' loops, accesses and
// tiles against vectors and caches.
#ifndef HONE_LOOPS_SCHEDULE_FEATURES_H_
#define HONE_LOOPS_SCHEDULE_FEATURES_H_

#include <cstddef>
#include <vector>

#include "loops/default_schedule.h"
#include "loops/schedule.h"

namespace hone::loops {

// Of a nest: see NestFeatures in the source. Logarithms to base 2 where they are of sizes.
inline constexpr size_t kNestFeatures = 40;
// Of a schedule: means over nests by their share of the work, then those of the nest with most work
// and of the one with the next most, then the estimate (loops/estimate.h).
inline constexpr size_t kScheduleFeatures = 3 * kNestFeatures + 1;

std::vector<float> ScheduleFeatures(const Scheduled& scheduled, const Machine& machine);

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULE_FEATURES_H_
