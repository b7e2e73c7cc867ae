// Batches of observations: parts, copies and stacks of them.
#ifndef HONE_LEARN_OBSERVATION_H_
#define HONE_LEARN_OBSERVATION_H_

#include <torch/torch.h>

#include <cstdint>
#include <vector>

#include "learn/task.h"

namespace hone::learn {

// Room for `rows` observations, not initialised.
Observation MakeObservations(const TaskShape& shape, int64_t rows);

// Copies all rows of `from` to those of `to` from `row` on.
void CopyRows(const Observation& from, Observation& to, int64_t row);
// One row to one row.
void CopyRow(const Observation& from, int64_t from_row, Observation& to, int64_t to_row);

// The rows that `index` ([K] int64) names, in its order.
Observation Select(const Observation& from, const torch::Tensor& index);
// Rows begin to end, without a copy of tensors.
Observation Slice(const Observation& from, int64_t begin, int64_t end);

}  // namespace hone::learn

#endif  // HONE_LEARN_OBSERVATION_H_
