// Groups become steps: what is loaded, kept, spilled and stored, and when.
#ifndef HONE_MEMORY_PLANNING_SCHEDULE_H_
#define HONE_MEMORY_PLANNING_SCHEDULE_H_

#include <vector>

#include "memory/plan.h"
#include "memory/planning/groups.h"

namespace hone::memory {

struct ScheduleOptions {
  // Bytes per partition that may be used; less than the machine has where the allocator could not
  // place as much.
  int64_t capacity = 0;
};

// Offsets of buffers stay 0: the allocator's work. Every group's operands are brought onto the chip
// before it runs; what lies there stays until its last use or until room is needed, in which case
// what is needed farthest in the future goes (Belady 1966), counted twice as far where dropping it
// costs no store. What is spilled is stored once and loaded when it is next needed.
Plan Schedule(const Target& target, const std::vector<Group>& groups,
              const ScheduleOptions& options);

}  // namespace hone::memory

#endif  // HONE_MEMORY_PLANNING_SCHEDULE_H_
