// What a reduce-window runs over.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_WINDOWS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_WINDOWS_H_

#include <optional>

#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

// All that lies before (or behind) an element, in one dimension.
struct Scan {
  int64_t dimension = -1;
  bool backward = false;  // from the last to the first
};
// A reduce-window whose windows are that, with a reducer that is one operation.
struct Cumulative : Scan {
  xla::HloOpcode opcode;
};
std::optional<Cumulative> CumulativeOf(const xla::HloInstruction& root);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_WINDOWS_H_
