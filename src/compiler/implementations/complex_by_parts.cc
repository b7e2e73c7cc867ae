// Complex numbers with real ones and imaginary ones: XLA makes complex numbers of all, and of a
// quotient some twenty operations, though a part of one is known to be 0. Magnitudes that are
// squared, as in what a wave or an amplitude measures, have a root that is not needed; cosines and
// sines of angles between numbers are quotients of these.
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "compiler/implementations/elementwise.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "compiler/implementations/kernel_parts.h"
#include "xla/comparison_util.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/literal.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kMostConstants = 4096;  // elements of a constant that are looked at
constexpr int kMostLookedAt = 64;         // operations

bool IsComplex(const HloInstruction& x) {
  return x.shape().IsArray() && xla::primitive_util::IsComplexType(x.shape().element_type());
}

bool IsRealConstant(const HloInstruction& constant) {
  if (xla::ShapeUtil::ElementsIn(constant.shape()) > kMostConstants) return false;
  const absl::StatusOr<xla::Literal> wide = constant.literal().Convert(xla::C128);
  return wide.ok() &&
         absl::c_all_of(wide->data<xla::complex128>(),
                        [](const xla::complex128& value) { return value.imag() == 0; });
}

// Whether the imaginary parts of complex numbers are 0 for sure, at most `left` operations looked
// at.
bool IsReal(const HloInstruction& z, int& left) {
  if (left-- <= 0) return false;
  const auto is_real = [&](int64_t k) { return IsReal(*z.operand(k), left); };
  switch (z.opcode()) {
    case HloOpcode::kConstant:
      return IsRealConstant(z);
    case HloOpcode::kComplex:
      return ConstantOf(*z.operand(1)) == 0;
    case HloOpcode::kConvert:
      return !IsComplex(*z.operand(0)) || is_real(0);
    case HloOpcode::kBroadcast:
    case HloOpcode::kCopy:
    case HloOpcode::kNegate:
    case HloOpcode::kReshape:
    case HloOpcode::kSlice:
    case HloOpcode::kTranspose:
      return is_real(0);
    case HloOpcode::kSelect:
      return is_real(1) && is_real(2);
    case HloOpcode::kAdd:
    case HloOpcode::kMultiply:
    case HloOpcode::kSubtract:
      return is_real(0) && is_real(1);
    default:
      return false;
  }
}

bool IsReal(const HloInstruction& z) {
  int left = kMostLookedAt;
  return IsReal(z, left);
}

// |z|^2 for the product of |z| and |z|; null where it is none.
HloInstruction* SquaredMagnitude(HloInstruction* product) {
  HloInstruction* const magnitude = product->mutable_operand(0);
  if (product->operand(1) != magnitude || magnitude->opcode() != HloOpcode::kAbs ||
      !IsComplex(*magnitude->operand(0))) {
    return nullptr;
  }
  const Elements z(magnitude->mutable_operand(0));
  const Elements x = RealPart(z), y = ImaginaryPart(z);
  return (x * x + y * y).array();
}

// A part of complex numbers, written where it is seen.
Elements PartOf(HloInstruction* z, bool imaginary) {
  if (z->opcode() == HloOpcode::kComplex) return Elements(z->mutable_operand(imaginary ? 1 : 0));
  if (z->opcode() == HloOpcode::kBroadcast && z->operand(0)->opcode() == HloOpcode::kConstant &&
      z->operand(0)->shape().dimensions().empty()) {
    const Elements part = imaginary ? ImaginaryPart(Elements(z)) : RealPart(Elements(z));
    const xla::complex128 value =
        z->operand(0)->literal().Convert(xla::C128).value().Get<xla::complex128>({});
    return part.Number(imaginary ? value.imag() : value.real());
  }
  if (z->opcode() == HloOpcode::kConvert && !imaginary && !IsComplex(*z->operand(0))) {
    return Elements(z->mutable_operand(0))
        .As(xla::primitive_util::ComplexComponentType(z->shape().element_type()));
  }
  return imaginary ? ImaginaryPart(Elements(z)) : RealPart(Elements(z));
}

Elements Times(Elements x, Elements y) {
  if (ConstantOf(*x.array()) == 1) return y;
  return ConstantOf(*y.array()) == 1 ? x : x * y;
}

HloInstruction* Quotient(HloInstruction* x, HloInstruction* y) {
  const Elements by = PartOf(y, false);
  return Complex(PartOf(x, false) / by, PartOf(x, true) / by).array();
}

HloInstruction* Product(HloInstruction* real, HloInstruction* z) {
  const Elements by = PartOf(real, false);
  return Complex(Times(by, PartOf(z, false)), Times(by, PartOf(z, true))).array();
}

// Of a product with 0, whose elements are 0 or no numbers, what is multiplied by it; null where it
// is none.
HloInstruction* TimesZero(HloInstruction* x) {
  if (x->opcode() != HloOpcode::kMultiply) return nullptr;
  for (const int k : {0, 1}) {
    const std::optional<double> by = ConstantOf(*x->operand(1 - k));
    if (by == 0) return x->mutable_operand(k);
    HloInstruction* const inner = by ? TimesZero(x->mutable_operand(k)) : nullptr;
    if (inner != nullptr) return inner;
  }
  return nullptr;
}

// e to the power of 0, or of no number.
HloInstruction* ExpOfZero(HloInstruction* zero) {
  const HloInstruction* const of = TimesZero(zero);
  if (of == nullptr) return nullptr;
  if (of->opcode() != HloOpcode::kAtan2) return (1 + Elements(zero)).array();
  const Elements y(of->operands()[0]), x(of->operands()[1]);  // a number where both are
  return Choose((y == y) & (x == x), 1.0, y + x).array();
}

// The cosine or sine of atan2(y, x) is x or y by the root of both squares. Of floats, which doubles
// have the squares of.
HloInstruction* OfAngle(HloInstruction* root) {
  const HloInstruction& angle = *root->operand(0);
  const xla::PrimitiveType type = root->shape().element_type();
  if (angle.opcode() != HloOpcode::kAtan2 || !xla::primitive_util::IsFloatingPointType(type) ||
      emit::SumType(type) != xla::F32) {
    return nullptr;
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Elements y = Elements(angle.operands()[0]).As(xla::F64);
  Elements x = Elements(angle.operands()[1]).As(xla::F64);
  const Elements one = x.Number(1);
  // Of infinite ones the signs count; of zeros, the sign of x.
  const Elements infinite = (Abs(x) == kInfinity) | (Abs(y) == kInfinity);
  const auto finite = [&](Elements part) {
    const Elements sign = Choose(Abs(part) == kInfinity, WithSign(one, part), 0.0);
    return Choose(infinite, Choose(part == part, sign, part), part);
  };
  x = finite(x), y = finite(y);
  x = Choose((x == 0.0) & (y == 0.0), WithSign(one, x), x);
  const Elements side = root->opcode() == HloOpcode::kCos ? x : y;
  return (side / (x * x + y * y).Unary(HloOpcode::kSqrt)).As(type).array();
}

// Whether atan2(y, x) is 0, as e to the power of complex numbers asks.
HloInstruction* IsAngleZero(HloInstruction* compare) {
  const HloInstruction& angle = *compare->operand(0);
  if (angle.opcode() != HloOpcode::kAtan2 || ConstantOf(*compare->operand(1)) != 0 ||
      compare->comparison_direction() != xla::ComparisonDirection::kEq ||
      xla::Cast<xla::HloCompareInstruction>(compare)->order() == xla::ComparisonOrder::kTotal) {
    return nullptr;
  }
  const Elements y(angle.operands()[0]), x(angle.operands()[1]);
  return ((y == 0.0) & (WithSign(x.Number(1), x) > 0.0)).array();
}

}  // namespace

absl::StatusOr<HloInstruction*> ComplexByParts(HloInstruction* root) {
  if (!emit::Free(*root) || !root->shape().IsArray()) return nullptr;
  HloInstruction* const x = root->mutable_operand(0);
  switch (root->opcode()) {
    case HloOpcode::kReal:
    case HloOpcode::kImag:
      if (x->opcode() != HloOpcode::kComplex) return nullptr;
      return PartOf(x, root->opcode() == HloOpcode::kImag).array();
    case HloOpcode::kCompare:
      return IsAngleZero(root);
    case HloOpcode::kCos:
    case HloOpcode::kSin:
      return OfAngle(root);
    case HloOpcode::kExp:
      return ExpOfZero(x);
    case HloOpcode::kDivide:
      return IsComplex(*root) && IsReal(*root->operand(1)) ? Quotient(x, root->mutable_operand(1))
                                                           : nullptr;
    case HloOpcode::kMultiply:
      if (!IsComplex(*root)) return SquaredMagnitude(root);
      if (IsReal(*x)) return Product(x, root->mutable_operand(1));
      return IsReal(*root->operand(1)) ? Product(root->mutable_operand(1), x) : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace hone::compiler
