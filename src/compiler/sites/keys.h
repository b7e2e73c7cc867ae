// Hashes by which sites are named: the same for instructions that look alike, in any process.
#ifndef HONE_COMPILER_SITES_KEYS_H_
#define HONE_COMPILER_SITES_KEYS_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "core/compile_plan.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/shape.h"

namespace hone::compiler {

inline uint64_t Mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9fb21c651e98df25ull;
  return hash ^ (hash >> 32);
}

uint64_t HashText(absl::string_view text);

// What the keys of a kind's sites begin with.
inline uint64_t KindSeed(CompileSiteKind kind) { return Mix(0xc0de, static_cast<uint64_t>(kind)); }

// Type and dimensions; not the layout.
uint64_t HashShape(const xla::Shape& shape);

// Opcode and shape of the result.
uint64_t HashInstruction(const xla::HloInstruction& instruction);

// Opcode, shapes of result and operands, and attributes as HLO text has them; not what it calls,
// nor the value of a constant.
uint64_t HashWithOperands(const xla::HloInstruction& instruction);

// HashWithOperands of a fusion and of all that is fused.
uint64_t HashFusion(const xla::HloInstruction& fusion);

// HashWithOperands of each instruction of a computation together with that of its operands and
// users up to `hops` edges away: operands in order, users in any.
absl::flat_hash_map<const xla::HloInstruction*, uint64_t> HashNeighbourhoods(
    const xla::HloComputation& computation, int hops);

// Bytes of an array, or of a tuple's; of an instruction's result and operands.
int64_t BytesOf(const xla::Shape& shape);
int64_t Traffic(const xla::HloInstruction& instruction);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_SITES_KEYS_H_
