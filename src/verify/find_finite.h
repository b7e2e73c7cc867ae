// Inputs on which results are finite, where no usual ones are: a density must be positive and an
// energy more than what moves, a box's first corner before its second, a temperature near 300.
#ifndef HONE_VERIFY_FIND_FINITE_H_
#define HONE_VERIFY_FIND_FINITE_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "verify/compare.h"

namespace hone::verify {

// Of kSearchedKind each array has a habit of its own. The lower half of InputChoice::seed says
// which (the upper half, the values): kDraws numbers of 8 bits, the lowest first, of a first draw
// for all arrays and of further ones for about a quarter of them each; 0 is none.
inline constexpr int kDraws = 4;

// Runs the reference on one draw of habits after another, then on the best with some of its habits
// drawn again, until most of every output is finite; none where it came to nothing, or was `over`.
std::optional<InputChoice> FindFinite(Subject& subject, uint64_t seed,
                                      const std::function<bool()>& over);

// The same habits.
InputChoice WithOtherValues(InputChoice searched, uint64_t number);

}  // namespace hone::verify

#endif  // HONE_VERIFY_FIND_FINITE_H_
