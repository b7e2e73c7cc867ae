// Waiting for a message that is about to come.
#ifndef HONE_WIRE_AWAKE_H_
#define HONE_WIRE_AWAKE_H_

#include <sched.h>

#include <algorithm>
#include <chrono>

namespace hone::wire {

// Waits without sleeping, for waking up costs more than a quick pass does; but sleeps where others
// want the processor. Whoever waits has to let them have it, for the other side may be among them,
// and the system gives away whole time slices, some milliseconds each.
class Awake {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Awake(Clock::duration most) : most_(most) {}

  // A wait begins.
  void Begin() {
    if (!taken_) skip_ = 0;
    taken_ = left_ > 0;
    awake_ = left_ == 0 && most_.count() > 0;
    if (left_ > 0) --left_;
    until_ = Clock::now() + most_;
  }

  // Lets others run for a moment. False: it is time to sleep.
  bool Pause() {
    if (!awake_) return false;
    const Clock::time_point before = Clock::now();
    sched_yield();
    const Clock::time_point now = Clock::now();
    awake_ = now < until_;
    if (now - before > kTaken) {
      // More and more of the next waits are asleep from the beginning.
      taken_ = true;
      awake_ = false;
      skip_ = std::min(kMostSkipped, 2 * skip_ + 1);
      left_ = skip_;
    }
    return true;
  }

 private:
  static constexpr auto kTaken = std::chrono::microseconds(100);
  static constexpr int kMostSkipped = 1023;

  const Clock::duration most_;
  Clock::time_point until_;
  bool awake_ = false;
  bool taken_ = false;  // in this wait, or known to be from one before it
  int skip_ = 0, left_ = 0;
};

}  // namespace hone::wire

#endif  // HONE_WIRE_AWAKE_H_
