#include "learn/observation.h"

#include <algorithm>
#include <cstring>

namespace hone::learn {
namespace {

// `to`'s rows from `to_row` on become `count` rows of `from`. Observations come as they please, so
// anything but plain rows is made plain first.
void CopyPlain(const torch::Tensor& from, int64_t from_row, torch::Tensor& to, int64_t to_row,
               int64_t count) {
  const size_t row_bytes = static_cast<size_t>(to.size(1)) * to.element_size();
  if (row_bytes == 0) return;
  TORCH_CHECK(
      from.dim() == 2 && from.size(1) == to.size(1) && from.scalar_type() == to.scalar_type(),
      "an observation of another shape than the task's");
  const torch::Tensor plain = from.contiguous();
  std::memcpy(
      static_cast<char*>(to.data_ptr()) + static_cast<size_t>(to_row) * row_bytes,
      static_cast<const char*>(plain.data_ptr()) + static_cast<size_t>(from_row) * row_bytes,
      static_cast<size_t>(count) * row_bytes);
}

void Copy(const Observation& from, int64_t from_row, Observation& to, int64_t to_row,
          int64_t count) {
  CopyPlain(from.features, from_row, to.features, to_row, count);
  CopyPlain(from.value_features, from_row, to.value_features, to_row, count);
  CopyPlain(from.mask, from_row, to.mask, to_row, count);
  if (!to.graphs.empty()) {
    std::copy_n(from.graphs.begin() + from_row, count, to.graphs.begin() + to_row);
  }
}

}  // namespace

Observation MakeObservations(const TaskShape& shape, int64_t rows) {
  Observation room;
  room.features = torch::empty({rows, shape.features});
  room.value_features = torch::empty({rows, shape.value_features});
  room.mask = torch::empty({rows, shape.actions}, torch::kBool);
  if (shape.graphs) room.graphs.resize(static_cast<size_t>(rows));
  return room;
}

void CopyRows(const Observation& from, Observation& to, int64_t row) {
  Copy(from, 0, to, row, from.size());
}

void CopyRow(const Observation& from, int64_t from_row, Observation& to, int64_t to_row) {
  Copy(from, from_row, to, to_row, 1);
}

Observation Select(const Observation& from, const torch::Tensor& index) {
  Observation some;
  some.features = from.features.index_select(0, index);
  some.value_features = from.value_features.size(1) > 0 ? from.value_features.index_select(0, index)
                                                        : torch::empty({index.size(0), 0});
  some.mask = from.mask.index_select(0, index);
  if (!from.graphs.empty()) {
    const int64_t* rows = index.data_ptr<int64_t>();
    for (int64_t i = 0; i < index.size(0); ++i) some.graphs.push_back(from.graphs[rows[i]]);
  }
  return some;
}

Observation Slice(const Observation& from, int64_t begin, int64_t end) {
  Observation some;
  some.features = from.features.slice(0, begin, end);
  some.value_features = from.value_features.slice(0, begin, end);
  some.mask = from.mask.slice(0, begin, end);
  if (!from.graphs.empty()) {
    some.graphs.assign(from.graphs.begin() + begin, from.graphs.begin() + end);
  }
  return some;
}

}  // namespace hone::learn
