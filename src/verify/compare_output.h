// One output of two programs, element by element, by the rule in rule.h.
#ifndef HONE_VERIFY_COMPARE_OUTPUT_H_
#define HONE_VERIFY_COMPARE_OUTPUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "verify/element_types.h"

namespace hone::verify {

// An array that somebody else holds: row-major, in the machine's own byte order.
struct ArrayView {
  ElementType type;
  std::vector<int64_t> dimensions;
  const void* data = nullptr;
  int64_t elements = 0;

  bool exact() const { return type.kind == NumberKind::kExact; }
  size_t bytes() const { return static_cast<size_t>(elements) * type.bytes; }
};
std::string ShapeText(const ArrayView& array);  // f32[2,3]
bool SameShape(const ArrayView& a, const ArrayView& b);
bool SameBytes(const ArrayView& a, const ArrayView& b);

enum class Outcome {
  kEqual,     // every element within its tolerance
  kFlips,     // few beyond, no more of them than in the reference's own samples; integers as in one
  kHangs,     // decisions hang on the last bit: nothing is shown, nor is anything different
  kOnceMore,  // few beyond, and by little: a decision may have flipped; inputs of the same kind
              // tell
  kDoubtful,  // more than in the samples, but fewer than five times as many: neither can be claimed
  kDifferent,
};

struct OutputComparison {
  Outcome outcome = Outcome::kEqual;
  double worst_error = 0;     // largest |z - y| / tolerance; infinite for exact types and for NaN
  double worst_absolute = 0;  // largest |z - y| among finite elements
  double scale = 1;           // of the candidate as a whole, where that is wrong
  int64_t over = 0;           // elements beyond their tolerance
  int64_t held_out_over = 0;  // the most that a held-out sample had beyond its tolerance
  int64_t unstable = 0;       // differing elements in which samples differ, too
  int64_t elements = 0;       // real components, so twice as many for complex types
  int64_t floats = 0;         // of them floating-point
  int64_t finite = 0;         // of those finite in the reference
  int64_t infinite = 0;       // of those infinite there, which is no NaN
  int64_t resolved = 0;       // of those resolved, or the same in every bit
};

// All have one type and shape. There may be no samples: then only the rounding of the result itself
// is legal.
OutputComparison CompareOutput(const ArrayView& reference, const ArrayView& candidate,
                               const std::vector<ArrayView>& samples);

double Share(int64_t part, int64_t whole);  // 1 of nothing
// Whether there is something to see in an output: most of it is finite, or what is not is infinite.
bool ShowsSomething(const OutputComparison& output);
// The same of every output, and most of all is finite.
bool AllShowSomething(const std::vector<OutputComparison>& outputs);

}  // namespace hone::verify

#endif  // HONE_VERIFY_COMPARE_OUTPUT_H_
