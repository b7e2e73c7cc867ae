// Bytes on a chip, and whose they are.
#ifndef HONE_MEMORY_SIMULATOR_SCRATCHPAD_H_
#define HONE_MEMORY_SIMULATOR_SCRATCHPAD_H_

#include <map>
#include <string>
#include <vector>

#include "memory/machine.h"
#include "memory/plan.h"
#include "memory/values/array.h"

namespace hone::memory {

class Scratchpad {
 public:
  Scratchpad(const Machine& machine, const Plan& plan, bool bytes);

  // Slots of a buffer take turns: the next write goes to the next one.
  void NextSlot(BufferId buffer);

  // What is written: a box of a tensor, or of an operand (`dimensions` and `type` say of what
  // shape).
  struct Content {
    TensorId tensor = kNone;  // kNone: an operand's copy
    int32_t operand = kNone;
    ElementType type = ElementType::kF32;
    int64_t element_bytes = 4;
    std::vector<int64_t> dimensions;
  };
  void Write(BufferId buffer, const Content& content, const Box& box, const Array* values);

  // Zeros after a trap. `part`, where given, becomes the partition of each element, -1 where the
  // buffer has it in every partition.
  Array Read(BufferId buffer, const Content& content, const Box& box, Array* part = nullptr);
  // Those partitions alone.
  Array Partitions(BufferId buffer, const Content& content, const Box& box) const;

  // The first thing that went wrong; empty while nothing has.
  const std::string& trap() const { return trap_; }
  int64_t highest() const { return highest_; }

 private:
  struct Held {
    Content content;
    Box box;      // of the buffer's room, from which addresses follow
    Box written;  // hull of what has been written since
    int32_t owner = 0;
  };
  Held& Slot(BufferId buffer) {
    return held_[static_cast<size_t>(buffer)][slot_[static_cast<size_t>(buffer)]];
  }
  const Held& Slot(BufferId buffer) const {
    return held_[static_cast<size_t>(buffer)][slot_[static_cast<size_t>(buffer)]];
  }
  int64_t Base(BufferId buffer) const;
  // Visits the units that elements lie in, as (first, last): elements `step` bytes apart.
  template <class Visit>
  void ForEachOwned(int64_t first, int64_t step, int64_t count, int64_t bytes, Visit visit) const {
    const bool dense = step == bytes;
    for (int64_t i = 0; i < (dense ? 1 : count); ++i) {
      const int64_t begin = first + i * step, end = begin + (dense ? count : 1) * bytes;
      visit(begin / unit_, (end - 1) / unit_);
    }
  }
  bool Fits(BufferId buffer, const Placement& placement);
  void Trap(const std::string& what);

  const Machine& machine_;
  const Plan& plan_;
  const bool bytes_;
  std::vector<char> data_;
  int64_t unit_ = 1;            // bytes that buffers begin and end at
  std::vector<int32_t> owner_;  // of each unit
  std::vector<std::vector<Held>> held_;
  std::vector<size_t> slot_;
  int32_t owners_ = 0;
  int64_t highest_ = 0;
  std::string trap_;
};

}  // namespace hone::memory

#endif  // HONE_MEMORY_SIMULATOR_SCRATCHPAD_H_
