#include "loops/merge.h"

#include <algorithm>
#include <utility>

namespace hone::loops {
namespace {

void RemoveLoop(Nest& nest, size_t loop) {
  nest.loops.erase(nest.loops.begin() + static_cast<ptrdiff_t>(loop));
  const auto remove = [&](Access& access) {
    for (Row& row : access.rows) row.erase(row.begin() + static_cast<ptrdiff_t>(loop));
  };
  for (Access& read : nest.reads) remove(read);
  remove(nest.write);
}

bool IsZero(const Row& row) {
  return std::all_of(row.begin(), row.end(), [](int64_t c) { return c == 0; });
}

bool BeginsAtZero(const Access& access, size_t dimension) {
  return access.low.empty() || access.low[dimension] == 0;
}

// Where two neighbouring dimensions are these two loops, whole, in this order: which; -1 where
// neither loop occurs; -2 where they occur otherwise.
int Neighbours(const Nest& nest, const Access& access, size_t loop) {
  int found = -1;
  for (size_t d = 0; d < access.rows.size(); ++d) {
    const Row& row = access.rows[d];
    if (row[loop] == 0 && row[loop + 1] == 0) continue;
    const bool second = found >= 0 && static_cast<size_t>(found) + 1 == d;
    const size_t wanted = second ? loop + 1 : loop;
    if ((found >= 0 && !second) || PlainLoop(row) != static_cast<int>(wanted) ||
        access.view[d] != nest.loops[wanted].extent || !BeginsAtZero(access, d)) {
      return -2;
    }
    if (!second) found = static_cast<int>(d);
  }
  if (found == -1) return -1;
  const size_t next = static_cast<size_t>(found) + 1;
  return next < access.rows.size() && access.rows[next][loop + 1] == 1 ? found : -2;
}

std::vector<Access*> AccessesOf(Nest& nest) {
  std::vector<Access*> accesses = {&nest.write};
  for (Access& read : nest.reads) accesses.push_back(&read);
  return accesses;
}

bool MayMerge(Nest& nest, size_t loop) {
  if (loop + 1 >= nest.loops.size()) return false;
  if (nest.loops[loop].reduction != nest.loops[loop + 1].reduction) return false;
  const auto accesses = AccessesOf(nest);
  return std::none_of(accesses.begin(), accesses.end(),
                      [&](const Access* access) { return Neighbours(nest, *access, loop) == -2; });
}

void Merge(Nest& nest, size_t loop) {
  for (Access* const access : AccessesOf(nest)) {
    const int d = Neighbours(nest, *access, loop);
    if (d < 0) continue;
    access->view[static_cast<size_t>(d)] *= access->view[static_cast<size_t>(d) + 1];
    access->view.erase(access->view.begin() + d + 1);
    access->rows.erase(access->rows.begin() + d + 1);
    if (!access->low.empty()) access->low.erase(access->low.begin() + d + 1);
  }
  nest.loops[loop].extent *= nest.loops[loop + 1].extent;
  RemoveLoop(nest, loop + 1);
}

// Dimensions of one element that no loop moves along.
void DropUnitDimensions(Access& access) {
  for (size_t d = access.rows.size(); d-- > 0;) {
    if (access.view[d] != 1 || access.rows.size() == 1) continue;
    if (!IsZero(access.rows[d]) || !BeginsAtZero(access, d)) continue;
    access.rows.erase(access.rows.begin() + static_cast<ptrdiff_t>(d));
    access.view.erase(access.view.begin() + static_cast<ptrdiff_t>(d));
    if (!access.low.empty()) access.low.erase(access.low.begin() + static_cast<ptrdiff_t>(d));
  }
}

// Of so many loops from the first one on: those of one iteration, but for the last that there is,
// are dropped, and others merged where that may be.
void MergeAmong(Nest& nest, size_t first, int& count) {
  for (size_t loop = first + static_cast<size_t>(count); loop-- > first && count > 1;) {
    if (nest.loops[loop].extent != 1) continue;
    RemoveLoop(nest, loop);
    --count;
  }
  for (Access* const access : AccessesOf(nest)) DropUnitDimensions(*access);
  for (size_t loop = first; loop + 1 < first + static_cast<size_t>(count);) {
    if (!MayMerge(nest, loop)) {
      ++loop;
      continue;
    }
    Merge(nest, loop);
    --count;
  }
}

}  // namespace

void DropUnitLoops(Nest& nest) {
  for (size_t loop = nest.loops.size(); loop-- > 0;) {
    if (nest.loops[loop].extent == 1 && nest.loops.size() > 1) RemoveLoop(nest, loop);
  }
  for (Access* const access : AccessesOf(nest)) DropUnitDimensions(*access);
}

void MergeLoops(std::vector<Nest>& nests) {
  for (size_t loop = 0; loop < 8;) {
    const bool may = std::all_of(nests.begin(), nests.end(), [&](Nest& nest) {
      return nest.own_text() || MayMerge(nest, loop);
    });
    const bool any = std::any_of(nests.begin(), nests.end(), [&](const Nest& nest) {
      return !nest.own_text() && loop + 1 < nest.loops.size();
    });
    if (may && any) {
      for (Nest& nest : nests) {
        if (!nest.own_text()) Merge(nest, loop);
      }
    } else {
      ++loop;
    }
  }
}

void MergeLoops(Nest& nest) {
  for (size_t loop = 0; loop + 1 < nest.loops.size();) {
    if (MayMerge(nest, loop)) {
      Merge(nest, loop);
    } else {
      ++loop;
    }
  }
}

void MergeToProduct(Nest& nest) {
  Nest merged = nest;
  const size_t leading =
      nest.loops.size() - 1 - static_cast<size_t>(nest.row_loops + nest.term_loops);
  MergeAmong(merged, leading + static_cast<size_t>(nest.row_loops) + 1, merged.term_loops);
  MergeAmong(merged, leading, merged.row_loops);
  if (merged.row_loops != 1 || merged.term_loops != 1) return;
  for (Access* const access : AccessesOf(merged)) {
    const auto zero = [](int64_t low) { return low == 0; };
    if (std::all_of(access->low.begin(), access->low.end(), zero)) access->low.clear();
  }
  nest = std::move(merged);
}

}  // namespace hone::loops
