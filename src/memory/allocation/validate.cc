#include <algorithm>
#include <map>

#include "memory/allocation/allocation.h"

namespace hone::memory {

// A sweep over time that keeps what lives as disjoint intervals of addresses.
Status Validate(const AllocationProblem& problem, const Allocation& allocation) {
  const auto wrong = [](const std::string& what) { return MakeError(ErrorCode::kInternal, what); };
  const size_t count = problem.buffers.size();
  if (allocation.offsets.size() != count) return wrong("not one offset for each buffer");
  struct Event {
    int64_t time;
    bool begins;
    size_t buffer;
  };
  std::vector<Event> events;
  for (size_t i = 0; i < count; ++i) {
    const AllocationBuffer& buffer = problem.buffers[i];
    const int64_t offset = allocation.offsets[i];
    if (offset < 0 || offset + buffer.size > problem.capacity) {
      return wrong("buffer " + std::to_string(i) + " reaches out of the memory");
    }
    if (buffer.start >= buffer.end || buffer.size == 0) continue;
    events.push_back({buffer.start, true, i});
    events.push_back({buffer.end, false, i});
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.time != b.time ? a.time < b.time : a.begins < b.begins;  // ends come first
  });
  std::map<int64_t, size_t> live;  // by offset
  for (const Event& event : events) {
    const int64_t offset = allocation.offsets[event.buffer];
    if (!event.begins) {
      live.erase(offset);
      continue;
    }
    const int64_t end = offset + problem.buffers[event.buffer].size;
    const auto next = live.lower_bound(offset);
    size_t other = count;
    if (next != live.end() && next->first < end) other = next->second;
    if (next != live.begin()) {
      const auto before = std::prev(next);
      if (before->first + problem.buffers[before->second].size > offset) other = before->second;
    }
    if (other != count) {
      return wrong("buffers " + std::to_string(other) + " and " + std::to_string(event.buffer) +
                   " overlap at time " + std::to_string(event.time));
    }
    live[offset] = event.buffer;
  }
  return {};
}

}  // namespace hone::memory
