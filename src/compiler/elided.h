// Constants whose values a dump has left out: XLA writes `constant({...})` for them.
//
// XLA's parser fills them with a count that goes on from program to program. Here they get values
// of their own instead, the same in every process, and of the kind that their uses ask for (indices
// lie within bounds, denominators are positive, …): see run/input_roles.h and run/inputs.h.
#ifndef HONE_COMPILER_ELIDED_H_
#define HONE_COMPILER_ELIDED_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

// How many elided constants an HLO text has.
int CountElided(std::string_view text);

// The same text, each elided constant with a number of its own as a frontend attribute.
std::string MarkElided(std::string_view text);

// Gives what is so marked its values, and takes the marks off. Errors: out of memory.
absl::Status FillElided(xla::HloModule* module);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_ELIDED_H_
