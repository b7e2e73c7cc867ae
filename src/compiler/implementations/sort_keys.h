// What a sort is by: its comparator as a function of an element, and numbers in its order.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_SORT_KEYS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_SORT_KEYS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "xla/comparison_util.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/xla_data.pb.h"

namespace hone::compiler {

// Numbers 0, 1, 2, … along the dimension, the same in all others.
bool IsPositions(const xla::HloInstruction& x, int64_t dimension);

// What a comparator compares, and how.
struct SortKey {
  int64_t array = 0;  // the number of what is compared among those that are sorted
  const xla::HloInstruction* function = nullptr;  // within the comparator, of the first of a pair
  bool descending = false;
  xla::ComparisonOrder order;
};
// The keys, what counts most first: the next counts where all before are equal. None where it
// compares otherwise.
std::vector<SortKey> KeysOf(const xla::HloComputation& comparator);
// The only one, of the first array.
std::optional<SortKey> KeyOf(const xla::HloComputation& comparator);

// Whether a function of scalars, to one or a tuple, may be applied element by element: nothing is
// random in it.
bool CanBeMapped(const xla::HloComputation& function);
// A scalar function, applied to each element of `x`.
xla::HloInstruction* Mapped(const xla::HloInstruction& function, xla::HloInstruction* x,
                            std::map<const xla::HloInstruction*, xla::HloInstruction*>* done);

// The key's function, applied to each element of its array.
xla::HloInstruction* KeysIn(xla::HloInstruction* sort, const SortKey& key);

// Does a scalar function of one parameter give every float back, but for the sign of zeros and what
// kind of NaN it is? It must choose between its parameter and constants only.
bool KeepsValues(const xla::HloInstruction& function, xla::PrimitiveType type);

// Floats that are keys, so that IEEE 754's total order is theirs; the opposite one where it is to
// be.
xla::HloInstruction* InTotalOrder(xla::HloInstruction* keys, const SortKey& key, bool opposite);

xla::PrimitiveType Unsigned(int64_t bits);
// Of the type and sizes of `like`.
xla::HloInstruction* Constant(xla::HloInstruction* like, uint64_t value);

// Unsigned integers in the order of the keys.
xla::HloInstruction* Ordered(xla::HloInstruction* keys, const SortKey& key);

// Whether anybody looks at an array that is sorted: what JAX lowers is full of parts that nobody
// does.
bool IsUsed(const xla::HloInstruction& sort, int64_t output);

// What stands in a sort's place: of each array that anybody looks at what `sorted` makes of it.
xla::HloInstruction* EachSorted(xla::HloInstruction* sort,
                                absl::FunctionRef<xla::HloInstruction*(int64_t array)> sorted);
// An array, its elements from these places along the dimension.
xla::HloInstruction* FromPlaces(xla::HloInstruction* array, xla::HloInstruction* places,
                                int64_t dimension);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_SORT_KEYS_H_
