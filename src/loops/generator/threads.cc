#include "loops/generator/threads.h"

#include <algorithm>
#include <chrono>

namespace hone::loops {
namespace {

// How long a thread looks for the next loop before it sleeps: waking up costs more than a small
// kernel.
constexpr auto kSpin = std::chrono::microseconds(200);

void Pause() { __builtin_ia32_pause(); }

}  // namespace

Threads::Threads(int count) : Runner{&Threads::Run} {
  for (int i = 1; i < count; ++i) threads_.emplace_back([this] { Work(); });
}

Threads::~Threads() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Threads::Run(const Runner* self, int64_t iterations, void (*body)(void*, int64_t, int64_t),
                  void* state) {
  Threads& threads = *const_cast<Threads*>(static_cast<const Threads*>(self));
  if (threads.threads_.empty() || iterations == 1) {
    body(state, 0, iterations);
    return;
  }
  threads.body_ = body;
  threads.state_ = state;
  threads.iterations_ = iterations;
  const auto parts = static_cast<int64_t>(8 * (threads.threads_.size() + 1));
  threads.chunk_ = std::max<int64_t>(1, iterations / parts);
  threads.next_.store(0, std::memory_order_relaxed);
  threads.work_.Reopen();
  {
    const std::lock_guard lock(threads.mutex_);
    threads.loops_.fetch_add(1, std::memory_order_release);
  }
  threads.wake_.notify_all();
  threads.TakeParts();
  threads.work_.Close();
}

void Threads::TakeParts() {
  while (true) {
    const int64_t begin = next_.fetch_add(chunk_, std::memory_order_relaxed);
    if (begin >= iterations_) return;
    body_(state_, begin, std::min(begin + chunk_, iterations_));
  }
}

void Threads::Work() {
  uint64_t seen = 0;
  while (true) {
    const auto until = std::chrono::steady_clock::now() + kSpin;
    while (loops_.load(std::memory_order_acquire) == seen &&
           std::chrono::steady_clock::now() < until) {
      Pause();
    }
    if (loops_.load(std::memory_order_acquire) == seen) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return ending_ || loops_.load() != seen; });
      if (ending_) return;
    }
    seen = loops_.load(std::memory_order_acquire);
    if (!work_.Enter()) continue;
    TakeParts();
    work_.Leave();
  }
}

}  // namespace hone::loops
