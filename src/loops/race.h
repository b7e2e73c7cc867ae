// Which of two kernels of one task runs faster? Measured as a worker's race is (core/race.h).
#ifndef HONE_LOOPS_RACE_H_
#define HONE_LOOPS_RACE_H_

#include <atomic>

#include "core/race_pairs.h"
#include "loops/generator.h"

namespace hone::loops {

// Warm: one run after another on the same buffers. Cold: each run finds the caches without them.
StatusOr<RaceReport> Race(Generator& generator, const Kernel& a, const Kernel& b,
                          const RaceOptions& options, bool cold, int threads,
                          const std::atomic<bool>* interrupted = nullptr);

}  // namespace hone::loops

#endif  // HONE_LOOPS_RACE_H_
