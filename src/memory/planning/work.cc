#include "memory/planning/work.h"

#include <algorithm>
#include <cmath>

namespace hone::memory {
namespace {

constexpr int64_t kRunBytes = 1 << 16;  // at a time, of each run that is merged
constexpr double kTransfersAtOnce = 16;

}  // namespace

double ProductFlops(const Network& network, const Op& op, const Box& out) {
  const auto dimensions = [&](size_t k) -> const std::vector<int64_t>& {
    return network.exprs[static_cast<size_t>(op.inputs[k])].dimensions;
  };
  double each = 0;
  if (op.opcode == "dot") {
    each = 2;
    for (int64_t d : ListOf(op, "lhs_contracting_dims")) {
      each *= static_cast<double>(dimensions(0)[static_cast<size_t>(d)]);
    }
  } else if (op.opcode == "convolution") {
    each = 2 * static_cast<double>(dimensions(1)[static_cast<size_t>(op.convolution.kernel_input)]);
    for (const WindowDimension& window : op.window) {
      each *= static_cast<double>(window.size) / static_cast<double>(window.base_dilation);
    }
  }
  return each * static_cast<double>(Elements(out));
}

double ProductFlops(const Network& network) {
  double sum = 0;
  for (const Op& op : network.ops) {
    sum += ProductFlops(network, op,
                        WholeBox(network.tensors[static_cast<size_t>(op.results[0])].dimensions));
  }
  return sum;
}

int64_t LeastProductBytes(const Network& network, const Machine& machine, const Op& op) {
  const Tensor& result = network.tensors[static_cast<size_t>(op.results[0])];
  const double flops = ProductFlops(network, op, WholeBox(result.dimensions));
  if (flops == 0) return 0;
  const double words =
      static_cast<double>(machine.ScratchpadBytes()) / static_cast<double>(result.element_bytes);
  double reuse = 1;
  for (const WindowDimension& window : op.window) {
    reuse *= std::max(1.0, static_cast<double>(window.size) / static_cast<double>(window.stride));
  }
  const double moved = flops / std::sqrt(words * reuse) - 2 * words;
  return static_cast<int64_t>(std::max(0.0, moved)) * result.element_bytes;
}

MovedAgain MovedAgainOf(const Network& network, const Machine& machine, const Op& op,
                        int64_t once) {
  MovedAgain again;
  if (const int64_t least = LeastProductBytes(network, machine, op); least > once) {
    again.loaded = least - once;
  }
  const bool sorts = op.opcode == "sort";
  if (!sorts && op.opcode != "fft") return again;
  int64_t results = 0, together = 0;  // bytes; those that an element of the result depends on
  for (TensorId id : op.results) {
    const Tensor& result = network.tensors[static_cast<size_t>(id)];
    results += result.Bytes();
    int64_t row = result.element_bytes;
    if (sorts) {
      row *= result.dimensions[static_cast<size_t>(ListOf(op, "dimensions")[0])];
    } else {
      const size_t rank = result.dimensions.size(), many = ListOf(op, "fft_length").size();
      for (size_t d = rank - many; d < rank; ++d) row *= result.dimensions[d];
    }
    together += row;
  }
  int64_t ways = std::max<int64_t>(2, machine.ScratchpadBytes() / kRunBytes);
  for (int64_t run = machine.ScratchpadBytes(); run < together; run *= ways) {
    again.loaded += results;
    again.stored += results;
    if (run > together / ways) break;
  }
  return again;
}

double ElementWork(const Network& network) {
  double sum = 0;
  for (const Op& op : network.ops) {
    double elements = 0, each = 1;
    for (TensorId result : op.results) {
      elements +=
          static_cast<double>(Elements(network.tensors[static_cast<size_t>(result)].dimensions));
    }
    for (ExprId input : op.inputs) {
      elements +=
          static_cast<double>(Elements(network.exprs[static_cast<size_t>(input)].dimensions));
    }
    if (op.opcode == "sort") {
      each = std::log2(2 + elements) * static_cast<double>(1 + op.bodies[0]->ops.size());
    } else if (op.opcode == "reduce-window" || op.opcode == "select-and-scatter") {
      for (const WindowDimension& window : op.window) each *= static_cast<double>(window.size);
    } else if (op.opcode == "rng-bit-generator" && !op.bodies.empty()) {
      each = static_cast<double>(op.bodies[0]->ops.size());
    } else if (op.opcode == "scatter") {
      each = 10;
    }
    sum += elements * each;
  }
  return sum;
}

double ComputeSeconds(const Network& network, const Machine& machine, const Op& op,
                      const Box& out) {
  if (const double flops = ProductFlops(network, op, out); flops > 0) {
    return flops / machine.flops_per_second;
  }
  int64_t elements = Elements(out);
  const int64_t whole = Elements(network.tensors[static_cast<size_t>(op.results[0])].dimensions);
  for (ExprId input : op.inputs) {
    const int64_t read = Elements(network.exprs[static_cast<size_t>(input)].dimensions);
    if (op.opcode == "gather" || whole == 0) break;
    elements = std::max(elements, read * Elements(out) / whole);
  }
  return static_cast<double>(elements) / machine.vector_elements_per_second;
}

double TransferSeconds(const Machine& machine, const Tensor& tensor, const Box& box,
                       const std::vector<int64_t>& order) {
  const int64_t elements = Elements(box);
  if (elements == 0) return 0;
  int64_t together = 1;
  for (size_t k = box.low.size(); k-- > 0;) {
    const size_t d = order.empty() ? k : static_cast<size_t>(order[k]);
    together *= Extent(box, d);
    if (Extent(box, d) != tensor.dimensions[d]) break;
  }
  const double piece = static_cast<double>(together * tensor.element_bytes);
  const double pieces = static_cast<double>(elements / together);
  const double slow = std::max(piece, static_cast<double>(machine.efficient_transfer_bytes));
  return pieces * slow / machine.dram_bytes_per_second +
         machine.transfer_latency_seconds / kTransfersAtOnce;
}

}  // namespace hone::memory
