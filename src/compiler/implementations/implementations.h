// Other ways to compute what XLA:CPU computes slowly: each the same value up to rounding. Which one
// is faster depends on shapes and machine: nothing here is applied without being measured.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_IMPLEMENTATIONS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_IMPLEMENTATIONS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/rules/rule_pass.h"
#include "core/pass.h"

namespace hone::compiler {

struct Implementation {
  const InstructionRule* rule;  // kept for ever; its name is the pass's, behind "implement:"
  std::string meaning;          // in one line
  uint32_t traits;              // PassTraits
};

// In the order in which they are tried.
const std::vector<Implementation>& Implementations();
// Null where there is none of that name.
const InstructionRule* FindImplementation(std::string_view name);

// A concatenation or pad as a kernel of its own; null where it is one, or need not be.
absl::StatusOr<xla::HloInstruction*> ConcatenateOnce(xla::HloInstruction* root);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_IMPLEMENTATIONS_H_
