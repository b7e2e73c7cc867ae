// The machine that a worker compiles for: what differs between XLA:CPU and XLA:GPU is behind this.
#ifndef HONE_COMPILER_TARGET_H_
#define HONE_COMPILER_TARGET_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/passes/pass_table.h"
#include "core/compile_plan.h"
#include "core/program.h"
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
  // The target's whole pipeline of HLO passes, Compiler::RunHloPasses, with the module's own debug options;
  // a ScopedPipelineObserver of this thread is asked.
  virtual absl::StatusOr<std::unique_ptr<xla::HloModule>> Optimise(
      std::unique_ptr<xla::HloModule> module) const = 0;
  // Whether programs are compiled to the end and run here.
  virtual bool is_here() const = 0;
  // The kernels of a module as it stands, each with the estimate of XLA's own model of the machine; an
  // error where it has none. `optimised`: at the pipeline's end, where a dot or convolution that no
  // library was given is a loop.
  virtual absl::StatusOr<std::vector<KernelTime>> EstimateKernels(const xla::HloModule& module,
                                                                  bool optimised) const = 0;
  // An optimised module of this target as a program that XLA:CPU takes too; it computes the same. Error:
  // what of it has no such form; the module is then half-changed.
  virtual absl::Status MakePlain(xla::HloModule& optimised) const = 0;
  // Assembly of an optimised module's kernels. Errors: kUnimplemented where this target has none here; XLA's own
  // for what it cannot generate without a device.
  virtual absl::StatusOr<std::string> Assembly(std::unique_ptr<xla::HloModule> optimised) const = 0;
  // Files that Assembly reads, for the worker to be let.
  virtual std::vector<std::string> Readable() const { return {}; }
  // The debug options worth trying. `passes`: those that the stock pipeline ran.
  virtual std::vector<FlagChoices> FlagsToTry(const std::vector<StockPass>& passes,
                                              bool fast_math) const = 0;
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
