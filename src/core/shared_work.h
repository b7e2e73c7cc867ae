// Counts the threads at a shared piece of work, so that its owner can wait for the last of them.
#ifndef HONE_CORE_SHARED_WORK_H_
#define HONE_CORE_SHARED_WORK_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace hone {

// The owner waits awake for as long as a thread takes to be woken, and then asleep. It never
// yields: where other processes want the processor, the system gives them whole time slices for it,
// some milliseconds each, but runs at once whoever was asleep.
class SharedWork {
 public:
  // False where the work is closed: then there is nothing to do, and no Leave.
  bool Enter() {
    int64_t inside = inside_.load(std::memory_order_acquire);
    while ((inside & kClosed) == 0) {
      if (inside_.compare_exchange_weak(inside, inside + 1, std::memory_order_acq_rel)) return true;
    }
    return false;
  }

  // After an Enter. The owner may go on before it returns, so whoever leaves keeps the work alive.
  void Leave() {
    if (inside_.fetch_sub(1) != (kClosed | 1) || !asleep_.load()) return;
    const std::lock_guard lock(mutex_);
    nobody_.notify_one();
  }

  // The owner's: lets nobody in any more, and waits until nobody is inside.
  void Close() {
    inside_.fetch_or(kClosed);
    const auto until = std::chrono::steady_clock::now() + kAwake;
    do {
      for (int i = 0; i < kLooks; ++i) {
        if (Empty()) return;
        __builtin_ia32_pause();
      }
    } while (std::chrono::steady_clock::now() < until);
    std::unique_lock lock(mutex_);
    asleep_.store(true);
    nobody_.wait(lock, [&] { return Empty(); });
    asleep_.store(false);
  }

  // The owner's, once it is closed.
  void Reopen() { inside_.store(0, std::memory_order_release); }

 private:
  static constexpr int64_t kClosed = int64_t{1} << 32;
  static constexpr auto kAwake = std::chrono::microseconds(50);
  static constexpr int kLooks = 32;  // between two looks at the clock

  bool Empty() const { return inside_.load() == kClosed; }

  std::atomic<int64_t> inside_{0};  // how many, and kClosed
  std::atomic<bool> asleep_{false};
  std::mutex mutex_;
  std::condition_variable nobody_;
};

}  // namespace hone

#endif  // HONE_CORE_SHARED_WORK_H_
