#include "env/view.h"

#include <algorithm>

namespace hone {

void WriteOpcodeCounts(const View& view, std::span<int32_t> out) {
  std::fill(out.begin(), out.end(), 0);
  for (const OpcodeCount& of : view.opcodes) out[of.opcode] = static_cast<int32_t>(of.count);
}

void WriteOpcodes(const View& view, std::span<float> out) {
  std::fill(out.begin(), out.end(), 0.0f);
  const double all = static_cast<double>(std::max<int64_t>(1, view.initial_op_count));
  for (const OpcodeCount& of : view.opcodes) out[of.opcode] = static_cast<float>(of.count / all);
}

void WriteCost(const View& view, std::span<double> out) {
  const Metrics& metrics = view.metrics;
  const double features[] = {metrics.flops, metrics.transcendentals, metrics.bytes_accessed,
                             static_cast<double>(metrics.computations),
                             static_cast<double>(metrics.loop_depth)};
  std::copy(std::begin(features), std::end(features), out.begin());
}

void WriteHistory(const View& view, std::span<int64_t> out) {
  std::fill(out.begin(), out.end(), -1);
  std::copy_n(view.actions.begin(), std::min(view.actions.size(), out.size()), out.begin());
}

}  // namespace hone
