// Inputs for comparing two programs: legal, varied, and the same on every machine for a seed.
#ifndef HONE_COMPILER_RUN_INPUTS_H_
#define HONE_COMPILER_RUN_INPUTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/run/execute.h"
#include "compiler/run/input_roles.h"

namespace hone::compiler {

// Kinds of values; set s takes kind s % 3, the others are for programs that show nothing on these.
//   signed:     about normal, standard deviation 0.3 (1/sqrt(fan-in) for weights, so that signals
//               neither die nor blow up on their way through many layers), a quarter of them scaled
//               down by up to 2^-6
//   positive:   uniform in [0.1, 1.1], weights scaled likewise: legal for roots and denominators
//   wide:       standard deviation 1, with small integers, zeros and ones among them
//   small:      about normal, standard deviation 0.01, weights a quarter of signed ones: what is
//               iterated stays put; vectors ascend, scalars are in [0.001, 0.01]
//   structured: points (rows of 2 or 3) on a jittered lattice with distances of about 1.2, vectors
//               ascending from 0 to 1: particles that do not collide, times in order
//   exact:      few distinct values of few bits, so that sums are exact in any order and decisions
//               have room
//   searched:   each array has a habit of its own, drawn by the lower half of the seed: near one
//               level, or near one for each channel; ascending in each row; a matrix that is
//               positive definite; or as another kind has it
// Roles come first in each: indices lie within their bounds, keys are random bits, and so on.
enum class InputKind { kSigned, kPositive, kWide, kSmall, kStructured, kExact, kSearched };
constexpr int kInputKinds = 3;  // those that every comparison takes

// The same for a seed on every machine: all formulas are our own. Errors: out of memory.
absl::StatusOr<Arrays> MakeInputs(const std::vector<InputRole>& roles, InputKind kind,
                                  uint64_t seed);

// Makes `moved` a copy in which each floating-point value with more than a few significant bits is
// moved up or down, at random, by one unit in its last place. Where it was a copy of such inputs
// before, its memory is taken. Errors: out of memory.
absl::Status Perturb(const Arrays& inputs, uint64_t seed, Arrays* moved);

// Multiplies each floating-point value by 1 +- 0.01 at most.
void MoveNearby(uint64_t seed, Arrays* arrays);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RUN_INPUTS_H_
