// Loops whose state has other types.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_LOOP_STATE_H_
#define HONE_COMPILER_IMPLEMENTATIONS_LOOP_STATE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/shape.h"

namespace hone::compiler {

// Whether all that is done with a tuple is to take elements out of it.
bool IsTakenApart(const xla::HloInstruction& tuple);

// Whether all parts of a loop's state are seen, one by one, within it and before it.
bool IsOfKnownParts(const xla::HloInstruction& loop);

// What a loop's body puts in the place of a part of its state, maybe itself; null where this is no
// part of one.
const xla::HloInstruction* NextOf(const xla::HloInstruction& state);

// An element of a tuple, taken from what it is put together from where that is seen.
xla::HloInstruction* ElementOf(xla::HloInstruction* tuple, int64_t k);

// A loop's body or condition, with its parameter alone so far.
xla::HloComputation* OfState(xla::HloModule& module, const std::string& name,
                             const xla::Shape& state);

// A copy whose parameter has another shape. What takes elements out of it has the shapes of before.
xla::HloComputation* WithState(xla::HloComputation& computation, const xla::Shape& state);

// Takes what nothing takes any more away.
absl::Status RemoveUnused(xla::HloComputation& computation);

// A loop of these, in the place of another: from a tuple of `first`, with what XLA notes of the
// other.
xla::HloInstruction* LoopLike(xla::HloInstruction* other, xla::HloComputation* condition,
                              xla::HloComputation* body,
                              const std::vector<xla::HloInstruction*>& first);

// The first parts of a loop's result, so many, together.
xla::HloInstruction* FirstParts(xla::HloInstruction* loop, int64_t parts);

// Floats that XLA:CPU writes into an array of as f32, the whole array anew each time.
bool IsWidened(xla::PrimitiveType type);
// Unsigned integers as wide.
xla::PrimitiveType BitsType(xla::PrimitiveType type);
// Such floats, made of their bits.
bool AreFloatsOfBits(const xla::HloInstruction& x);
// Such floats as their bits; anything else as it is. And back.
xla::Shape BitsShape(xla::Shape shape);
xla::HloInstruction* BitsOf(xla::HloInstruction* x);
xla::HloInstruction* FromBits(xla::HloInstruction* bits, xla::PrimitiveType type);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_LOOP_STATE_H_
