// Short ways to add instructions to a computation; shapes follow from the operands.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_EMIT_H_
#define HONE_COMPILER_IMPLEMENTATIONS_EMIT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/literal.h"
#include "xla/xla_data.pb.h"

namespace hone::compiler::emit {

using Sizes = absl::Span<const int64_t>;

// May an implementation take this instruction's place? No: where it is tied to others by control
// dependencies or sharding, has an effect beside its value, or a dynamic shape.
bool Free(const xla::HloInstruction& instruction);

// The type in which products and sums are formed: f32 for narrower floats, else the type itself.
xla::PrimitiveType SumType(xla::PrimitiveType type);

// The type to compute an operation on many elements in: narrow floats are added up in f32.
xla::PrimitiveType WorkType(xla::HloOpcode opcode, xla::PrimitiveType type);
// Of both operands of a dot.
xla::PrecisionConfig HighestPrecision();

// All opcodes whose instructions may be elementwise.
std::vector<xla::HloOpcode> ElementwiseOpcodes();

// The opcode of a computation of two parameters that is one commutative and associative operation
// on both, such as add or maximum.
std::optional<xla::HloOpcode> ReducerOpcode(const xla::HloComputation& computation);

// Whether such a computation takes its second parameter in place of its first.
bool Replaces(const xla::HloComputation& computation);

// The largest number of a type of integers, or that of s64 if it is less.
int64_t LargestOf(xla::PrimitiveType type);

// The scalar that changes nothing under such an operation.
xla::Literal Identity(xla::HloOpcode opcode, xla::PrimitiveType type);
bool IsIdentity(const xla::HloInstruction& scalar, xla::HloOpcode opcode);

xla::HloInstruction* Scalar(xla::HloComputation* computation, xla::Literal value);
xla::HloInstruction* Zero(xla::HloComputation* computation, xla::PrimitiveType type);
// An integer, or small whole number, of a type.
xla::HloInstruction* Number(xla::HloComputation* computation, xla::PrimitiveType type,
                            int64_t value);
// Everywhere in an array of the sizes of another.
xla::HloInstruction* NumberLike(xla::HloInstruction* like, xla::PrimitiveType type, int64_t value);

xla::HloInstruction* Convert(xla::HloInstruction* x, xla::PrimitiveType type);
xla::HloInstruction* BitcastConvert(xla::HloInstruction* x, xla::PrimitiveType type);
xla::HloInstruction* Unary(xla::HloOpcode opcode, xla::HloInstruction* x);
xla::HloInstruction* Binary(xla::HloOpcode opcode, xla::HloInstruction* x, xla::HloInstruction* y);
// Takes a scalar initial value in, of any float type, where it matters.
xla::HloInstruction* WithStart(xla::HloInstruction* value, xla::HloInstruction* start,
                               xla::HloOpcode opcode);
// The sum with one more term; the term where there is no sum yet.
xla::HloInstruction* AddTo(xla::HloInstruction* sum, xla::HloInstruction* term,
                           xla::HloOpcode adds = xla::HloOpcode::kAdd);
xla::HloInstruction* Compare(xla::Comparison::Direction direction, xla::HloInstruction* x,
                             xla::HloInstruction* y);
xla::HloInstruction* Select(xla::HloInstruction* which, xla::HloInstruction* x,
                            xla::HloInstruction* y);
xla::HloInstruction* Reshape(xla::HloInstruction* x, Sizes sizes);
xla::HloInstruction* Transpose(xla::HloInstruction* x, Sizes permutation);
// [rows, size of the dimension]: what runs along the dimension, each by itself.
xla::HloInstruction* Rows(xla::HloInstruction* x, int64_t dimension);
// An array of these sizes from its rows along the dimension.
xla::HloInstruction* FromRows(xla::HloInstruction* rows, Sizes sizes, int64_t dimension);
xla::HloInstruction* Broadcast(xla::HloInstruction* x, Sizes sizes, Sizes dimensions);
xla::HloInstruction* Iota(xla::HloComputation* computation, xla::PrimitiveType type, Sizes sizes,
                          int64_t dimension);
// True where the places along two dimensions are the same.
xla::HloInstruction* Diagonal(xla::HloComputation* computation, Sizes sizes, int64_t first,
                              int64_t second);
xla::HloInstruction* Slice(xla::HloInstruction* x, Sizes starts, Sizes limits, Sizes strides);
// Elements [from, to) along one dimension, all in others.
xla::HloInstruction* SliceAlong(xla::HloInstruction* x, int64_t dimension, int64_t from,
                                int64_t to);
// From scalars on, of which XLA moves those back that would go over the edge.
xla::HloInstruction* DynamicSlice(xla::HloInstruction* x,
                                  const std::vector<xla::HloInstruction*>& starts, Sizes sizes);
xla::HloInstruction* DynamicUpdateSlice(xla::HloInstruction* x, xla::HloInstruction* update,
                                        const std::vector<xla::HloInstruction*>& starts);
xla::HloInstruction* Concatenate(const std::vector<xla::HloInstruction*>& parts, int64_t dimension);
// `value` is a scalar. Low and high may be negative.
xla::HloInstruction* Pad(xla::HloInstruction* x, xla::HloInstruction* value, Sizes low, Sizes high,
                         Sizes interior);
// The elements of `x` at places along a dimension: r[..., k, ...] = x[..., places[..., k, ...],
// ...].
xla::HloInstruction* TakeAlong(xla::HloInstruction* x, xla::HloInstruction* places,
                               int64_t dimension);
// The computation that combines two scalars of the type by the operation.
xla::HloComputation* Combiner(xla::HloModule* module, xla::HloOpcode opcode,
                              xla::PrimitiveType type);
xla::HloInstruction* Reduce(xla::HloInstruction* x, xla::HloInstruction* start, Sizes dimensions,
                            xla::HloOpcode opcode);
// Batch dimensions come first, then what is left of x, then what is left of y.
xla::HloInstruction* Dot(xla::HloInstruction* x, xla::HloInstruction* y, Sizes x_batch,
                         Sizes y_batch, Sizes x_contracted, Sizes y_contracted,
                         xla::PrimitiveType type, const xla::PrecisionConfig& precision);

// Whether these are `first`, `first` + 1 and so on, to before `end`.
bool InOrder(Sizes dimensions, int64_t first, int64_t end);

// How many products each sum of a dot or convolution has, beside edges.
int64_t TermsOf(const xla::HloInstruction& product);

// Puts arrays of one shape, one per index below `factors` (last dimension fastest), together: the
// element q of the one with index r is the element q * factors + r of the result.
xla::HloInstruction* Interleave(std::vector<xla::HloInstruction*> pieces, Sizes factors);

// The frontend attribute of calls that XLA:CPU compiles as one kernel
// (xla/service/cpu/thunk_emitter.cc).
inline constexpr char kSmallCall[] = "xla_cpu_small_call";

// Such a call, with all that is in it, which is inlined nowhere.
xla::HloInstruction* OneKernel(xla::HloComputation* computation,
                               const std::vector<xla::HloInstruction*>& operands,
                               std::unique_ptr<xla::HloComputation> contents);

// The value as it is made: whatever takes it is not fused with it, nor is one moved past the other.
// It is an `add-dependency` on an empty token, which is no computation and costs nothing.
xla::HloInstruction* Kept(xla::HloInstruction* value);

// Takes what was added to a computation of so many instructions, and is not taken by anything, away
// again.
absl::Status RemoveBehind(xla::HloComputation& computation, int64_t count);

// The array's sizes; their product.
std::vector<int64_t> SizesOf(const xla::HloInstruction& x);
int64_t Product(Sizes sizes);

}  // namespace hone::compiler::emit

#endif  // HONE_COMPILER_IMPLEMENTATIONS_EMIT_H_
