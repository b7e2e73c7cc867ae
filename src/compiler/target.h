// The machine that a worker compiles for: what differs between XLA:CPU and XLA:GPU is behind this.
#ifndef HONE_COMPILER_TARGET_H_
#define HONE_COMPILER_TARGET_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/passes/pass_table.h"
#include "core/metrics.h"
#include "core/result.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

class Target {
 public:
  virtual ~Target() = default;

  // "cpu", "h100", or the stem of the user's file.
  virtual std::string name() const = 0;
  // The wheel that its XLA comes from, by name.
  virtual std::string wheel() const = 0;
  // XLA's passes in a fixed order; the first row of a name has the options that the target's own pipeline
  // uses, so that what it records of itself maps onto rows by name.
  virtual std::vector<PassEntry> Passes() const = 0;
  virtual std::vector<ExcludedPass> Excluded() const = 0;
  // The target's whole pipeline of HLO passes: Compiler::RunHloPasses.
  virtual absl::StatusOr<std::unique_ptr<xla::HloModule>> Optimise(
      std::unique_ptr<xla::HloModule> module) const = 0;
  // Fills Metrics::estimated_seconds where the target's XLA has a model of its machine.
  virtual void Estimate(const xla::HloModule& module, Metrics& metrics) const = 0;
};

// What this worker compiles for: the CPU until SetTarget was called, before any other thread started.
const Target& TheTarget();
// `target`: "cpu", the name of a GPU, or a file with a GpuTargetConfigProto as text. Errors:
// kInvalidInput, with what there is; kUnsupported in a worker without GPUs.
Status SetTarget(const std::string& target);

// In hone-worker-gpu alone; elsewhere it says so.
StatusOr<std::unique_ptr<Target>> MakeGpuTarget(const std::string& target);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_TARGET_H_
