#include "compiler/implementations/elementwise.h"

#include <iterator>

#include "absl/algorithm/container.h"
#include "compiler/implementations/dimensions.h"
#include "compiler/implementations/emit.h"
#include "xla/comparison_util.h"
#include "xla/literal.h"
#include "xla/literal_util.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;
using Direction = xla::Comparison::Direction;

Elements Filled(Elements like, xla::Literal number) {
  HloInstruction* const scalar =
      emit::Scalar(like.array()->parent(), number.Convert(like.type()).value());
  return Elements(emit::Broadcast(scalar, emit::SizesOf(*like.array()), {}));
}

Elements Compare(Direction direction, Elements x, Elements y) {
  return Elements(emit::Compare(direction, x.array(), y.array()));
}

xla::PrimitiveType BitsOf(xla::PrimitiveType type) {
  return xla::primitive_util::UnsignedIntegralTypeForBitWidth(xla::primitive_util::BitWidth(type));
}

Elements Part(HloOpcode opcode, Elements x) {
  const xla::Shape shape = xla::ShapeUtil::ChangeElementType(
      x.array()->shape(), xla::primitive_util::ComplexComponentType(x.type()));
  return Elements(
      x.array()->parent()->AddInstruction(HloInstruction::CreateUnary(shape, opcode, x.array())));
}

}  // namespace

Elements Elements::Number(double value) const {
  return Filled(*this, xla::LiteralUtil::CreateR0<double>(value));
}
Elements Elements::Bits(uint64_t value) const {
  return Filled(*this, xla::LiteralUtil::CreateR0<uint64_t>(value));
}
Elements Elements::As(xla::PrimitiveType type) const {
  return Elements(emit::Convert(array_, type));
}
Elements Elements::BitsAs(xla::PrimitiveType type) const {
  return Elements(emit::BitcastConvert(array_, type));
}
Elements Elements::Unary(HloOpcode opcode) const { return Elements(emit::Unary(opcode, array_)); }
Elements Elements::Binary(HloOpcode opcode, Elements other) const {
  return Elements(emit::Binary(opcode, array_, other.array()));
}

Elements operator-(Elements x) { return x.Unary(HloOpcode::kNegate); }
Elements operator+(Elements x, Elements y) { return x.Binary(HloOpcode::kAdd, y); }
Elements operator-(Elements x, Elements y) { return x.Binary(HloOpcode::kSubtract, y); }
Elements operator*(Elements x, Elements y) { return x.Binary(HloOpcode::kMultiply, y); }
Elements operator/(Elements x, Elements y) { return x.Binary(HloOpcode::kDivide, y); }
Elements operator&(Elements x, Elements y) { return x.Binary(HloOpcode::kAnd, y); }
Elements operator|(Elements x, Elements y) { return x.Binary(HloOpcode::kOr, y); }
Elements operator+(Elements x, double y) { return x + x.Number(y); }
Elements operator+(double x, Elements y) { return y.Number(x) + y; }
Elements operator-(Elements x, double y) { return x - x.Number(y); }
Elements operator-(double x, Elements y) { return y.Number(x) - y; }
Elements operator*(Elements x, double y) { return x * x.Number(y); }
Elements operator/(double x, Elements y) { return y.Number(x) / y; }

Elements operator<(Elements x, Elements y) { return Compare(Direction::kLt, x, y); }
Elements operator<(Elements x, double y) { return x < x.Number(y); }
Elements operator>(Elements x, Elements y) { return Compare(Direction::kGt, x, y); }
Elements operator>(Elements x, double y) { return x > x.Number(y); }
Elements operator==(Elements x, Elements y) { return Compare(Direction::kEq, x, y); }
Elements operator==(Elements x, double y) { return x == x.Number(y); }
Elements operator!=(Elements x, double y) { return Compare(Direction::kNe, x, x.Number(y)); }

Elements Choose(Elements where, Elements x, Elements y) {
  return Elements(emit::Select(where.array(), x.array(), y.array()));
}
Elements Choose(Elements where, Elements x, double y) { return Choose(where, x, x.Number(y)); }
Elements Choose(Elements where, double x, Elements y) { return Choose(where, y.Number(x), y); }

Elements Abs(Elements x) { return x.Unary(HloOpcode::kAbs); }

Elements WithSign(Elements x, Elements y) {
  const xla::PrimitiveType bits = BitsOf(x.type());
  const uint64_t sign = uint64_t{1} << (xla::primitive_util::BitWidth(bits) - 1);
  const Elements a = x.BitsAs(bits), b = y.BitsAs(bits);
  return ((a & a.Bits(sign - 1)) | (b & b.Bits(sign))).BitsAs(x.type());
}

Elements Polynomial(Elements x, std::initializer_list<double> coefficients) {
  auto next = std::rbegin(coefficients);
  Elements sum = x.Number(*next);
  while (++next != std::rend(coefficients)) sum = sum * x + *next;
  return sum;
}

Elements RealPart(Elements x) { return Part(HloOpcode::kReal, x); }
Elements ImaginaryPart(Elements x) { return Part(HloOpcode::kImag, x); }
Elements Complex(Elements real, Elements imaginary) {
  const xla::Shape shape = xla::ShapeUtil::ChangeElementType(
      real.array()->shape(), xla::primitive_util::ComplexType(real.type()));
  return Elements(real.array()->parent()->AddInstruction(
      HloInstruction::CreateBinary(shape, HloOpcode::kComplex, real.array(), imaginary.array())));
}

namespace {

// A computation of arrays of these shapes.
xla::HloComputation* Branch(const std::vector<Elements>& arguments, const Way& way) {
  xla::HloComputation::Builder builder(way.name);
  std::vector<xla::Shape> shapes;
  for (const Elements& argument : arguments) shapes.push_back(argument.array()->shape());
  HloInstruction* const all = builder.AddInstruction(
      HloInstruction::CreateParameter(0, xla::ShapeUtil::MakeTupleShape(shapes), "arguments"));
  std::vector<Elements> parts;
  for (size_t k = 0; k < shapes.size(); ++k) {
    parts.emplace_back(builder.AddInstruction(
        HloInstruction::CreateGetTupleElement(shapes[k], all, static_cast<int64_t>(k))));
  }
  xla::HloModule* const module = arguments[0].array()->GetModule();
  xla::HloComputation* const branch = module->AddEmbeddedComputation(builder.Build());
  branch->set_root_instruction(way.formula(parts).array(), /*accept_different_shape=*/true);
  return branch;
}

}  // namespace

Elements InBranches(const std::vector<Elements>& arguments, Elements beyond, const Way& usual,
                    const Way& other) {
  xla::HloComputation* const computation = beyond.array()->parent();
  HloInstruction* const any = emit::Reduce(beyond.array(), emit::Zero(computation, xla::PRED),
                                           Range(0, RankOf(*beyond.array())), HloOpcode::kOr);
  std::vector<HloInstruction*> arrays;
  for (const Elements& argument : arguments) arrays.push_back(argument.array());
  HloInstruction* const all = computation->AddInstruction(HloInstruction::CreateTuple(arrays));
  // By a number: XLA computes both branches of a choice by a predicate where they are elementwise.
  xla::HloComputation* const branches[] = {Branch(arguments, usual), Branch(arguments, other)};
  return Elements(computation->AddInstruction(
      HloInstruction::CreateConditional(branches[0]->root_instruction()->shape(),
                                        emit::Convert(any, xla::S32), branches, {all, all})));
}

bool IsBranch(const xla::HloComputation& computation) {
  return absl::c_any_of(computation.caller_instructions(), [](const HloInstruction* caller) {
    return caller->opcode() == HloOpcode::kConditional;
  });
}

}  // namespace hone::compiler
