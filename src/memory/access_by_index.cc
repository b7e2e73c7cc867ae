#include "memory/access_by_index.h"

#include <algorithm>

namespace hone::memory {

Box GatherInput(const Network& network, const Op& op, size_t operand, const Box& out) {
  const auto& dimensions = network.exprs[static_cast<size_t>(op.inputs[operand])].dimensions;
  Box box = WholeBox(dimensions);
  const auto& offsets = ListOf(op, "offset_dims");
  const auto has = [](const std::vector<int64_t>& list, size_t d) {
    return std::find(list.begin(), list.end(), static_cast<int64_t>(d)) != list.end();
  };
  if (operand == 1) {
    const auto& vector = ListOf(op, "index_vector_dim");
    std::vector<size_t> batch;
    for (size_t d = 0; d < out.low.size(); ++d) {
      if (!has(offsets, d)) batch.push_back(d);
    }
    size_t next = 0;
    for (size_t d = 0; d < dimensions.size(); ++d) {
      if (has(vector, d)) continue;
      box.low[d] = out.low[batch[next]];
      box.high[d] = out.high[batch[next++]];
    }
    return box;
  }
  const auto& sizes = ListOf(op, "slice_sizes");
  const auto& batching = ListOf(op, "operand_batching_dims");
  std::vector<size_t> batch;  // of the result
  for (size_t d = 0; d < out.low.size(); ++d) {
    if (!has(offsets, d)) batch.push_back(d);
  }
  for (size_t k = 0; k < batching.size(); ++k) {
    const auto at = static_cast<size_t>(ListOf(op, "start_indices_batching_dims")[k]);
    const auto vector = static_cast<size_t>(ListOf(op, "index_vector_dim")[0]);
    const size_t from = batch[at > vector ? at - 1 : at];
    box.low[static_cast<size_t>(batching[k])] = out.low[from];
    box.high[static_cast<size_t>(batching[k])] = out.high[from];
  }
  size_t next = 0;
  for (size_t d = 0; d < dimensions.size(); ++d) {
    if (has(ListOf(op, "collapsed_slice_dims"), d) || has(batching, d)) continue;
    const auto from = static_cast<size_t>(offsets[next++]);
    if (sizes[d] != dimensions[d]) continue;
    box.low[d] = out.low[from];
    box.high[d] = out.high[from];
  }
  return box;
}

Box ScatterInput(const Network& network, const Op& op, size_t operand, const Box& out) {
  if (operand == 0) return out;
  const auto& dimensions = network.exprs[static_cast<size_t>(op.inputs[operand])].dimensions;
  const auto& whole = network.exprs[static_cast<size_t>(op.inputs[0])].dimensions;
  const auto& inserted = ListOf(op, "inserted_window_dims");
  const auto& batching = ListOf(op, "input_batching_dims");
  const auto& window = ListOf(op, "update_window_dims");
  const auto vector = static_cast<size_t>(ListOf(op, "index_vector_dim")[0]);
  const auto has = [](const std::vector<int64_t>& list, size_t d) {
    return std::find(list.begin(), list.end(), static_cast<int64_t>(d)) != list.end();
  };
  Box box = WholeBox(dimensions);
  const auto set = [&](size_t to, size_t from) {
    box.low[to] = out.low[from];
    box.high[to] = out.high[from];
  };
  std::vector<size_t> batch;  // of the updates
  for (size_t d = 0; operand == 2 && d < dimensions.size(); ++d) {
    if (!has(window, d)) batch.push_back(d);
  }
  for (size_t k = 0; k < batching.size(); ++k) {
    const auto at = static_cast<size_t>(ListOf(op, "scatter_indices_batching_dims")[k]);
    const auto from = static_cast<size_t>(batching[k]);
    set(operand == 1 ? at : batch[at > vector ? at - 1 : at], from);
  }
  size_t next = 0;
  for (size_t d = 0; operand == 2 && d < whole.size(); ++d) {
    if (has(inserted, d) || has(batching, d)) continue;
    const auto to = static_cast<size_t>(window[next++]);
    if (dimensions[to] == whole[d]) set(to, d);
  }
  return box;
}

}  // namespace hone::memory
