// How long schedules of a task take, in turns with one that they are held against.
#ifndef HONE_LOOPS_TIMER_H_
#define HONE_LOOPS_TIMER_H_

#include "loops/generator.h"

namespace hone::loops {

// Keeps references to what it is made of.
class ScheduleTimer {
 public:
  // `reference` is compiled and run. Errors: it cannot be.
  static StatusOr<ScheduleTimer> Make(Generator& generator, const Kernel& reference, int threads);

  // The logarithm of its time by the reference's. One that would take for ever is told by its first
  // run. Errors: it cannot be compiled, or run in time.
  StatusOr<double> Time(const Kernel& kernel);

 private:
  ScheduleTimer(Generator& generator, const Kernel& reference, int threads)
      : generator_(&generator), reference_(&reference), threads_(threads) {}

  Generator* generator_;
  const Kernel* reference_;
  int threads_;
  int repeats_ = 1;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_TIMER_H_
