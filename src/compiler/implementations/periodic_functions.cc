// Sines, cosines, tangents and remainders, for which XLA:CPU calls a library, element by element,
// as formulas that it makes vectors of. They hold for arguments that are not large; an array that
// has others is computed as before. After fdlibm (Sun Microsystems, 1993) and its floats' version
// (FreeBSD, B. D. Evans), from which the coefficients are: errors are below 2 units in the last
// place, of tangents below 3, and remainders exact.
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "compiler/implementations/elementwise.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/kernel_parts.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kLeastElements = 256;
constexpr double kTwoByPi = 6.36619772367581382433e-01;

// The sine or cosine of arguments below a bound is that of what they are off the nearest multiple
// of a quarter of a circle, or the other one of that, or its negative.
struct Reduced {
  Elements quarters;  // integers
  Elements sine;      // of the rest
  Elements cosine;
};

// Integers with the last bits of whole numbers. (XLA:CPU makes no vectors of conversions to them.)
Elements LastBits(Elements whole) { return (whole + 0x1.8p52).BitsAs(xla::U64); }

constexpr double kMostDouble = 1 << 20;
constexpr double kMostFloat = 1 << 28;

// The rest is a sum of two numbers (fdlibm's e_rem_pio2.c, to its second step; k_sin.c, k_cos.c).
Reduced ReduceDoubles(Elements x) {
  const Elements n = (x * kTwoByPi).Unary(HloOpcode::kRoundNearestEven);
  // A quarter as numbers of 33 bits, and what is left of it: their products with n are exact.
  const Elements first = x - n * 1.57079632673412561417e+00;
  const Elements step = n * 6.07710050630396597660e-11;
  const Elements second = first - step;
  const Elements tail = n * 2.02226624879595063154e-21 - ((first - second) - step);
  const Elements y = second - tail;
  const Elements rest = (second - y) - tail;
  const Elements z = y * y;
  const Elements cube = z * y;
  const Elements sines = Polynomial(
      z, {8.33333333332248946124e-03, -1.98412698298579493134e-04, 2.75573137070700676789e-06,
          -2.50507602534068634195e-08, 1.58969099521155010221e-10});
  const Elements sine =
      y - ((z * (rest * 0.5 - cube * sines) - rest) - cube * -1.66666666666666324348e-01);
  const Elements cosines = Polynomial(
      z, {4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
          -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11});
  const Elements half = z * 0.5;
  const Elements most = 1 - half;
  const Elements cosine = most + (((1 - most) - half) + (z * (z * cosines) - y * rest));
  return {LastBits(n), sine, cosine};
}

// Of floats as doubles (FreeBSD's e_rem_pio2f.c, k_sinf.c, k_cosf.c).
Reduced ReduceFloats(Elements x) {
  const Elements n = (x * kTwoByPi).Unary(HloOpcode::kRoundNearestEven);
  const Elements y = (x - n * 1.57079631090164184570e+00) - n * 1.58932547735281966916e-08;
  const Elements z = y * y;
  const Elements sine = y + y * z *
                                Polynomial(z, {-0.16666666641626524, 0.008333329385889463,
                                               -0.00019839334836096632, 2.718311493989822e-06});
  const Elements cosine = 1 + z * Polynomial(z, {-0.499999997251031, 0.04166662332373906,
                                                 -0.001388676377460993, 2.439044879627741e-05});
  return {LastBits(n), sine, cosine};
}

// Whether a bit of integers is set.
Elements Has(Elements integers, uint64_t bit) {
  return (integers & integers.Bits(bit)) == integers.Bits(bit);
}

Elements Sine(const Reduced& of) {
  const Elements size = Choose(Has(of.quarters, 1), of.cosine, of.sine);
  return Choose(Has(of.quarters, 2), -size, size);
}

Elements Cosine(const Reduced& of) {
  return Sine({of.quarters + of.quarters.Bits(1), of.sine, of.cosine});
}

Elements Tangent(const Reduced& of) {
  const Elements odd = Has(of.quarters, 1);
  return Choose(odd, -of.cosine, of.sine) / Choose(odd, of.sine, of.cosine);
}

// The function of numbers of a type of f32 or f64 below the bound, or exp of complex ones of it.
Elements Periodic(HloOpcode opcode, Elements argument) {
  const bool complex = opcode == HloOpcode::kExp;
  const Elements x = complex ? ImaginaryPart(argument) : argument;
  const Reduced reduced = x.type() == xla::F64 ? ReduceDoubles(x) : ReduceFloats(x.As(xla::F64));
  if (opcode == HloOpcode::kSin) {
    return Choose(x == 0.0, x, Sine(reduced).As(x.type()));  // of -0 it is -0
  }
  if (opcode == HloOpcode::kCos) return Cosine(reduced).As(x.type());
  if (opcode == HloOpcode::kTan) return Choose(x == 0.0, x, Tangent(reduced).As(x.type()));
  const Elements size = RealPart(argument).Unary(HloOpcode::kExp);
  return Complex(size * Cosine(reduced).As(x.type()),
                 Choose(x == 0.0, x, size * Sine(reduced).As(x.type())));
}

// Two numbers that a double is the sum of, the first of 26 bits.
std::pair<Elements, Elements> Halves(Elements x) {
  const Elements bits = x.BitsAs(xla::U64);
  const Elements high = (bits & bits.Bits(~((uint64_t{1} << 27) - 1))).BitsAs(xla::F64);
  return {high, x - high};
}

constexpr double kMostDoubleQuotient = 1 << 25;
constexpr double kMostFloatQuotient = 1 << 28;

// Of f32 or f64, where |x / y| is no more than the bound, or y is 0.
Elements Remainder(Elements x, Elements y) {
  const Elements a = Abs(x.As(xla::F64)), b = Abs(y.As(xla::F64));
  const Elements whole = (a / b).Unary(HloOpcode::kFloor);
  Elements rest = a;
  if (x.type() == xla::F64) {
    // In two steps, each product exact; what the first difference loses is added again.
    const auto [high, low] = Halves(b);
    const Elements product = whole * high;
    const Elements first = a - product;
    const Elements lost = (a - first) - product;
    rest = (first - whole * low) + lost;
    // The quotient may have been rounded up to a whole number, or down from one.
    rest = Choose(rest < 0.0, rest + b, rest);
    rest = Choose(rest < b, rest, rest - b);
  } else {
    rest = a - whole * b;  // exact: 28 and 24 bits
  }
  rest = Choose(a < b, a, rest);  // b may be infinite
  return WithSign(rest.As(x.type()), x);
}

bool IsWorthIt(const HloInstruction& root) {
  // What is computed as before stays so.
  return root.shape().IsArray() && emit::Free(root) &&
         xla::ShapeUtil::ElementsIn(root.shape()) >= kLeastElements &&
         !(IsBranch(*root.parent()) && root.parent()->root_instruction() == &root) &&
         !IsInOneKernel(*root.parent());
}

// `formula` where no element of `beyond` is true, else the root's own operation.
HloInstruction* InBranches(const HloInstruction& root, const std::vector<Elements>& arguments,
                           Elements beyond, const Formula& formula) {
  xla::Shape shape = root.shape();
  shape.set_element_type(arguments[0].type());
  const Formula same = [&](const std::vector<Elements>& elements) {
    std::vector<HloInstruction*> operands;
    for (const Elements& element : elements) operands.push_back(element.array());
    HloInstruction* const clone =
        operands[0]->parent()->AddInstruction(root.CloneWithNewOperands(shape, operands));
    clone->set_metadata({});  // the formula is what the root has become
    return Elements(clone);
  };
  return compiler::InBranches(arguments, beyond, {"usual", formula}, {"large", same}).array();
}

// Whether it follows from a number that the program has: as JAX's remainders choose one of a
// constant and 1 where that is 0.
bool IsKnown(const HloInstruction& number) {
  switch (number.opcode()) {
    case HloOpcode::kConstant:
      return xla::ShapeUtil::IsEffectiveScalar(number.shape());
    case HloOpcode::kBroadcast:
    case HloOpcode::kCompare:
    case HloOpcode::kConvert:
    case HloOpcode::kReshape:
    case HloOpcode::kSelect:
      return absl::c_all_of(number.operands(),
                            [](const HloInstruction* one) { return IsKnown(*one); });
    default:
      return false;
  }
}

// Of whole numbers, by what is not 0.
struct Division {
  Elements quotient;
  Elements rest;
};

// By a reciprocal that is a bit small, so that no quotient is too large: what the first one lacks
// is below 2 to the power of 15, what the second one does 1.
Division DivideUnsigned(Elements x, Elements y) {
  const Elements reciprocal = (1 - 0x1p-50) / y.As(xla::F64);
  const Elements first = (x.As(xla::F64) * reciprocal).As(xla::U64);
  const Elements most = x - first * y;
  const Elements second = (most.As(xla::F64) * reciprocal).As(xla::S32).As(xla::U64);
  const Elements rest = most - second * y;
  const Elements is_less = rest < y;
  const Elements quotient = first + second;
  return {Choose(is_less, quotient, quotient + x.Bits(1)), Choose(is_less, rest, rest - y)};
}

// A quotient or remainder of integers of 64 bits.
HloInstruction* OfLongIntegers(HloInstruction* root) {
  const xla::PrimitiveType type = root->shape().element_type();
  const Elements x(root->mutable_operand(0)), y(root->mutable_operand(1));
  const bool is_signed = xla::primitive_util::IsSignedIntegralType(type);
  const auto absolute = [&](Elements number) {
    return is_signed ? Choose(number < 0.0, -number, number).BitsAs(xla::U64) : number;
  };
  const auto with_sign = [&](Elements negative, Elements number) {
    const Elements same = is_signed ? number.BitsAs(type) : number;
    return is_signed ? Choose(negative, -same, same) : same;
  };
  const Division division = DivideUnsigned(absolute(x), absolute(y));
  if (root->opcode() == HloOpcode::kRemainder) {
    return Choose(y == 0.0, x, with_sign(x < 0.0, division.rest)).array();
  }
  const Elements negative = (x < 0.0).Binary(HloOpcode::kXor, y < 0.0);
  return Choose(y == 0.0, y.Bits(~uint64_t{0}), with_sign(negative, division.quotient)).array();
}

// A quotient or remainder of integers. Those of at most 32 bits doubles have: a quotient that is no
// whole number is farther from one than its rounding. Processors divide integers one by one. Null
// where XLA:CPU divides by a number that it knows, which is no division.
HloInstruction* OfIntegers(HloInstruction* root) {
  const xla::PrimitiveType type = root->shape().element_type();
  if (IsKnown(*root->operand(1))) return nullptr;
  if (xla::primitive_util::BitWidth(type) > 32) return OfLongIntegers(root);
  const Elements x = Elements(root->mutable_operand(0)).As(xla::F64);
  const Elements y = Elements(root->mutable_operand(1)).As(xla::F64);
  const Elements exact = x / y;
  const Elements whole =
      Choose(exact < 0.0, exact.Unary(HloOpcode::kCeil), exact.Unary(HloOpcode::kFloor));
  // By 0 there is none: XLA has all bits set, and for the remainder what was divided.
  if (root->opcode() == HloOpcode::kRemainder) {
    return Choose(y == 0.0, x, x - whole * y).As(type).array();
  }
  const auto largest = static_cast<double>(emit::LargestOf(type));
  if (xla::primitive_util::IsUnsignedIntegralType(type)) {
    return Choose(y == 0.0, largest, whole).As(type).array();
  }
  const Elements wrapped = Choose(whole > largest, -1 - largest, whole);
  return Choose(y == 0.0, -1, wrapped).As(type).array();
}

}  // namespace

// Sines, cosines, tangents and exponentials of complex numbers.
absl::StatusOr<HloInstruction*> PeriodicFormulas(HloInstruction* root) {
  if (!IsWorthIt(*root)) return nullptr;
  const xla::PrimitiveType type = root->shape().element_type();
  const bool complex = xla::primitive_util::IsComplexType(type);
  if (complex != (root->opcode() == HloOpcode::kExp)) return nullptr;
  if (!complex && !xla::primitive_util::IsFloatingPointType(type)) return nullptr;
  const Elements x = Elements(root->mutable_operand(0)).As(emit::SumType(type));
  const Elements angle = Abs(complex ? ImaginaryPart(x) : x);
  const HloOpcode opcode = root->opcode();
  const double most = angle.type() == xla::F64 ? kMostDouble : kMostFloat;
  return emit::Convert(InBranches(*root, {x}, angle > most,
                                  [opcode](const std::vector<Elements>& arguments) {
                                    return Periodic(opcode, arguments[0]);
                                  }),
                       type);
}

// Quotients and remainders of integers, and remainders of floats.
absl::StatusOr<HloInstruction*> RemainderFormulas(HloInstruction* root) {
  if (!IsWorthIt(*root)) return nullptr;
  const xla::PrimitiveType type = root->shape().element_type();
  if (xla::primitive_util::IsIntegralType(type)) return OfIntegers(root);
  if (root->opcode() != HloOpcode::kRemainder || !xla::primitive_util::IsFloatingPointType(type)) {
    return nullptr;
  }
  const Elements x = Elements(root->mutable_operand(0)).As(emit::SumType(type));
  const Elements y = Elements(root->mutable_operand(1)).As(emit::SumType(type));
  const Elements quotient = Abs(x.As(xla::F64) / y.As(xla::F64));
  const double most = x.type() == xla::F64 ? kMostDoubleQuotient : kMostFloatQuotient;
  // By 0 there is none, whatever the quotient is.
  const Elements beyond = Choose(y == 0.0, quotient.Number(0), quotient) > most;
  return emit::Convert(InBranches(*root, {x, y}, beyond,
                                  [](const std::vector<Elements>& arguments) {
                                    return Remainder(arguments[0], arguments[1]);
                                  }),
                       type);
}

}  // namespace hone::compiler
