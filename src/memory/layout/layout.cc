#include "memory/layout/layout.h"

#include "memory/deadline.h"

namespace hone::memory {

std::string ToText(const Layout& layout) {
  if (layout.replicated) return "all";
  if (layout.begin == layout.end) return "-";
  if (layout.end - layout.begin == 1) return std::to_string(layout.begin);
  return std::to_string(layout.begin) + ":" + std::to_string(layout.end);
}

Placement::Placement(const Machine& machine, const std::vector<int64_t>& dimensions,
                     const Layout& layout, const Box& box, int64_t element_bytes)
    : partitions_(machine.partitions),
      element_bytes_(element_bytes),
      begin_(static_cast<size_t>(layout.begin)),
      end_(static_cast<size_t>(layout.end)),
      strides_(dimensions.size(), 0),
      free_strides_(dimensions.size(), 0),
      box_(box) {
  Work::Add(1);
  if (machine.partitions == 1 || layout.replicated) begin_ = end_ = 0;
  int64_t stride = 1;
  for (size_t d = end_; d-- > begin_;) {
    strides_[d] = stride;
    stride *= dimensions[d];
  }
  for (size_t d = dimensions.size(); d-- > 0;) {
    if (d >= begin_ && d < end_) continue;
    free_strides_[d] = free_;
    free_ *= Extent(box, d);
  }
  int64_t first = 0, last = 0;
  for (size_t d = begin_; d < end_; ++d) {
    first += box.low[d] * strides_[d];
    last += (box.high[d] - 1) * strides_[d];
  }
  first_block_ = first / partitions_;
  blocks_ = IsEmpty(box) ? 0 : last / partitions_ - first_block_ + 1;
}

int64_t Placement::Number(const std::vector<int64_t>& index) const {
  int64_t number = 0;
  for (size_t d = begin_; d < end_; ++d) number += index[d] * strides_[d];
  return number;
}

int64_t Placement::PartitionOf(const std::vector<int64_t>& index) const {
  return Number(index) % partitions_;
}

int64_t Placement::OffsetOf(const std::vector<int64_t>& index) const {
  int64_t free = 0;
  for (size_t d = 0; d < index.size(); ++d) free += (index[d] - box_.low[d]) * free_strides_[d];
  return ((Number(index) / partitions_ - first_block_) * free_ + free) * element_bytes_;
}

}  // namespace hone::memory
