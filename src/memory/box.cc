#include "memory/box.h"

#include <algorithm>

namespace hone::memory {

Box WholeBox(const std::vector<int64_t>& dimensions) {
  return {std::vector<int64_t>(dimensions.size(), 0), dimensions};
}

int64_t Elements(const Box& box) {
  int64_t count = 1;
  for (size_t d = 0; d < box.low.size(); ++d) {
    count *= std::max<int64_t>(0, box.high[d] - box.low[d]);
  }
  return count;
}

int64_t Elements(const std::vector<int64_t>& dimensions) {
  int64_t count = 1;
  for (int64_t size : dimensions) count *= size;
  return count;
}

std::string ToText(const Box& box) {
  std::string text = "[";
  for (size_t d = 0; d < box.low.size(); ++d) {
    text += (d ? ", " : "") + std::to_string(box.low[d]) + ":" + std::to_string(box.high[d]);
  }
  return text + "]";
}

Box Hull(const Box& a, const Box& b) {
  if (IsEmpty(a)) return b;
  if (IsEmpty(b)) return a;
  Box hull = a;
  for (size_t d = 0; d < a.low.size(); ++d) {
    hull.low[d] = std::min(a.low[d], b.low[d]);
    hull.high[d] = std::max(a.high[d], b.high[d]);
  }
  return hull;
}

Box Intersect(const Box& a, const Box& b) {
  Box both = a;
  for (size_t d = 0; d < a.low.size(); ++d) {
    both.low[d] = std::max(a.low[d], b.low[d]);
    both.high[d] = std::max(both.low[d], std::min(a.high[d], b.high[d]));
  }
  return both;
}

Box Without(const Box& box, const Box& hole) {
  const Box both = Intersect(box, hole);
  if (IsEmpty(both)) return box;
  size_t open = box.low.size(), cuts = 0;
  for (size_t d = 0; d < box.low.size(); ++d) {
    if (both.low[d] == box.low[d] && both.high[d] == box.high[d]) continue;
    open = d;
    ++cuts;
  }
  if (cuts == 0)
    return {std::vector<int64_t>(box.low.size(), 0), std::vector<int64_t>(box.low.size(), 0)};
  Box rest = box;
  if (cuts == 1 && both.low[open] == box.low[open]) rest.low[open] = both.high[open];
  if (cuts == 1 && both.high[open] == box.high[open]) rest.high[open] = both.low[open];
  return rest;
}

bool Contains(const Box& outer, const Box& inner) {
  if (IsEmpty(inner)) return true;
  for (size_t d = 0; d < outer.low.size(); ++d) {
    if (inner.low[d] < outer.low[d] || inner.high[d] > outer.high[d]) return false;
  }
  return true;
}

std::vector<int64_t> Strides(const std::vector<int64_t>& extents) {
  std::vector<int64_t> strides(extents.size(), 1);
  for (size_t d = extents.size(); d-- > 1;) strides[d - 1] = strides[d] * extents[d];
  return strides;
}

std::vector<int64_t> Strides(const Box& box) {
  std::vector<int64_t> extents(box.low.size());
  for (size_t d = 0; d < extents.size(); ++d) extents[d] = Extent(box, d);
  return Strides(extents);
}

int64_t Position(const Box& box, const std::vector<int64_t>& index) {
  int64_t position = 0;
  for (size_t d = 0; d < index.size(); ++d) {
    position = position * Extent(box, d) + (index[d] - box.low[d]);
  }
  return position;
}

}  // namespace hone::memory
