#include "cost/roofline.h"

#include <algorithm>

namespace hone::cost {
namespace {

struct Kernel {
  double compute, memory, begin;  // seconds of one execution
  double Seconds() const { return std::max(compute, memory) + begin; }
};

Kernel KernelOf(const CostGraph& graph, const CostNode& node, const Machine& machine) {
  const std::string& opcode = graph.opcodes[static_cast<size_t>(node.opcode)];
  const bool library = opcode == "dot" || opcode == "convolution";
  const double cores = library ? machine.cores : std::clamp(node.partitions, 1.0, machine.cores);
  return {node.flops / (cores * machine.flops_per_second),
          (node.read + node.written) / (cores * machine.bytes_per_second),
          machine.kernel_seconds +
              (node.partitions > 1 ? node.partitions * machine.partition_seconds : 0.0)};
}

}  // namespace

double KernelSeconds(const CostGraph& graph, const CostNode& kernel, const Machine& machine) {
  return KernelOf(graph, kernel, machine).Seconds();
}

Roofline RooflineOf(const CostGraph& graph, const Machine& machine) {
  Roofline total;
  for (const CostNode& node : graph.nodes) {
    if (!node.kernel || node.runs == 0) continue;
    const Kernel kernel = KernelOf(graph, node, machine);
    total.seconds += node.runs * kernel.Seconds();
    total.compute_seconds += node.runs * kernel.compute;
    total.memory_seconds += node.runs * kernel.memory;
    total.kernels += node.runs;
  }
  return total;
}

}  // namespace hone::cost
