// The tightest loop over passes that a worker can run, which environments are measured against.
#ifndef HONE_CORE_RAW_LOOP_H_
#define HONE_CORE_RAW_LOOP_H_

#include <cstdint>
#include <vector>

#include "core/pass.h"
#include "core/rng.h"

namespace hone {

// Episode e runs `length` actions, picked by EpisodeRng(seed, e), on a copy of the program.
struct RawLoopOptions {
  std::vector<PassId> actions;
  uint64_t seed = 0;
  int64_t first_episode = 0;
  int length = 40;
  double seconds = 1;  // looked at between episodes
};

struct RawLoopResult {
  int64_t steps = 0;
  int64_t episodes = 0;
  int64_t failures = 0;
  double seconds = 0;
};

inline Rng EpisodeRng(uint64_t seed, int64_t episode) {
  return Rng(seed * 0x9e3779b97f4a7c15ull + static_cast<uint64_t>(episode));
}

}  // namespace hone

#endif  // HONE_CORE_RAW_LOOP_H_
