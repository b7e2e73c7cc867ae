// Small tasks, and schedules of them, by chance.
#ifndef HONE_BENCH_LOOPS_RANDOM_TASK_H_
#define HONE_BENCH_LOOPS_RANDOM_TASK_H_

#include <string>

#include "core/rng.h"
#include "loops/schedule.h"

namespace hone::bench {

// The text of a task of one to three operations, of every kind there is.
std::string RandomTask(Rng& rng);
// Decisions of the catalogue and, now and then, numbers out of the blue; all legal.
loops::Schedule RandomSchedule(const loops::Program& program, Rng& rng);

}  // namespace hone::bench

#endif  // HONE_BENCH_LOOPS_RANDOM_TASK_H_
