// What the makers of kernels share: how instructions are called in tasks, and calls.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_KERNEL_PARTS_H_
#define HONE_COMPILER_IMPLEMENTATIONS_KERNEL_PARTS_H_

#include <optional>
#include <string>
#include <vector>

#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/shape.h"

namespace hone::compiler {

// Fewer are not worth a kernel's compilation.
inline constexpr int64_t kLeastElements = 1024;
inline constexpr size_t kMostKernelNodes = 64;
// Behind a product, where everything is in registers: an erfc that is written out has some 200.
inline constexpr size_t kMostEndNodes = 320;
inline constexpr size_t kMostKernelInputs = 12;
inline constexpr size_t kMostKernelRank = 6;

// The name in a task of what is computed in: f32 of a narrow type.
const char* TaskType(xla::PrimitiveType type);
// Whether a kernel can compute with it: in itself, or in f32 of what is narrower. Not of 8 bits.
bool IsKernelFloat(xla::PrimitiveType type);
// What it computes in then; else the type itself.
xla::PrimitiveType KernelType(xla::PrimitiveType type);
// Whether its value is in f32, f64, or no float, or need not be rounded within a kernel: unless
// --xla_allow_excess_precision=false.
bool MayBeUnrounded(const xla::HloInstruction& value);
// Whether it converts what kernels compute in f32 to what they compute in f32: nothing to do within
// one. (XLA leaves such conversions out of what it fuses as well.)
bool IsRounding(const xla::HloInstruction& instruction);

// Whether it is such a rounding of f32 to something narrower.
bool Narrows(const xla::HloInstruction& instruction);

// The name of an elementwise operation in a task; null where there is none.
const char* TaskKind(xla::HloOpcode opcode);

// Without sizes of 1.
std::vector<int64_t> Squeezed(const xla::Shape& shape);

// Of a size that is known and above 0.
bool IsArray(const xla::Shape& shape);

// A constant that is no NaN, or a broadcast of one.
std::optional<double> NumberOf(const xla::HloInstruction& instruction);
// A finite one.
std::optional<double> ConstantOf(const xla::HloInstruction& instruction);

// Of a maximum with -infinity, which changes nothing, the other operand's number; else -1.
int PastLeast(const xla::HloInstruction& instruction);

// Changes nothing but sizes of 1.
bool IsIdentity(const xla::HloInstruction& instruction);

// Exponentials, logarithms, powers, angles and the like, which take many times as long as a sum.
bool IsFunction(xla::HloOpcode opcode);

// Whether a computation is part of a call that XLA:CPU compiles as one kernel.
bool IsInOneKernel(const xla::HloComputation& computation);

xla::Shape RowMajor(const xla::Shape& shape);

// A call of the task's kernel, which makes an array of the shape. Inputs that are conversions to
// f32 it reads as they are before.
xla::HloInstruction* KernelCall(xla::HloComputation* computation, const xla::Shape& shape,
                                std::vector<xla::HloInstruction*> inputs, std::string task);
// Computed in `type`, and rounded to the shape's own.
xla::HloInstruction* KernelCall(xla::HloComputation* computation, const xla::Shape& shape,
                                xla::PrimitiveType type, std::vector<xla::HloInstruction*> inputs,
                                std::string task);
// The same in root's place.
xla::HloInstruction* KernelCall(xla::HloInstruction* root, xla::PrimitiveType type,
                                std::vector<xla::HloInstruction*> inputs, std::string task);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_KERNEL_PARTS_H_
