// How much of a budget for planning is left.
#ifndef HONE_MEMORY_DEADLINE_H_
#define HONE_MEMORY_DEADLINE_H_

#include <time.h>

#include <algorithm>
#include <atomic>
#include <limits>

namespace hone::memory {

// Seconds of this thread on a processor: what is planned does not depend on what else the machine
// does.
class Deadline {
 public:
  // Of this thread; tests put one in its place that counts how often it is looked at.
  using Clock = double (*)();
  inline static thread_local Clock clock = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
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
