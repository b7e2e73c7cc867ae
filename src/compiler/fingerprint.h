// The structural fingerprint of a module (core/fingerprint.h) and its size, in one walk.
#ifndef HONE_COMPILER_FINGERPRINT_H_
#define HONE_COMPILER_FINGERPRINT_H_

#include <cstdint>
#include <vector>

#include "core/fingerprint.h"
#include "core/state.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

struct ModuleDigest {
  Fingerprint fingerprint;
  // Counts over all computations reachable from the entry.
  int64_t op_count = 0;
  int32_t computations = 0;
  int32_t loop_depth = 0;
  OpcodeCounts opcodes;
};

// Every instruction that is reachable from the entry, in the order in which the fingerprint walks:
// the same for modules of equal fingerprint.
std::vector<const xla::HloInstruction*> CanonicalOrder(const xla::HloModule& module);

// Linear in the module's size, plus the bytes of its constants.
ModuleDigest DigestModule(const xla::HloModule& module);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_FINGERPRINT_H_
