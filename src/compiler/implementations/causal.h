// Values that are spread over an array, and masks that counters make.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_CAUSAL_H_
#define HONE_COMPILER_IMPLEMENTATIONS_CAUSAL_H_

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

// A value, and which dimension of a larger array counts each of its own; -1 where that is 0 always.
struct View {
  const xla::HloInstruction* value = nullptr;
  std::vector<int64_t> dimensions;

  friend bool operator==(const View& a, const View& b) {
    return a.value == b.value && a.dimensions == b.dimensions;
  }
  friend bool operator!=(const View& a, const View& b) { return !(a == b); }
};

// What a value is a broadcast, transpose, reshape by sizes of 1, or copy of. Those passed by are
// added to `path` if there is one.
View Through(const xla::HloInstruction* value, std::vector<int64_t> dimensions,
             std::set<const xla::HloInstruction*>* path);

// The same, also past what is rounded to another type that kernels compute in f32.
View PastRounding(const xla::HloInstruction* value, std::vector<int64_t> dimensions,
                  std::set<const xla::HloInstruction*>* path);

// Row s and column t where t <= s + until, or, negated, where not.
struct Causal {
  int64_t until = 0;
  bool negated = false;
};

// A condition that is made of counters and constants alone, and says that; of dimension d of its
// array, dimensions[d] is the larger array's, of which `rows` and `columns` are two.
std::optional<Causal> CausalOf(const xla::HloInstruction* condition,
                               const std::vector<int64_t>& dimensions, int64_t rows,
                               int64_t columns);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_CAUSAL_H_
