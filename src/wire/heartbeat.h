// The page of memory that a worker shares with its pool: how far it is and where its time went, to be
// read even when it can no longer answer.
#ifndef HONE_WIRE_HEARTBEAT_H_
#define HONE_WIRE_HEARTBEAT_H_

#include <atomic>
#include <cstdint>

#include "core/timing.h"

namespace hone::wire {

struct Heartbeat {
  // Goes up before every pass, and at other sure signs of progress. A deadline is measured from
  // its last change.
  std::atomic<uint64_t> ticks{0};
  // The index, among the passes of the request in hand, of the one that is running; kReplaying
  // while the state it starts from is being rebuilt.
  static constexpr uint32_t kReplaying = 0xffffffffu;
  std::atomic<uint32_t> step{kReplaying};
  // Resident when the worker was ready for its first call: the bare library.
  std::atomic<uint64_t> bare_bytes{0};
  // By the worker: seconds from one change of `ticks` to the next in what it is at, where the call
  // allows more; 0 is as the call says.
  std::atomic<double> patience{0};
  // By the agent: the call in hand is to answer soon, with what it has.
  std::atomic<bool> stop{false};
  // Written between calls only.
  Timing timing;
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);
static_assert(std::atomic<double>::is_always_lock_free);

// Descriptors that a worker inherits.
inline constexpr int kSocketDescriptor = 3;
inline constexpr int kHeartbeatDescriptor = 4;

}  // namespace hone::wire

#endif  // HONE_WIRE_HEARTBEAT_H_
