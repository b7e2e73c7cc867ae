// Arrays that are known before anything runs: made of counters and constants only.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_KNOWN_VALUES_H_
#define HONE_COMPILER_IMPLEMENTATIONS_KNOWN_VALUES_H_

#include <optional>

#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/literal.h"
#include "xla/xla_data.pb.h"

namespace hone::compiler {

// The array's value as numbers of the type; nothing where it is not known, or takes much work.
std::optional<xla::Literal> KnownValue(const xla::HloInstruction& array, xla::PrimitiveType type);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_KNOWN_VALUES_H_
