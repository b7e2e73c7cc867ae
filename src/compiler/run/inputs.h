// Inputs for comparing two programs: legal, varied, and the same on every machine for a seed.
#ifndef HONE_COMPILER_RUN_INPUTS_H_
#define HONE_COMPILER_RUN_INPUTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/run/execute.h"
#include "compiler/run/input_roles.h"

namespace hone::compiler {

// Three kinds of values; set s takes kind s % 3.
//   signed:   about normal, standard deviation 0.3 (1/sqrt(fan-in) for weights, so that signals
//             neither die nor blow up on their way through many layers), a quarter of them scaled
//             down by up to 2^-6
//   positive: uniform in [0.1, 1.1], weights scaled likewise: legal for roots and denominators
//   wide:     standard deviation 1, with small integers, zeros and ones among them
// Roles come first in each: indices lie within their bounds, keys are random bits, and so on.
enum class InputKind { kSigned, kPositive, kWide };
constexpr int kInputKinds = 3;
const char* InputKindName(InputKind kind);

// Random numbers are std::mt19937_64's and all formulas are our own: the standard's distributions
// differ between libraries. Errors: out of memory.
absl::StatusOr<Arrays> MakeInputs(const std::vector<InputRole>& roles, InputKind kind,
                                  uint64_t seed);

// A copy in which each floating-point value with more than a few significant bits is moved up or
// down, at random, by one unit in its last place.
absl::StatusOr<Arrays> Perturbed(const Arrays& inputs, uint64_t seed);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RUN_INPUTS_H_
