// XLA's own estimates of what a module costs.
#ifndef HONE_COMPILER_METRICS_H_
#define HONE_COMPILER_METRICS_H_

#include "compiler/fingerprint.h"
#include "core/metrics.h"
#include "core/state.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

// Fills op_count, computations and loop_depth.
void CountInto(const ModuleDigest& digest, Metrics& metrics);

// Fills flops, transcendentals and bytes_accessed by HloCostAnalysis. What XLA cannot analyse stays -1.
void AnalyseCost(const xla::HloModule& module, Metrics& metrics);

// Fills kernels.
void CountKernels(const xla::HloModule& module, Metrics& metrics);

// Fills peak_memory, in bytes, by XLA's default memory scheduler. What it cannot schedule stays -1.
void AnalysePeakMemory(const xla::HloModule& module, Metrics& metrics);

// Fills estimated_seconds, where the target's XLA has a model of its machine.
void EstimateTime(const xla::HloModule& module, Metrics& metrics);

// Whether `options` ask for what is not filled in yet: cost, kernels, peak memory, the estimate.
bool Lacks(const Metrics& metrics, const ApplyOptions& options);
// Fills that in.
void FillIn(const xla::HloModule& module, const ApplyOptions& options, Metrics& metrics);

// All of it.
Metrics MeasureModule(const xla::HloModule& module);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_METRICS_H_
