// A kernel's loop, shared by the threads of a pool.
#ifndef HONE_COMPILER_NATIVE_SHARED_LOOP_H_
#define HONE_COMPILER_NATIVE_SHARED_LOOP_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "core/shared_work.h"

namespace hone::native {

// A loop whose parts threads take. Each begins with a share of its own, so that neighbouring
// kernels find in a processor's cache what that processor made, and goes on with what others have
// left. Whoever began the loop works too, and waits for nobody who has not begun: threads of a busy
// pool come late, find it closed, and go.
struct SharedLoop {
  using Body = void (*)(void* state, int64_t begin, int64_t end);

  SharedLoop(Body body, void* state, int64_t iterations, int64_t chunk, int64_t threads)
      : body(body), state(state), chunk(chunk), shares(static_cast<size_t>(threads)) {
    for (int64_t t = 0; t < threads; ++t) {
      shares[static_cast<size_t>(t)].next = iterations * t / threads;
      shares[static_cast<size_t>(t)].end = iterations * (t + 1) / threads;
    }
  }

  struct Share {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };
  const Body body;
  void* const state;
  const int64_t chunk;
  std::vector<Share> shares;
  SharedWork work;

  void TakeParts(size_t own) {
    for (size_t i = 0; i < shares.size(); ++i) {
      Share& share = shares[(own + i) % shares.size()];
      while (true) {
        const int64_t begin = share.next.fetch_add(chunk, std::memory_order_relaxed);
        if (begin >= share.end) break;
        body(state, begin, std::min(begin + chunk, share.end));
      }
    }
  }
  void Help(size_t own) {
    if (!work.Enter()) return;
    TakeParts(own);
    work.Leave();
  }
  // Everything is taken; waits for those who are still at it.
  void Close() { work.Close(); }
};

}  // namespace hone::native

#endif  // HONE_COMPILER_NATIVE_SHARED_LOOP_H_
