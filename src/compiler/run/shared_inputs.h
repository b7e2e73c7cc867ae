// Generated inputs that several look at: races, comparisons and profiles of one program make them
// once.
#ifndef HONE_COMPILER_RUN_SHARED_INPUTS_H_
#define HONE_COMPILER_RUN_SHARED_INPUTS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/run/inputs.h"

namespace hone::compiler {

// What MakeInputs makes of these. The last few are kept while they are small enough or somebody
// else holds them. From any thread. Errors: MakeInputs'.
absl::StatusOr<std::shared_ptr<const Arrays>> SharedInputs(const std::vector<InputRole>& roles,
                                                           InputKind kind, uint64_t seed);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RUN_SHARED_INPUTS_H_
