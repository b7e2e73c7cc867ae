// How a tensor lies across the partitions of a scratchpad: (block, partition, free).
#ifndef HONE_MEMORY_LAYOUT_LAYOUT_H_
#define HONE_MEMORY_LAYOUT_LAYOUT_H_

#include <algorithm>
#include <string>
#include <vector>

#include "memory/box.h"
#include "memory/machine.h"

namespace hone::memory {

// Dimensions [begin, end), as one row-major number n over the whole tensor, choose the partition:
// n mod partitions; n div partitions is the block. The other dimensions are free: they follow
// upon each other within the partition. An empty range is partition 0.
struct Layout {
  int8_t begin = 0;
  int8_t end = 0;
  bool replicated = false;  // the whole tensor in every partition

  bool operator==(const Layout&) const = default;
};

std::string ToText(const Layout& layout);  // "all" | "-" | "0" | "0:2"

// Where elements of a box lie in a buffer that holds it.
class Placement {
 public:
  Placement(const Machine& machine, const std::vector<int64_t>& dimensions, const Layout& layout,
            const Box& box, int64_t element_bytes);

  int64_t bytes_per_partition() const { return blocks_ * free_ * element_bytes_; }
  int64_t PartitionOf(const std::vector<int64_t>& index) const;
  // Within the partition, from the buffer's beginning.
  int64_t OffsetOf(const std::vector<int64_t>& index) const;

  // Elements that follow upon each other along the last dimension, each in the partition and at the
  // offset of the one before plus a step.
  struct Run {
    int64_t position;  // of the first, in the row-major box that is gone through
    int64_t count;
    int64_t partition, offset;  // of the first
    int64_t partition_step, offset_step;
  };
  // All elements of `box`, in row-major order.
  template <class Visit>
  void ForEachRun(const Box& box, Visit visit) const {
    const size_t rank = box.low.size();
    ForEachRow(box, [&](const std::vector<int64_t>& index, int64_t position, int64_t count) {
      int64_t partition = PartitionOf(index), offset = OffsetOf(index);
      if (end_ == begin_ || end_ < rank) {
        const int64_t step = rank == 0 ? 0 : free_strides_.back() * element_bytes_;
        return visit(Run{position, count, partition, offset, 0, step});
      }
      // Along the partitions, from block to block.
      for (int64_t done = 0; done < count;) {
        const int64_t some = std::min(count - done, partitions_ - partition);
        visit(Run{position + done, some, partition, offset, 1, 0});
        done += some;
        partition = 0;
        offset += free_ * element_bytes_;
      }
    });
  }

 private:
  int64_t Number(const std::vector<int64_t>& index) const;

  int64_t partitions_;
  int64_t element_bytes_;
  size_t begin_, end_;
  std::vector<int64_t> strides_;       // of the whole tensor, over the range; 0 elsewhere
  std::vector<int64_t> free_strides_;  // of the box, over the other dimensions; 0 in the range
  Box box_;
  int64_t first_block_ = 0;
  int64_t blocks_ = 1;
  int64_t free_ = 1;
};

}  // namespace hone::memory

#endif  // HONE_MEMORY_LAYOUT_LAYOUT_H_
