// How far two results of one program may lie apart: judged element by element, from measurement.
//
// Given the reference's result y, the candidate's z, and results y_1..y_K of the reference with
// rounding noise in its inputs and instructions (rounding_noise.h), for each element i
//   deviation_k(i) = |y_k(i) - y(i)|
//   spread(i)      = max_k deviation_k(i)
//   tolerance(i)   = 4 * max(spread(i), rms of the spread over i's block of 32 neighbours,
//                            spacing(dtype) * |y(i)|)
// Real roundings of both programs are uniform within half a spacing, so their difference deviates
// by about 0.4 spacings an operation, and the noise is one spacing: the largest of three such
// samples is already some 3 standard deviations of what is legal, and 4 times that over 10. The
// block keeps a luckily small sample from failing an element; the last term is the rounding of
// the result itself.
//
// Discontinuous programs (sign, argmax, rounding to integers, comparison) flip single elements
// legally and by more than any tolerance. They are recognised by holding out: each y_k is judged
// as if it were the candidate, against the others. Where the reference's own noisy runs exceed
// their tolerances as often as the candidate does, the candidate is as good as the reference. An
// element at which noisy runs disagree with y about being NaN or infinite, or (integers) about the
// value, is unstable: there anything goes.
#ifndef HONE_COMPILER_RUN_TOLERANCE_H_
#define HONE_COMPILER_RUN_TOLERANCE_H_

#include <cstdint>
#include <vector>

#include "xla/literal.h"

namespace hone::compiler {

enum class Outcome {
  kEqual,     // every element within its tolerance, or unstable
  kFlips,     // some beyond, no more of them than in the reference's own noisy runs
  kDoubtful,  // more of them, but fewer than five times as many: neither can be claimed
  kDifferent,
};

struct LeafComparison {
  Outcome outcome = Outcome::kEqual;
  double worst_error = 0;     // largest |z - y| / tolerance; infinite for exact types and for NaN
  double worst_absolute = 0;  // largest |z - y| among finite elements
  int64_t over = 0;           // elements beyond their tolerance
  int64_t held_out_over = 0;  // the most that a held-out noisy run had beyond its tolerance
  int64_t unstable = 0;       // differing elements that were excused as unstable
  int64_t elements = 0;       // real components, so twice as many for complex types
  int64_t floats = 0;         // of them floating-point
  int64_t finite = 0;         // of those finite in the reference
  int64_t resolved = 0;       // of those with a tolerance below a tenth of the output's size
};

// Whether the two hold the same bytes.
bool SameBytes(const xla::Literal& reference, const xla::Literal& candidate);

// Of one output. `noisy` may be empty: then only the last term of the tolerance is left. All have
// one shape and layout.
LeafComparison CompareLeaf(const xla::Literal& reference, const xla::Literal& candidate,
                           const std::vector<const xla::Literal*>& noisy);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_RUN_TOLERANCE_H_
