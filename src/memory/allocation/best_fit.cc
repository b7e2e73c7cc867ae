#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

#include "memory/allocation/allocation.h"
#include "memory/deadline.h"

namespace hone::memory {
namespace {

constexpr size_t kMostPairs = 20'000'000;  // of buffers that live at the same time
constexpr int kMostRounds = 60;            // of placing again

using Order = std::vector<size_t>;

// For each buffer, those that live at the same time; nothing where there are too many, or too many
// for the time that is left.
std::vector<std::vector<uint32_t>> Neighbours(const AllocationProblem& problem,
                                              const Deadline& deadline) {
  std::vector<std::vector<uint32_t>> neighbours(problem.buffers.size());
  Order by_start(problem.buffers.size());
  std::iota(by_start.begin(), by_start.end(), size_t{0});
  std::stable_sort(by_start.begin(), by_start.end(), [&](size_t a, size_t b) {
    return problem.buffers[a].start < problem.buffers[b].start;
  });
  std::vector<size_t> alive;
  size_t pairs = 0;
  for (size_t i : by_start) {
    const AllocationBuffer& buffer = problem.buffers[i];
    std::erase_if(alive, [&](size_t j) { return problem.buffers[j].end <= buffer.start; });
    if (buffer.size == 0 || buffer.end <= buffer.start) continue;
    pairs += alive.size();
    Work::Add(static_cast<int64_t>(1 + alive.size() / 8));
    if (pairs > kMostPairs || deadline.Passed()) return {};
    for (size_t j : alive) {
      neighbours[i].push_back(static_cast<uint32_t>(j));
      neighbours[j].push_back(static_cast<uint32_t>(i));
    }
    alive.push_back(i);
  }
  return neighbours;
}

// One buffer after the other, each in the tightest gap between those placed that live at its time.
// Of endless height where the deadline passes first.
Allocation InOrder(const AllocationProblem& problem,
                   const std::vector<std::vector<uint32_t>>& neighbours, const Order& order,
                   const Deadline& deadline) {
  constexpr size_t kBetweenLooks = 64;  // buffers
  Allocation allocation;
  size_t placed = 0;
  allocation.offsets.assign(order.size(), -1);
  std::vector<std::pair<int64_t, int64_t>> taken;
  for (size_t i : order) {
    if (++placed % kBetweenLooks == 0 && deadline.Passed()) {
      allocation.height = std::numeric_limits<int64_t>::max();
      break;
    }
    const AllocationBuffer& buffer = problem.buffers[i];
    Work::Add(static_cast<int64_t>(1 + neighbours[i].size() / 8));
    taken.clear();
    for (uint32_t j : neighbours[i]) {
      if (allocation.offsets[j] < 0) continue;
      taken.emplace_back(allocation.offsets[j], allocation.offsets[j] + problem.buffers[j].size);
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

Allocation BestFit(const AllocationProblem& problem, const Deadline& deadline) {
  Allocation best = InTime(problem);
  if (best.height <= problem.capacity || deadline.Passed()) return best;
  const auto neighbours = Neighbours(problem, deadline);
  if (neighbours.empty()) return best;
  const auto length = [](const AllocationBuffer& b) { return b.end - b.start; };
  using Before = std::function<bool(const AllocationBuffer&, const AllocationBuffer&)>;
  const Before orders[] = {
      [](const auto& a, const auto& b) { return a.size > b.size; },
      [&](const auto& a, const auto& b) { return length(a) > length(b); },
      [](const auto& a, const auto& b) { return a.start < b.start; },
      [&](const auto& a, const auto& b) {
        return static_cast<double>(a.size) * static_cast<double>(length(a)) >
               static_cast<double>(b.size) * static_cast<double>(length(b));
      },
  };
  Order order(problem.buffers.size()), best_order;
  for (const Before& before : orders) {
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return before(problem.buffers[a], problem.buffers[b]);
    });
    Allocation next = InOrder(problem, neighbours, order, deadline);
    if (next.height < best.height || best_order.empty()) {
      best_order = order;
      if (next.height < best.height) best = std::move(next);
    }
    if (best.height <= problem.capacity || deadline.Passed()) return best;
  }
  // What reaches too high goes first the next time (Joslin and Clements 1999, "Squeaky Wheel
  // Optimization").
  order = best_order;
  for (int round = 0; round < kMostRounds; ++round) {
    Allocation next = InOrder(problem, neighbours, order, deadline);
    if (deadline.Passed()) break;
    std::stable_partition(order.begin(), order.end(), [&](size_t i) {
      return next.offsets[i] + problem.buffers[i].size > problem.capacity;
    });
    if (next.height < best.height) best = std::move(next);
    if (best.height <= problem.capacity) break;
  }
  return best;
}

StatusOr<Allocation> Allocate(const AllocationProblem& problem, const SearchOptions& options) {
  constexpr size_t kMostForSearch = 1500;
  const Deadline deadline(options.budget_seconds);
  Allocation allocation = BestFit(problem, deadline);
  if (allocation.height <= problem.capacity) return allocation;
  if (problem.buffers.size() > kMostForSearch) {
    return MakeError(ErrorCode::kDeadline, "too many buffers to search for an allocation");
  }
  SearchOptions left = options;
  left.budget_seconds = std::max(0.01, deadline.Left());
  return Search(problem, left);
}

}  // namespace hone::memory
