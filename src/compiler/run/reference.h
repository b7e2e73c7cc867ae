// The program that candidates are compared with: compiled, with and without rounding noise, and
// run.
#ifndef HONE_COMPILER_RUN_REFERENCE_H_
#define HONE_COMPILER_RUN_REFERENCE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/run/execute.h"
#include "compiler/run/input_roles.h"
#include "compiler/run/rounding_noise.h"
#include "core/compile_plan.h"
#include "core/fingerprint.h"
#include "core/result.h"
#include "verify/compare.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

// The results on one input set.
struct ReferenceRun {
  verify::InputChoice choice;
  std::shared_ptr<const Arrays> inputs;
  std::optional<verify::Outputs> result;
  std::vector<verify::Outputs> moved;
  std::vector<verify::Outputs> samples;
  std::optional<verify::Outputs> wide;
  std::vector<verify::Outputs> wide_noise;
};

class Reference {
 public:
  // The process's last one is kept, with what was compiled of it and its runs as far as they fit:
  // an original is compared with one candidate after the other. Valid until the next call.
  static Reference& Of(const xla::HloModule& module, CodeQuality quality, const CompilePlan& plan);

  // What XLA:CPU's passes make of it, without making code. Errors: XLA's.
  absl::StatusOr<Fingerprint> Optimised();
  // Has to come before runs. Errors: XLA's.
  absl::Status Compile();

  // Valid until the next call. `given` are arrays as CompareOptions has them.
  StatusOr<ReferenceRun*> On(const verify::InputChoice& choice,
                             const std::vector<std::vector<std::string>>& given);
  StatusOr<verify::Outputs> Result(ReferenceRun* run);
  // On moved inputs, with noise on what is stored where that can be had; the same whatever was
  // compared before, for a verdict must not hang on that. `moved` is room for inputs: fresh memory
  // costs as much as a run.
  StatusOr<std::optional<verify::Outputs>> MovedSample(ReferenceRun* run, int k, Arrays* moved);
  StatusOr<std::optional<verify::Outputs>> Sample(ReferenceRun* run, int k, Arrays* moved);
  // With sums of narrow floats in f32 and long ones in f64, the first one as it is, the others with
  // noise; none where there are no such sums.
  StatusOr<std::optional<verify::Outputs>> WideSample(ReferenceRun* run, int k, Arrays* moved);
  // With noise on what it stores (stored_noise.h). Null where nothing is stored but inputs, where
  // XLA refuses it, and of a program under a plan.
  const Program* WithStoredNoise();
  // That compiling noisy copies took, if they were.
  double noise_compile_seconds() const { return noise_compile_seconds_; }

 private:
  Reference() = default;
  // Of the module, where it is not compiled yet.
  template <class Copy>
  Status CompileCopy(std::optional<Program>& program, const Copy& make);
  // The k-th of `samples`, of a copy with noise that is compiled where it is not yet.
  StatusOr<std::optional<verify::Outputs>> Noisy(NarrowSums sums, std::optional<Program>& program,
                                                 ReferenceRun* run,
                                                 std::vector<verify::Outputs>& samples, int k,
                                                 Arrays* moved);
  StatusOr<verify::Outputs> RunMoved(const Program& program, const ReferenceRun& run, uint64_t seed,
                                     bool noise, Arrays* moved);

  Fingerprint fingerprint_;
  CodeQuality quality_ = CodeQuality::kStock;
  CompilePlan plan_;
  std::unique_ptr<xla::HloModule> module_;
  std::optional<Fingerprint> optimised_;
  std::optional<Program> program_, noise_, wide_, wide_noise_;
  std::optional<std::optional<Program>> stored_noise_;  // nothing before it was tried
  double noise_compile_seconds_ = 0;
  std::vector<InputRole> roles_;
  std::vector<std::unique_ptr<ReferenceRun>> runs_;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RUN_REFERENCE_H_
