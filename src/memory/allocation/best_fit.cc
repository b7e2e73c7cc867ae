#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

#include "memory/allocation/allocation.h"

namespace hone::memory {
namespace {

constexpr size_t kMostForQuadratic = 4096;

using Before = std::function<bool(const AllocationBuffer&, const AllocationBuffer&)>;

// One buffer after the other, each in the tightest gap between those placed that live at its time.
Allocation InOrder(const AllocationProblem& problem, const Before& before) {
  std::vector<size_t> order(problem.buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return before(problem.buffers[a], problem.buffers[b]);
  });
  Allocation allocation;
  allocation.offsets.assign(order.size(), 0);
  std::vector<size_t> placed;
  std::vector<std::pair<int64_t, int64_t>> taken;
  for (size_t i : order) {
    const AllocationBuffer& buffer = problem.buffers[i];
    taken.clear();
    for (size_t j : placed) {
      const AllocationBuffer& other = problem.buffers[j];
      if (other.start < buffer.end && buffer.start < other.end) {
        taken.emplace_back(allocation.offsets[j], allocation.offsets[j] + other.size);
      }
    }
    std::sort(taken.begin(), taken.end());
    int64_t floor = 0, best = -1, least = std::numeric_limits<int64_t>::max();
    for (const auto& [low, high] : taken) {
      const int64_t gap = low - floor;
      if (gap >= buffer.size && gap < least) {
        least = gap;
        best = floor;
      }
      floor = std::max(floor, high);
    }
    allocation.offsets[i] = best >= 0 ? best : floor;
    allocation.height = std::max(allocation.height, allocation.offsets[i] + buffer.size);
    placed.push_back(i);
  }
  return allocation;
}

// As a heap does it, with free blocks by address; what lives long goes to the bottom end, the rest
// to the top.
Allocation InTime(const AllocationProblem& problem) {
  struct Event {
    int64_t time;
    bool begins;
    size_t buffer;
  };
  std::vector<Event> events;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    events.push_back({problem.buffers[i].start, true, i});
    events.push_back({problem.buffers[i].end, false, i});
  }
  std::sort(events.begin(), events.end(), [&](const Event& a, const Event& b) {
    if (a.time != b.time) return a.time < b.time;
    if (a.begins != b.begins) return a.begins < b.begins;
    return problem.buffers[a.buffer].size > problem.buffers[b.buffer].size;
  });
  Allocation allocation;
  allocation.offsets.assign(problem.buffers.size(), 0);
  std::map<int64_t, int64_t> free = {{0, std::numeric_limits<int64_t>::max() / 2}};
  for (const Event& event : events) {
    const int64_t size = problem.buffers[event.buffer].size;
    if (size == 0) continue;
    if (event.begins) {
      auto best = free.end();
      for (auto block = free.begin(); block != free.end(); ++block) {
        if (block->second >= size && (best == free.end() || block->second < best->second)) {
          best = block;
        }
      }
      const auto [offset, room] = *best;
      free.erase(best);
      if (room > size) free[offset + size] = room - size;
      allocation.offsets[event.buffer] = offset;
      allocation.height = std::max(allocation.height, offset + size);
      continue;
    }
    int64_t offset = allocation.offsets[event.buffer], room = size;
    if (const auto next = free.find(offset + size); next != free.end()) {
      room += next->second;
      free.erase(next);
    }
    auto next = free.lower_bound(offset);
    if (next != free.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == offset) {
        offset = before->first;
        room += before->second;
        free.erase(before);
      }
    }
    free[offset] = room;
  }
  return allocation;
}

}  // namespace

Allocation BestFit(const AllocationProblem& problem) {
  Allocation best = InTime(problem);
  if (problem.buffers.size() > kMostForQuadratic) return best;
  const auto length = [](const AllocationBuffer& b) { return b.end - b.start; };
  const Before orders[] = {
      [](const auto& a, const auto& b) { return a.size > b.size; },
      [&](const auto& a, const auto& b) {
        return static_cast<double>(a.size) * static_cast<double>(length(a)) >
               static_cast<double>(b.size) * static_cast<double>(length(b));
      },
      [&](const auto& a, const auto& b) { return length(a) > length(b); },
      [](const auto& a, const auto& b) { return a.start < b.start; },
  };
  for (const Before& order : orders) {
    if (best.height <= problem.capacity) break;
    Allocation next = InOrder(problem, order);
    if (next.height < best.height) best = std::move(next);
  }
  return best;
}

StatusOr<Allocation> Allocate(const AllocationProblem& problem, const SearchOptions& options) {
  constexpr size_t kMostForSearch = 1500;
  Allocation allocation = BestFit(problem);
  if (allocation.height <= problem.capacity) return allocation;
  if (problem.buffers.size() > kMostForSearch) {
    return MakeError(ErrorCode::kDeadline, "too many buffers to search for an allocation");
  }
  return Search(problem, options);
}

}  // namespace hone::memory
