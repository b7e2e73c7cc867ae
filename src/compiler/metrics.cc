#include "compiler/metrics.h"

#include <memory>

#include "xla/hlo/analysis/alias_info.h"
#include "xla/hlo/transforms/simplifiers/flatten_call_graph.h"
#include "xla/hlo/transforms/simplifiers/hlo_memory_scheduler.h"
#include "xla/service/buffer_value.h"
#include "xla/service/call_graph.h"
#include "xla/service/hlo_cost_analysis.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

// Is a loop's or a conditional's computation called from elsewhere too? XLA's alias analysis aborts on
// such a module, which its verifier takes.
bool SharesControlFlow(const xla::HloModule& module) {
  const std::unique_ptr<xla::CallGraph> graph = xla::CallGraph::Build(&module);
  for (const xla::CallGraphNode& node : graph->nodes()) {
    if (node.caller_callsites().size() < 2) continue;
    for (const xla::CallSite& site : node.caller_callsites()) {
      const xla::HloOpcode opcode = site.instruction()->opcode();
      if (opcode == xla::HloOpcode::kWhile || opcode == xla::HloOpcode::kConditional) return true;
    }
  }
  return false;
}

}  // namespace

void CountInto(const ModuleDigest& digest, Metrics& metrics) {
  metrics.op_count = digest.op_count;
  metrics.computations = digest.computations;
  metrics.loop_depth = digest.loop_depth;
}

void AnalyseCost(const xla::HloModule& module, Metrics& metrics) {
  xla::HloCostAnalysis analysis;
  if (!module.entry_computation()->Accept(&analysis).ok()) return;
  metrics.flops = static_cast<double>(analysis.flop_count());
  metrics.transcendentals = static_cast<double>(analysis.transcendental_count());
  metrics.bytes_accessed = static_cast<double>(analysis.bytes_accessed());
}

void AnalysePeakMemory(const xla::HloModule& module, Metrics& metrics) {
  std::unique_ptr<xla::HloModule> flat;
  if (SharesControlFlow(module)) {
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

Metrics MeasureModule(const xla::HloModule& module) {
  Metrics metrics;
  CountInto(DigestModule(module), metrics);
  AnalyseCost(module, metrics);
  AnalysePeakMemory(module, metrics);
  return metrics;
}

}  // namespace hone::compiler
