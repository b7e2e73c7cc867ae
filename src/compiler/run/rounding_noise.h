// Measures how far rounding errors carry through a program: Monte Carlo arithmetic.
//
// AddRoundingNoise rewrites a module so that its floating-point results are off by about one unit
// in the last place, up or down at random, as if each had been rounded otherwise. What comes out,
// against what the untouched program returns, is the observed forward error: it grows where the
// program amplifies errors (cancellation, softmax of large logits, 1/sqrt of small variances) and
// stays small where it does not, whatever the dtype on the way. A fixed relative tolerance would
// be too strict for the former and blind for the latter: a parameter update of 1e-3 of the
// parameter's size vanishes in a tolerance of bf16's eps, yet it is an f32 addition.
//
// A sum of n terms is off by about sqrt(n) roundings rather than one (Higham & Mary, "A New
// Approach to Probabilistic Rounding Error Analysis", SISC 41(5), 2019; the worst case n of
// Higham, Accuracy and Stability of Numerical Algorithms, sections 3.1 and 4.2, is not met in
// practice); blocked over SIMD lanes and unrolled, about sqrt(n / 32). So results of accumulating
// instructions get noise of eps * max(1, sqrt(n / 32)), and so do their operands: sums that
// cancel are off by their terms' size, not by their own.
// Method: Parker, Monte Carlo Arithmetic, UCLA CSD-970002, 1997 (random rounding, section 6).
//
// Which way a value moves depends on its own bits, and in the entry computation on a seed, so runs
// see other noise, and nothing in a loop has to carry a random state. Inputs of few bits cannot be
// moved, and only the seed tells their runs apart. Values with few significant bits (0,
// 1, small integers, masks) are exact in any order of evaluation and are left alone.
//
// A value of bf16 or f16 has few bits because it was rounded to them: 0.998 becomes 1 in bf16, and
// what a program subtracts from 1 afterwards vanishes. XLA itself rounds it or not, as it fuses. So
// noise comes before that rounding, to whatever is no number of the narrow type; which is also what
// a right program does that rounds nothing at all between two operations.
#ifndef HONE_COMPILER_RUN_ROUNDING_NOISE_H_
#define HONE_COMPILER_RUN_ROUNDING_NOISE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/xla_data.pb.h"

namespace hone::compiler {

// The spacing of floating-point numbers of this type, relative to their size: 2^-23 for F32.
double RelativeSpacing(xla::PrimitiveType type);

// How many additions stand behind each element of an accumulating instruction; 0 for others.
double SummedTerms(const xla::HloInstruction& instruction);
// The noise of an instruction's result, and of the operands whose elements it adds up, in spacings.
double NoiseSteps(const xla::HloInstruction& instruction);
std::vector<int64_t> SummedOperands(const xla::HloInstruction& instruction);
// Elementwise arithmetic whose result is rounded.
bool Rounds(const xla::HloInstruction& instruction);

// Sums of narrow floats, and of many of f32: rounded after each addition, as XLA:CPU does it and in
// whatever order, or added up in f32, or f64, and rounded once.
enum class NarrowSums : uint8_t { kNarrow, kWide };

// Whether there are some that make a difference.
bool HasNarrowSums(const xla::HloModule& module);
// A copy that adds them up in wider floats, without noise. Errors: XLA's own.
absl::StatusOr<std::unique_ptr<xla::HloModule>> WithWideSums(const xla::HloModule& module);

// A copy with noise, which takes the seed, a u32, as a parameter after the others; and how many
// places of it got some. Errors: XLA's own.
struct NoisyModule {
  std::unique_ptr<xla::HloModule> module;
  int64_t places = 0;
};
absl::StatusOr<NoisyModule> AddRoundingNoise(const xla::HloModule& module,
                                             NarrowSums sums = NarrowSums::kNarrow);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RUN_ROUNDING_NOISE_H_
