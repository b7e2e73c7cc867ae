// Generated inputs that several look at: races, comparisons and profiles of one program make them
// once.
#ifndef HONE_COMPILER_RUN_SHARED_INPUTS_H_
#define HONE_COMPILER_RUN_SHARED_INPUTS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/run/inputs.h"
#include "core/result.h"

namespace hone::compiler {

// What MakeInputs makes of these. The last few are kept while they are small enough or somebody
// else holds them. From any thread. Errors: MakeInputs'.
absl::StatusOr<std::shared_ptr<const Arrays>> SharedInputs(const std::vector<InputRole>& roles,
                                                           InputKind kind, uint64_t seed);

// What somebody gave: each array's bytes, row-major. Errors: kInvalidInput where these are not the
// roles' shapes.
StatusOr<Arrays> GivenInputs(const std::vector<InputRole>& roles,
                             const std::vector<std::string>& bytes);

// What runs are timed on.
struct TimedInputs {
  TimedInputs(uint64_t of_seed) : seed(of_seed) {}  // NOLINT: those of a seed are meant
  uint64_t seed;                                    // generated ones, of the first kind
  std::shared_ptr<const Arrays> given;              // instead, where there are any
};
absl::StatusOr<std::shared_ptr<const Arrays>> InputsToTime(const xla::HloModule& module,
                                                           const TimedInputs& inputs);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RUN_SHARED_INPUTS_H_
