// How much of a budget for planning is left.
#ifndef HONE_MEMORY_DEADLINE_H_
#define HONE_MEMORY_DEADLINE_H_

#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

namespace hone::memory {

// Seconds that this thread has spent on a processor.
inline double ProcessorSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// What this thread has done so far, in steps that take about as long each: one box looked at, one
// state of the layouts, one neighbour of an allocation.
class Work {
 public:
  static void Add(int64_t steps) { steps_ += steps; }
  static double Seconds() { return kStepSeconds * static_cast<double>(steps_); }

 private:
  static constexpr double kStepSeconds = 3e-7;  // of a core of 2023
  inline static thread_local int64_t steps_ = 0;
};

// Budgets are of counted work, so that the same budget makes the same plan everywhere, whatever
// else the machine does.
class Deadline {
 public:
  // Of this thread; tests put one in its place that counts how often it is looked at.
  using Clock = double (*)();
  inline static thread_local Clock clock = &Work::Seconds;
  // Of this thread: once it is true, nothing is left of any budget. May be null.
  inline static thread_local const std::atomic<bool>* stop = nullptr;

  explicit Deadline(double seconds = std::numeric_limits<double>::infinity())
      : start_(clock()), seconds_(seconds) {}

  double Spent() const { return clock() - start_; }
  double Left() const {
    const double left = seconds_ - Spent();
    return stop != nullptr && *stop ? std::min(left, 0.0) : left;
  }
  bool Passed() const { return Left() <= 0; }

 private:
  double start_;
  double seconds_;
};

}  // namespace hone::memory

#endif  // HONE_MEMORY_DEADLINE_H_
