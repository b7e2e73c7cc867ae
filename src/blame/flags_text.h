// XLA's flags as people write them.
#ifndef HONE_BLAME_FLAGS_TEXT_H_
#define HONE_BLAME_FLAGS_TEXT_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"

namespace hone::blame {

using Flags = std::vector<std::pair<std::string, std::string>>;  // as CompilePlan has them

// "--NAME=VALUE --NAME …" with or without the dashes, as in XLA_FLAGS; a name alone is true. Each
// pass of xla_disable_hlo_passes is a flag of its own, and so is each entry of
// xla_backend_extra_options. Errors: kInvalidInput.
StatusOr<Flags> FlagsFromText(std::string_view text);

// For XLA_FLAGS.
std::string FlagsToText(const Flags& flags);

}  // namespace hone::blame

#endif  // HONE_BLAME_FLAGS_TEXT_H_
