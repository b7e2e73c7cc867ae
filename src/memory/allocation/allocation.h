// Where buffers with known lifetimes lie in a memory of known size.
#ifndef HONE_MEMORY_ALLOCATION_ALLOCATION_H_
#define HONE_MEMORY_ALLOCATION_ALLOCATION_H_

#include <cstdint>
#include <vector>

#include "core/result.h"
#include "memory/deadline.h"

namespace hone::memory {

struct AllocationBuffer {
  int64_t start = 0;  // lives in [start, end)
  int64_t end = 0;
  int64_t size = 0;
};

struct AllocationProblem {
  std::vector<AllocationBuffer> buffers;
  int64_t capacity = 0;
};

struct Allocation {
  std::vector<int64_t> offsets;  // of each buffer
  int64_t height = 0;            // the highest end of a buffer
};

struct SearchOptions {
  double budget_seconds = 10;
  // The techniques of google/minimalloc (Moffitt, "MiniMalloc: A Lightweight Memory Allocator for
  // Hardware-Accelerated Machine Learning", ASPLOS 2023), each of which may be switched off.
  bool canonical_only = true;         // buffers are placed from the bottom up
  bool section_inference = true;      // what must still fit into a time must fit above its floor
  bool check_dominance = true;        // no gap that a buffer without a place would fit into
  bool unallocated_floor = true;      // floors rise to where the remaining buffers can begin
  bool dynamic_decomposition = true;  // times that nothing spans any more are solved apart
  bool hatless_pruning = true;        // nothing above a buffer: no other place for it can help
};

// As a heap would; then each in the tightest gap that it fits into, in several orders; then what
// reaches above the capacity first, again and again. May be higher than the capacity. Cost: the
// pairs of buffers that live at the same time, a few dozen times.
// It returns the best allocation that it has when `deadline` passes.
Allocation BestFit(const AllocationProblem& problem, const Deadline& deadline = Deadline());

// A place for each buffer below the capacity, or the proof that there is none.
// Errors: kInvalidInput where no allocation exists; kDeadline where the budget was spent first.
StatusOr<Allocation> Search(const AllocationProblem& problem, const SearchOptions& options);

// BestFit, and Search where that is too high and the problem small enough.
StatusOr<Allocation> Allocate(const AllocationProblem& problem, const SearchOptions& options);

// Says what is wrong: two buffers that live at the same time and overlap, or one that reaches out
// of the memory. Shares no code with what makes allocations.
Status Validate(const AllocationProblem& problem, const Allocation& allocation);

}  // namespace hone::memory

#endif  // HONE_MEMORY_ALLOCATION_ALLOCATION_H_
