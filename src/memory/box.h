// Boxes of indices: the fast path of all access relations.
#ifndef HONE_MEMORY_BOX_H_
#define HONE_MEMORY_BOX_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hone::memory {

// { i : low <= i < high } in each dimension. A scalar's box has no dimensions and one element.
struct Box {
  std::vector<int64_t> low;
  std::vector<int64_t> high;

  bool operator==(const Box&) const = default;
};

Box WholeBox(const std::vector<int64_t>& dimensions);
int64_t Elements(const Box& box);
int64_t Elements(const std::vector<int64_t>& dimensions);
inline bool IsEmpty(const Box& box) { return Elements(box) == 0; }
inline int64_t Extent(const Box& box, size_t d) { return box.high[d] - box.low[d]; }

std::string ToText(const Box& box);  // "[0:4, 2:3]"

// The smallest box around both; an empty one adds nothing.
Box Hull(const Box& a, const Box& b);
Box Intersect(const Box& a, const Box& b);
// What is left of `box` without `hole`, as the smallest box around it.
Box Without(const Box& box, const Box& hole);
// An empty box is in every other.
bool Contains(const Box& outer, const Box& inner);

// Row-major strides of a dense array with these extents.
std::vector<int64_t> Strides(const std::vector<int64_t>& extents);
std::vector<int64_t> Strides(const Box& box);

// Where `index` lies in a dense row-major array that holds `box`.
int64_t Position(const Box& box, const std::vector<int64_t>& index);

// Calls visit(index, position) for each index of the box in row-major order.
template <class Visit>
void ForEach(const Box& box, Visit visit) {
  if (IsEmpty(box)) return;
  std::vector<int64_t> index = box.low;
  for (int64_t position = 0;; ++position) {
    visit(static_cast<const std::vector<int64_t>&>(index), position);
    size_t d = index.size();
    while (d > 0 && ++index[d - 1] == box.high[d - 1]) {
      index[d - 1] = box.low[d - 1];
      --d;
    }
    if (d == 0) return;
  }
}

// Row by row along the last dimension: visit(index, position, count), of each row's first element.
template <class Visit>
void ForEachRow(const Box& box, Visit visit) {
  if (IsEmpty(box)) return;
  Box rows = box;
  int64_t count = 1;
  if (!box.low.empty()) {
    count = Extent(box, box.low.size() - 1);
    rows.high.back() = rows.low.back() + 1;
  }
  ForEach(rows, [&](const std::vector<int64_t>& index, int64_t row) {
    visit(index, row * count, count);
  });
}

}  // namespace hone::memory

#endif  // HONE_MEMORY_BOX_H_
