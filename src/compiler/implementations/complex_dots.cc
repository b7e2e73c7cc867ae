// Matrix products of complex numbers.
#include <cstdint>

#include "absl/status/statusor.h"
#include "compiler/implementations/elementwise.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "compiler/implementations/kernel_parts.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// The parts of an array of complex numbers; without an imaginary one where they are real.
struct Parts {
  HloInstruction* real = nullptr;
  HloInstruction* imaginary = nullptr;
};

Parts PartsOfComplex(HloInstruction* x) {
  const xla::PrimitiveType type =
      xla::primitive_util::ComplexComponentType(x->shape().element_type());
  if (x->opcode() == HloOpcode::kConvert &&
      !xla::primitive_util::IsComplexType(x->operand(0)->shape().element_type())) {
    return {emit::Convert(x->mutable_operand(0), type), nullptr};
  }
  if (x->opcode() == HloOpcode::kComplex) {
    const bool is_real = NumberOf(*x->operand(1)) == 0.0;
    return {x->mutable_operand(0), is_real ? nullptr : x->mutable_operand(1)};
  }
  return {RealPart(Elements(x)).array(), ImaginaryPart(Elements(x)).array()};
}

}  // namespace

// As products of real and imaginary parts: there is no library for complex numbers.
absl::StatusOr<HloInstruction*> ComplexDotParts(HloInstruction* root) {
  constexpr int64_t kFewProducts = 1 << 10;  // a loop is as fast
  const xla::PrimitiveType type = root->shape().element_type();
  if (root->operand_count() != 2 || !emit::Free(*root) ||
      !xla::primitive_util::IsComplexType(type) ||
      emit::Product(emit::SizesOf(*root)) * emit::TermsOf(*root) < kFewProducts ||
      root->operand(0)->shape().element_type() != type ||
      root->operand(1)->shape().element_type() != type) {
    return nullptr;
  }
  const Parts a = PartsOfComplex(root->mutable_operand(0));
  const Parts b = PartsOfComplex(root->mutable_operand(1));
  const xla::Shape shape = xla::ShapeUtil::ChangeElementType(
      root->shape(), xla::primitive_util::ComplexComponentType(type));
  const auto dot = [&](HloInstruction* x, HloInstruction* y) -> HloInstruction* {
    if (x == nullptr || y == nullptr) return nullptr;
    return root->parent()->AddInstruction(root->CloneWithNewOperands(shape, {x, y}));
  };
  const auto either = [](HloOpcode opcode, HloInstruction* x, HloInstruction* y) {
    return x == nullptr ? y : y == nullptr ? x : emit::Binary(opcode, x, y);
  };
  HloInstruction* const real =
      either(HloOpcode::kSubtract, dot(a.real, b.real), dot(a.imaginary, b.imaginary));
  HloInstruction* imaginary =
      either(HloOpcode::kAdd, dot(a.real, b.imaginary), dot(a.imaginary, b.real));
  if (imaginary == nullptr) {
    imaginary =
        emit::Broadcast(emit::Zero(root->parent(), shape.element_type()), emit::SizesOf(*root), {});
  }
  return Complex(Elements(real), Elements(imaginary)).array();
}

}  // namespace hone::compiler
