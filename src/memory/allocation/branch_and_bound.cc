#include <algorithm>
#include <limits>
#include <set>
#include <string>

#include "memory/allocation/allocation.h"
#include "memory/deadline.h"

namespace hone::memory {
namespace {

enum class Outcome { kFound, kNone, kNodeLimit, kDeadline };

constexpr int64_t kUnplaced = -1;
constexpr const char* kOrders[] = {"WAT", "TAW", "TWA"};  // width, area, most total of a section

class Searcher {
 public:
  Searcher(const AllocationProblem& problem, const SearchOptions& options)
      : problem_(problem), options_(options), deadline_(options.budget_seconds) {
    FindSections();
    const size_t count = problem.buffers.size();
    offsets_.assign(count, kUnplaced);
    solution_.offsets.assign(count, 0);
    least_.assign(count, 0);
    floor_.assign(sections_.size(), 0);
    total_.assign(sections_.size(), 0);
    for (size_t i = 0; i < count; ++i) {
      for (size_t s = first_[i]; s < last_[i]; ++s) total_[s] += problem.buffers[i].size;
    }
    cuts_.assign(sections_.size(), 0);
    for (size_t i = 0; i < count; ++i) {
      for (size_t s = first_[i]; s + 1 < last_[i]; ++s) ++cuts_[s];
    }
    mark_.assign(sections_.size(), 0);
  }

  // All orders in turn, with twice the nodes each time.
  Outcome Run() {
    for (int64_t limit = static_cast<int64_t>(problem_.buffers.size()) * 2;; limit *= 2) {
      for (const char* order : kOrders) {
        order_ = order;
        nodes_left_ = limit;
        const Outcome outcome = SolveParts();
        if (outcome != Outcome::kNodeLimit) return outcome;
      }
    }
  }

  Allocation solution() {
    for (size_t i = 0; i < solution_.offsets.size(); ++i) {
      solution_.height =
          std::max(solution_.height, solution_.offsets[i] + problem_.buffers[i].size);
    }
    return solution_;
  }

 private:
  using List = std::vector<size_t>;
  struct Place {
    int64_t offset;
    size_t rank;  // in the static order
  };
  struct Part {
    List buffers;  // in the static order
    size_t first;  // sections
    size_t last;
  };

  // Sections: the moments right before something ends. Those with fewer buffers than the one before
  // count too: without what has ended, their floors can be higher.
  void FindSections() {
    const size_t count = problem_.buffers.size();
    struct Event {
      int64_t time;
      bool begins;
      size_t buffer;
    };
    std::vector<Event> events;
    for (size_t i = 0; i < count; ++i) {
      events.push_back({problem_.buffers[i].start, true, i});
      events.push_back({problem_.buffers[i].end, false, i});
    }
    std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
      if (a.time != b.time) return a.time < b.time;
      return a.begins != b.begins ? a.begins < b.begins : a.buffer < b.buffer;
    });
    first_.resize(count);
    last_.resize(count);
    std::set<size_t> live;
    int64_t last_end = std::numeric_limits<int64_t>::min();
    for (const Event& event : events) {
      if (event.begins) {
        first_[event.buffer] = sections_.size();
        live.insert(event.buffer);
        continue;
      }
      if (event.time != last_end) sections_.emplace_back(live.begin(), live.end());
      last_end = event.time;
      last_[event.buffer] = sections_.size();
      live.erase(event.buffer);
    }
    meets_.resize(count);
    for (size_t i = 0; i < count; ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (first_[i] < last_[j] && first_[j] < last_[i]) {
          meets_[i].push_back(j);
          meets_[j].push_back(i);
        }
      }
    }
  }

  Outcome SolveParts() {
    size_t begin = 0;
    for (size_t s = 0; s < sections_.size(); ++s) {
      if (s + 1 < sections_.size() && cuts_[s] != 0) continue;
      const Outcome outcome = SolvePart(begin, s + 1);
      if (outcome != Outcome::kFound) return outcome;
      begin = s + 1;
    }
    return Outcome::kFound;
  }

  Outcome SolvePart(size_t first, size_t last) {
    Part part{{}, first, last};
    for (size_t i = 0; i < offsets_.size(); ++i) {
      if (offsets_[i] == kUnplaced && first_[i] < last && first < last_[i])
        part.buffers.push_back(i);
    }
    if (part.buffers.empty()) return Outcome::kFound;
    Sort(part.buffers);
    List all(part.buffers.size());
    for (size_t k = 0; k < all.size(); ++k) all[k] = k;
    return Descend(part, all, 0, 0);
  }

  void Sort(List& buffers) const {
    struct Keys {
      int64_t area, total, width;
    };
    std::vector<Keys> keys(offsets_.size());
    for (size_t i : buffers) {
      const AllocationBuffer& buffer = problem_.buffers[i];
      int64_t total = 0;
      for (size_t s = first_[i]; s < last_[i]; ++s) total = std::max(total, total_[s]);
      keys[i] = {buffer.size * (buffer.end - buffer.start), total, buffer.end - buffer.start};
    }
    std::stable_sort(buffers.begin(), buffers.end(), [&](size_t a, size_t b) {
      for (const char* c = order_; *c; ++c) {
        const int64_t x = *c == 'A' ? keys[a].area : *c == 'T' ? keys[a].total : keys[a].width;
        const int64_t y = *c == 'A' ? keys[b].area : *c == 'T' ? keys[b].total : keys[b].width;
        if (x != y) return x > y;
      }
      return a < b;
    });
  }

  // Depth first over places, from the bottom up. `open` has ranks of the part's buffers.
  Outcome Descend(const Part& part, const List& open, int64_t floor, size_t floor_rank) {
    if (nodes_left_-- <= 0) return Outcome::kNodeLimit;
    Work::Add(static_cast<int64_t>(1 + open.size() / 8));
    if ((nodes_left_ & 1023) == 0 && deadline_.Passed()) return Outcome::kDeadline;
    std::vector<Place> places;
    List left;
    int64_t lowest_top = std::numeric_limits<int64_t>::max();
    for (size_t rank : open) {
      const size_t i = part.buffers[rank];
      if (offsets_[i] != kUnplaced) continue;
      left.push_back(rank);
      places.push_back({least_[i], rank});
      lowest_top = std::min(lowest_top, least_[i] + problem_.buffers[i].size);
    }
    if (places.empty()) {
      for (size_t i : part.buffers) solution_.offsets[i] = offsets_[i];
      return Outcome::kFound;
    }
    std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
      return a.offset != b.offset ? a.offset < b.offset : a.rank < b.rank;
    });
    for (const Place& place : places) {
      if (options_.canonical_only &&
          (place.offset < floor || (place.offset == floor && place.rank < floor_rank))) {
        continue;
      }
      if (options_.check_dominance && place.offset >= lowest_top) break;
      bool hatless = false;
      const Outcome outcome = Try(part, left, place, hatless);
      if (outcome != Outcome::kNone) return outcome;
      if (hatless && options_.hatless_pruning) break;
    }
    return Outcome::kNone;
  }

  Outcome Try(const Part& part, const List& left, const Place& place, bool& hatless) {
    const size_t i = part.buffers[place.rank];
    const int64_t top = place.offset + problem_.buffers[i].size;
    offsets_[i] = place.offset;
    std::vector<std::pair<size_t, int64_t>> raised, floors;
    List affected;
    ++stamp_;
    hatless = true;
    for (size_t other : meets_[i]) {
      if (offsets_[other] != kUnplaced) continue;
      hatless = false;
      if (least_[other] >= top) continue;
      raised.emplace_back(other, least_[other]);
      least_[other] = top;
      if (!options_.unallocated_floor) continue;
      for (size_t s = first_[other]; s < last_[other]; ++s) {
        if (mark_[s] == stamp_) continue;
        mark_[s] = stamp_;
        affected.push_back(s);
      }
    }
    for (size_t s = first_[i]; s < last_[i]; ++s) {
      floors.emplace_back(s, floor_[s]);
      floor_[s] = top;
      total_[s] -= problem_.buffers[i].size;
    }
    for (size_t s : affected) {
      int64_t least = std::numeric_limits<int64_t>::max();
      for (size_t other : sections_[s]) {
        if (offsets_[other] != kUnplaced) continue;
        least = std::min(least, least_[other]);
        if (least <= floor_[s]) break;
      }
      if (least == std::numeric_limits<int64_t>::max() || floor_[s] >= least) continue;
      floors.emplace_back(s, floor_[s]);
      floor_[s] = least;
    }
    Outcome outcome = Outcome::kNone;
    if (StillFits(part, place.offset)) {
      outcome = options_.dynamic_decomposition ? Decompose(part, left, place, i)
                                               : Descend(part, left, place.offset, place.rank);
    }
    for (auto change = floors.rbegin(); change != floors.rend(); ++change) {
      floor_[change->first] = change->second;
    }
    for (size_t s = first_[i]; s < last_[i]; ++s) total_[s] += problem_.buffers[i].size;
    for (const auto& [other, least] : raised) least_[other] = least;
    offsets_[i] = kUnplaced;
    return outcome;
  }

  bool StillFits(const Part& part, int64_t offset) const {
    for (size_t s = part.first; s < part.last; ++s) {
      const int64_t floor = std::max(offset, floor_[s]);
      if ((options_.section_inference ? floor + total_[s] : floor) > problem_.capacity)
        return false;
    }
    return true;
  }

  Outcome Decompose(const Part& part, const List& left, const Place& place, size_t i) {
    solution_.offsets[i] = offsets_[i];
    List borders = {part.first};
    for (size_t s = first_[i]; s + 1 < last_[i]; ++s) {
      if (--cuts_[s] == 0) borders.push_back(s + 1);
    }
    Outcome outcome = Outcome::kFound;
    if (borders.size() == 1) {
      outcome = Descend(part, left, place.offset, place.rank);
      if (outcome == Outcome::kFound) solution_.offsets[i] = place.offset;
    } else {
      borders.push_back(part.last);
      for (size_t b = 1; b < borders.size() && outcome == Outcome::kFound; ++b) {
        outcome = SolvePart(borders[b - 1], borders[b]);
      }
    }
    for (size_t s = first_[i]; s + 1 < last_[i]; ++s) ++cuts_[s];
    return outcome;
  }

  const AllocationProblem& problem_;
  const SearchOptions& options_;
  const Deadline deadline_;
  std::vector<List> sections_;  // who lives in each
  std::vector<size_t> first_, last_;
  std::vector<List> meets_;
  std::vector<int64_t> offsets_, least_;  // of buffers
  std::vector<int64_t> floor_, total_;    // of sections: lowest free offset, sizes without a place
  std::vector<int64_t> cuts_;             // buffers without a place that span into the next section
  std::vector<int64_t> mark_;
  int64_t stamp_ = 0;
  const char* order_ = kOrders[0];
  int64_t nodes_left_ = 0;
  Allocation solution_;
};

}  // namespace

StatusOr<Allocation> Search(const AllocationProblem& problem, const SearchOptions& options) {
  AllocationProblem living = problem;
  std::vector<size_t> index;
  living.buffers.clear();
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const AllocationBuffer& buffer = problem.buffers[i];
    if (buffer.size > problem.capacity) {
      return MakeError(ErrorCode::kInvalidInput, "a buffer is larger than the memory");
    }
    if (buffer.size == 0 || buffer.start >= buffer.end) continue;
    living.buffers.push_back(buffer);
    index.push_back(i);
  }
  Searcher searcher(living, options);
  switch (living.buffers.empty() ? Outcome::kFound : searcher.Run()) {
    case Outcome::kNone:
      return MakeError(ErrorCode::kInvalidInput, "there is no allocation below the capacity");
    case Outcome::kDeadline:
    case Outcome::kNodeLimit:
      return MakeError(ErrorCode::kDeadline, "no allocation was found in time");
    case Outcome::kFound:
      break;
  }
  const Allocation found = searcher.solution();
  Allocation allocation;
  allocation.offsets.assign(problem.buffers.size(), 0);
  allocation.height = found.height;
  for (size_t k = 0; k < index.size(); ++k) allocation.offsets[index[k]] = found.offsets[k];
  return allocation;
}

}  // namespace hone::memory
