#include "compiler/metrics.h"

#include <algorithm>
#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "compiler/launches.h"
#include "compiler/target.h"
#include "xla/hlo/analysis/alias_info.h"
#include "xla/hlo/transforms/simplifiers/flatten_call_graph.h"
#include "xla/hlo/transforms/simplifiers/hlo_memory_scheduler.h"
#include "xla/service/buffer_value.h"
#include "xla/service/call_graph.h"
#include "xla/service/hlo_cost_analysis.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

constexpr double kMostFlattened = 1e6;  // instructions

// XLA's alias analysis aborts or reads freed memory on some modules in which calls, loops or
// conditionals share a computation, which its verifier takes; on a flattened one it does not.
bool SharesControlFlow(const xla::CallGraph& graph) {
  for (const xla::CallGraphNode& node : graph.nodes()) {
    if (node.context() != xla::CallContext::kEmbedded && node.caller_callsites().size() > 1)
      return true;
  }
  return false;
}

// Instructions of the module once each call has a computation of its own.
double FlattenedSize(const xla::CallGraph& graph, const xla::HloModule& module) {
  absl::flat_hash_map<const xla::HloComputation*, double> sizes;
  for (const xla::HloComputation* computation : module.MakeComputationPostOrder()) {
    double size = static_cast<double>(computation->instruction_count());
    for (const xla::CallSite& site : graph.GetNode(computation).callsites()) {
      if (site.context() == xla::CallContext::kEmbedded) continue;
      for (const xla::HloComputation* called : site.called_computations()) size += sizes.at(called);
    }
    sizes[computation] = size;
  }
  return sizes.at(module.entry_computation());
}

// XLA's analysis takes custom calls for free, or for less than nothing: what it does not know would
// be the best way to do anything. Here each is an operation for each element that it takes or
// makes, and moves those.
class CostAnalysis : public xla::HloCostAnalysis {
 public:
  absl::Status HandleCustomCall(const xla::HloInstruction* call) override {
    int64_t elements = xla::ShapeUtil::ElementsInRecursive(call->shape());
    for (const xla::HloInstruction* operand : call->operands()) {
      elements += xla::ShapeUtil::ElementsInRecursive(operand->shape());
    }
    current_properties_[kFlopsKey] = static_cast<float>(elements);
    return absl::OkStatus();
  }

 protected:
  std::unique_ptr<xla::HloCostAnalysis> CreateNestedCostAnalysis() override {
    return std::make_unique<CostAnalysis>();
  }
};

}  // namespace

void CountInto(const ModuleDigest& digest, Metrics& metrics) {
  metrics.op_count = digest.op_count;
  metrics.computations = digest.computations;
  metrics.loop_depth = digest.loop_depth;
}

void AnalyseCost(const xla::HloModule& module, Metrics& metrics) {
  CostAnalysis analysis;
  if (!module.entry_computation()->Accept(&analysis).ok()) return;
  metrics.flops = static_cast<double>(analysis.flop_count());
  metrics.transcendentals = static_cast<double>(analysis.transcendental_count());
  metrics.bytes_accessed = static_cast<double>(analysis.bytes_accessed());
}

void CountKernels(const xla::HloModule& module, Metrics& metrics) {
  double kernels = 0;
  ForEachRun(module, [&](const xla::HloComputation& computation, double times) {
    for (const xla::HloInstruction* instruction : computation.instructions()) {
      if (RunsKernel(*instruction)) kernels += times;
    }
  });
  metrics.kernels = static_cast<int64_t>(std::min(kernels, 9e18));
}

void EstimateTime(const xla::HloModule& module, Metrics& metrics) {
  const auto kernels = TheTarget().EstimateKernels(module, /*optimised=*/false);
  if (!kernels.ok()) return;
  metrics.estimated_seconds = 0;
  for (const KernelTime& kernel : *kernels) metrics.estimated_seconds += kernel.seconds;
}

void AnalysePeakMemory(const xla::HloModule& module, Metrics& metrics) {
  std::unique_ptr<xla::HloModule> flat;
  const std::unique_ptr<xla::CallGraph> graph = xla::CallGraph::Build(&module);
  if (SharesControlFlow(*graph)) {
    if (FlattenedSize(*graph, module) > kMostFlattened) return;
    flat = module.Clone("");
    if (!xla::FlattenCallGraph().Run(flat.get()).ok()) return;
  }
  const xla::AliasInfo alias_info;
  int64_t peak = -1;
  const auto schedule = xla::ScheduleModule(
      flat ? flat.get() : &module, &alias_info,
      [](const xla::BufferValue& buffer) {
        return xla::ShapeUtil::ByteSizeOf(buffer.shape(), sizeof(void*));
      },
      /*execution_threads=*/{}, &peak);
  if (schedule.ok()) metrics.peak_memory = peak;
}

bool Lacks(const Metrics& metrics, const ApplyOptions& options) {
  return (options.cost && metrics.flops < 0) || (options.kernels && metrics.kernels < 0) ||
         (options.peak_memory && metrics.peak_memory < 0) ||
         (options.estimate && metrics.estimated_seconds < 0);
}

void FillIn(const xla::HloModule& module, const ApplyOptions& options, Metrics& metrics) {
  if (options.cost && metrics.flops < 0) AnalyseCost(module, metrics);
  if (options.kernels && metrics.kernels < 0) CountKernels(module, metrics);
  if (options.peak_memory && metrics.peak_memory < 0) AnalysePeakMemory(module, metrics);
  if (options.estimate && metrics.estimated_seconds < 0) EstimateTime(module, metrics);
}

Metrics MeasureModule(const xla::HloModule& module) {
  Metrics metrics;
  CountInto(DigestModule(module), metrics);
  AnalyseCost(module, metrics);
  CountKernels(module, metrics);
  AnalysePeakMemory(module, metrics);
  EstimateTime(module, metrics);
  return metrics;
}

}  // namespace hone::compiler
