// Processors lent to kernels: threads that share a loop's iterations.
#ifndef HONE_LOOPS_GENERATOR_THREADS_H_
#define HONE_LOOPS_GENERATOR_THREADS_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "core/native_kernel.h"
#include "core/shared_work.h"

namespace hone::loops {

class Threads : public Runner {
 public:
  explicit Threads(int count);  // the caller's thread is one of them
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  static void Run(const Runner* self, int64_t iterations, void (*body)(void*, int64_t, int64_t),
                  void* state);
  void Work();
  void TakeParts();

  // Of the loop in hand.
  void (*body_)(void*, int64_t, int64_t) = nullptr;
  void* state_ = nullptr;
  int64_t iterations_ = 0;
  int64_t chunk_ = 1;
  std::atomic<int64_t> next_{0};
  // Closed between loops: whoever comes late goes away again. So nobody waits for a thread that the
  // system has not woken yet.
  SharedWork work_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<uint64_t> loops_{0};  // that were begun
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_GENERATOR_THREADS_H_
