// What the agent's sides of hone's helper programs share: hone-device and hone-loops, which run
// what may take a process down, and hold what was sent to them while there is room.
#ifndef HONE_WIRE_HELPER_CLIENT_H_
#define HONE_WIRE_HELPER_CLIENT_H_

#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/race_pairs.h"
#include "wire/worker_link.h"

namespace hone::wire {

// What a helper may take: three quarters of the machine's memory where `given` is 0.
inline size_t MemoryLimit(size_t given = 0) {
  const size_t machine =
      static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return given != 0 ? given : machine / 4 * 3;
}

// How to start the helper `program`, or the one at `path` where that is given.
inline LinkOptions HelperLink(const std::string& path, const std::string& program, bool sandbox,
                              size_t memory_limit_bytes) {
  LinkOptions link;
  link.worker_path = path.empty() ? FindProgram(program) : path;
  link.memory_limit_bytes = MemoryLimit(memory_limit_bytes);
  link.arguments = {"--sandbox", sandbox ? "on" : "off", "--memory-bytes",
                    std::to_string(link.memory_limit_bytes)};
  return link;
}

// The answer, or the error in it.
template <class C>
StatusOr<Reply<C>> OrFailure(StatusOr<Reply<C>> reply) {
  if (!reply) return reply;
  const auto failure = reply->getFailure();
  if (!failure.hasMessage()) return reply;
  return MakeError(static_cast<ErrorCode>(failure.getCode()), failure.getMessage());
}

// Things that the process holds, by name, each with `used`: the call that last needed it.
template <class Map>
typename Map::iterator LeastRecent(Map& held) {
  return std::min_element(held.begin(), held.end(), [](const auto& a, const auto& b) {
    return a.second.used < b.second.used;
  });
}

// Seconds of a and b in turns.
template <class List>
std::vector<PairTimes> PairsOf(const List& seconds) {
  std::vector<PairTimes> pairs;
  for (uint32_t i = 0; i + 1 < seconds.size(); i += 2)
    pairs.push_back({seconds[i], seconds[i + 1]});
  return pairs;
}

}  // namespace hone::wire

#endif  // HONE_WIRE_HELPER_CLIENT_H_
