// Which rewrites cannot both be made.
#ifndef HONE_COMPILER_SITES_CONFLICTS_H_
#define HONE_COMPILER_SITES_CONFLICTS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "core/rewrite.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

// The part of the program as it was that a rewrite touches.
struct Touched {
  RewriteKind kind;
  const xla::HloInstruction* original;
  const xla::HloInstruction* user;  // of operand replacements, else null
  int64_t operand;
  std::vector<const xla::HloInstruction*> removed;  // with the original, where it goes
  std::vector<const xla::HloInstruction*> reads;    // what the replacement is made from
};

// Pairs i < j, ascending, of rewrites of which the one leaves no place for the other; sets the
// status of the later one of each: kConflicts, or kCycle where each would make the other's result
// an input of its own.
std::vector<std::pair<uint32_t, uint32_t>> FindConflicts(const std::vector<Touched>& touched,
                                                         std::vector<RewriteSite>& sites);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_SITES_CONFLICTS_H_
