// Compiling and running a module with the stock XLA:CPU pipeline through PJRT.
#ifndef HONE_COMPILER_RUN_EXECUTE_H_
#define HONE_COMPILER_RUN_EXECUTE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/sites/compile_decider.h"
#include "core/compile_plan.h"
#include "verify/compare.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/literal.h"

// Not included: it takes a compiler half a minute.
namespace xla {
class PjRtBuffer;
class PjRtClient;
class PjRtLoadedExecutable;
}  // namespace xla

namespace hone::compiler {

// Why a module cannot be run on this machine alone, naming the instruction: collectives, several
// replicas, host transfers, stateful random numbers, tokens, dynamic shapes.
// Nothing where it can.
std::optional<std::string> WhyNotRunnable(const xla::HloModule& module);

// Bytes of the entry's parameters and results together.
int64_t ArgumentAndResultBytes(const xla::HloModule& module);

// The process's XLA:CPU client, made on first use and kept. One device, synchronous.
absl::StatusOr<xla::PjRtClient*> CpuClient();

// An array per leaf of the entry's parameters or result, in flattened order, row-major.
using Arrays = std::vector<xla::Literal>;
using DeviceArrays = std::vector<std::shared_ptr<xla::PjRtBuffer>>;

// Whether to spend LLVM's time on faster code. The pipeline of HLO passes is the same.
enum class CodeQuality { kStock, kQuickCompile, kNoise };

// A compiled program whose arguments survive a run (no aliasing, no donation).
class Program {
 public:
  // `module` is not changed. The plan's decisions are made, by the decider where there is one, and
  // its flags set. What was compiled before at stock quality is had without compiling
  // (executables.h), unless the decider lists sites. Errors are XLA's own, and kInvalidArgument for
  // flags that it does not have.
  static absl::StatusOr<Program> Compile(const xla::HloModule& module, CodeQuality quality,
                                         CompileDecider* decider = nullptr,
                                         const CompilePlan& plan = {});

  // What the passes have made of a program already: none is run, and kernels that were compiled of
  // it, at the same quality and without flags, are not compiled again.
  static absl::StatusOr<Program> CompileOptimised(const xla::HloModule& optimised,
                                                  CodeQuality quality);

  // Whether Compile would find it compiled, at stock quality.
  static bool IsCompiled(const xla::HloModule& module, const CompilePlan& plan);

  // Where the program wants its arguments, and as it wants them to lie. Without copying where
  // alignment and layouts allow: `arrays` must outlive the result.
  absl::StatusOr<DeviceArrays> Place(const Arrays& arrays) const;
  // Whether another's arguments would lie wrongly.
  bool TakesOtherLayouts(const Program& other) const { return parameters_ != other.parameters_; }

  // The results, row-major. They stay where they are, but for what lies otherwise, and for types
  // that only XLA reads, which are widened: floats of at most 8 bits, integers of less than 8.
  absl::StatusOr<verify::Outputs> Run(const DeviceArrays& arguments) const;

  // The results stay where they are and are dropped: for timing.
  absl::Status RunAndDrop(const DeviceArrays& arguments) const;

  // The module that was compiled in the end.
  absl::StatusOr<std::shared_ptr<xla::HloModule>> Optimised() const;

  // Of what the passes made, before code was made of it; 0 where no passes ran, and of noise.
  const Fingerprint& fingerprint() const { return fingerprint_; }

  // Of the module that was compiled in the end, in all its computations; -1 where it is not told.
  int64_t InstructionCount() const;

 private:
  Program(std::shared_ptr<xla::PjRtLoadedExecutable> executable, std::vector<xla::Shape> parameters,
          const Fingerprint& fingerprint)
      : executable_(std::move(executable)),
        parameters_(std::move(parameters)),
        fingerprint_(fingerprint) {}

  absl::StatusOr<DeviceArrays> Execute(const DeviceArrays& arguments) const;

  std::shared_ptr<xla::PjRtLoadedExecutable> executable_;
  std::vector<xla::Shape> parameters_;  // with their layouts; none where all are row-major
  Fingerprint fingerprint_;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RUN_EXECUTE_H_
