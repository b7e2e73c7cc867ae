// Exponentials, logarithms and hyperbolic tangents of doubles as formulas, of which LLVM makes
// vectors: MLIR has polynomials for f32 alone, and would call libm for each element.
//
// All are within two units in the last place. exp and expm1: argument reduction by multiples of
// ln 2 in two parts (Cody and Waite, 1980) and the Taylor series, whose term of r^14 is below 2^-57
// for |r| <= ln 2 / 2. log: fdlibm's e_log.c (Sun Microsystems, 1993).
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Math/IR/Math.h>
#include <mlir/IR/BuiltinTypes.h>
#include <mlir/IR/PatternMatch.h>
#include <mlir/IR/TypeUtilities.h>

#include <cstdint>
#include <initializer_list>
#include <limits>

#include "loops/generator/lower.h"

namespace hone::loops {
namespace {

constexpr double kLog2E = 1.4426950408889634074;
constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;
// What is added to this is rounded to a whole number, whose bits are then the lowest.
constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Values of one type, a double or a vector of doubles, put together where a rewriter stands. No
// operation may be taken for an equal one of exact numbers.
class Formula {
 public:
  Formula(mlir::PatternRewriter& rewriter, mlir::Operation* op)
      : rewriter_(rewriter), loc_(op->getLoc()), type_(op->getResult(0).getType()) {
    const mlir::Type bits = rewriter.getI64Type();
    auto vector = mlir::dyn_cast<mlir::VectorType>(type_);
    bits_type_ = vector ? mlir::Type(vector.clone(bits)) : bits;
  }

  mlir::Value Number(double value) { return Constant(type_, rewriter_.getF64FloatAttr(value)); }
  mlir::Value Bits(uint64_t value) {
    return Constant(bits_type_, rewriter_.getI64IntegerAttr(static_cast<int64_t>(value)));
  }
  mlir::Value Add(mlir::Value a, mlir::Value b) { return Make<mlir::arith::AddFOp>(a, b); }
  mlir::Value Sub(mlir::Value a, mlir::Value b) { return Make<mlir::arith::SubFOp>(a, b); }
  mlir::Value Mul(mlir::Value a, mlir::Value b) { return Make<mlir::arith::MulFOp>(a, b); }
  mlir::Value Div(mlir::Value a, mlir::Value b) { return Make<mlir::arith::DivFOp>(a, b); }
  mlir::Value Neg(mlir::Value a) { return Make<mlir::arith::NegFOp>(a); }
  mlir::Value Abs(mlir::Value a) { return Make<mlir::math::AbsFOp>(a); }
  mlir::Value Where(mlir::arith::CmpFPredicate predicate, mlir::Value a, mlir::Value b,
                    mlir::Value yes, mlir::Value no) {
    return Make<mlir::arith::SelectOp>(Make<mlir::arith::CmpFOp>(predicate, a, b), yes, no);
  }
  // NaNs stay.
  mlir::Value Clamp(mlir::Value x, double low, double high) {
    return Make<mlir::arith::MinimumFOp>(Make<mlir::arith::MaximumFOp>(x, Number(low)),
                                         Number(high));
  }
  // coefficients[0] + x * (coefficients[1] + …).
  mlir::Value Polynomial(mlir::Value x, std::initializer_list<double> coefficients) {
    mlir::Value sum;
    for (const double* c = coefficients.end(); c-- != coefficients.begin();) {
      sum = sum ? Add(Mul(sum, x), Number(*c)) : Number(*c);
    }
    return sum;
  }

  // 2 to the power of n, and n in its lowest bits where it is rounded: from -1022 to 1023.
  mlir::Value PowerOfTwo(mlir::Value rounded) {
    const mlir::Value n = Make<mlir::arith::AddIOp>(AsBits(rounded), Bits(1023));
    return AsNumbers(Make<mlir::arith::ShLIOp>(n, Bits(52)));
  }

  // x = n ln 2 + r; 2^n as a product of two, for itself it may be too large or too small.
  struct Reduced {
    mlir::Value less_one;  // exp(r) - 1
    mlir::Value scale_a, scale_b;
  };
  Reduced Reduce(mlir::Value x) {
    const mlir::Value within = Clamp(x, -746, 710), round = Number(kRound);
    const mlir::Value n = Sub(Add(Mul(within, Number(kLog2E)), round), round);
    const mlir::Value r = Sub(Sub(within, Mul(n, Number(kLn2High))), Mul(n, Number(kLn2Low)));
    const mlir::Value series = Polynomial(
        r, {1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880,
            1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800});
    const mlir::Value half = Add(Mul(n, Number(0.5)), round);
    const mlir::Value rest = Add(Sub(n, Sub(half, round)), round);
    return {Add(r, Mul(Mul(r, r), series)), PowerOfTwo(half), PowerOfTwo(rest)};
  }

  mlir::Value Scaled(const Reduced& of) {
    return Mul(Mul(Add(of.less_one, Number(1)), of.scale_a), of.scale_b);
  }

  mlir::Value Exp(mlir::Value x) { return Scaled(Reduce(x)); }

  mlir::Value Expm1(mlir::Value x) {
    const Reduced of = Reduce(x);
    const mlir::Value scale = Mul(of.scale_a, of.scale_b);
    const mlir::Value less = Add(Mul(of.less_one, scale), Sub(scale, Number(1)));
    return Where(mlir::arith::CmpFPredicate::UGT, x, Number(50), Scaled(of), less);
  }

  mlir::Value Log(mlir::Value x) {
    constexpr double kLeastNormal = std::numeric_limits<double>::min();
    using Predicate = mlir::arith::CmpFPredicate;
    const mlir::Value large =
        Where(Predicate::OLT, x, Number(kLeastNormal), Mul(x, Number(0x1p54)), x);
    const mlir::Value less = Where(Predicate::OLT, x, Number(kLeastNormal), Number(54), Number(0));
    // large = 2^k m, m from sqrt(1/2) to sqrt(2).
    const mlir::Value from = Make<mlir::arith::SubIOp>(AsBits(large), Bits(0x3fe6a09e667f3bcd));
    const mlir::Value exponent = Make<mlir::arith::AndIOp>(from, Bits(0xfff0000000000000));
    const mlir::Value m = AsNumbers(Make<mlir::arith::SubIOp>(AsBits(large), exponent));
    // The exponent as a number, of 12 bits with a sign.
    const mlir::Value shifted = Make<mlir::arith::ShRUIOp>(exponent, Bits(52));
    const mlir::Value whole =
        Sub(AsNumbers(Make<mlir::arith::OrIOp>(shifted, Bits(0x4330000000000000))), Number(0x1p52));
    const mlir::Value k =
        Sub(Where(Predicate::OGE, whole, Number(2048), Sub(whole, Number(4096)), whole), less);
    const mlir::Value f = Sub(m, Number(1));
    const mlir::Value s = Div(f, Add(f, Number(2)));
    const mlir::Value z = Mul(s, s);
    const mlir::Value r = Mul(z, Polynomial(z, {6.666666666666735130e-01, 3.999999999940941908e-01,
                                                2.857142874366239149e-01, 2.222219843214978396e-01,
                                                1.818357216161805012e-01, 1.531383769920937332e-01,
                                                1.479819860511658591e-01}));
    const mlir::Value half_square = Mul(Number(0.5), Mul(f, f));
    const mlir::Value low = Add(Mul(s, Add(half_square, r)), Mul(k, Number(kLn2Low)));
    mlir::Value log = Sub(Mul(k, Number(kLn2High)), Sub(Sub(half_square, low), f));
    log = Where(Predicate::OEQ, x, Number(kInfinity), x, log);
    log = Where(Predicate::OEQ, x, Number(0), Number(-kInfinity), log);
    return Where(Predicate::UGE, x, Number(0), log,
                 Number(std::numeric_limits<double>::quiet_NaN()));
  }

  // log(u) and what rounding 1 + x to u has lost.
  mlir::Value Log1p(mlir::Value x) {
    using Predicate = mlir::arith::CmpFPredicate;
    const mlir::Value u = Add(x, Number(1));
    const mlir::Value lost = Div(Sub(x, Sub(u, Number(1))), u);
    return Add(Log(u), Where(Predicate::ORD, lost, lost, lost, Number(0)));
  }

  mlir::Value Tanh(mlir::Value x) {
    const mlir::Value e = Expm1(Mul(Abs(x), Number(-2)));
    return Make<mlir::math::CopySignOp>(Neg(Div(e, Add(e, Number(2)))), x);
  }

 private:
  template <class Op, class... Operands>
  mlir::Value Make(Operands... operands) {
    return rewriter_.create<Op>(loc_, operands...);
  }
  mlir::Value Constant(mlir::Type type, mlir::Attribute element) {
    const auto vector = mlir::dyn_cast<mlir::VectorType>(type);
    const mlir::Attribute value =
        vector ? mlir::Attribute(mlir::DenseElementsAttr::get(vector, element)) : element;
    return rewriter_.create<mlir::arith::ConstantOp>(loc_, mlir::cast<mlir::TypedAttr>(value));
  }
  mlir::Value AsBits(mlir::Value x) {
    return rewriter_.create<mlir::arith::BitcastOp>(loc_, bits_type_, x);
  }
  mlir::Value AsNumbers(mlir::Value bits) {
    return rewriter_.create<mlir::arith::BitcastOp>(loc_, type_, bits);
  }

  mlir::PatternRewriter& rewriter_;
  const mlir::Location loc_;
  const mlir::Type type_;
  mlir::Type bits_type_;
};

template <class Op, mlir::Value (Formula::*kFormula)(mlir::Value)>
struct AsFormula : mlir::OpRewritePattern<Op> {
  using mlir::OpRewritePattern<Op>::OpRewritePattern;

  mlir::LogicalResult matchAndRewrite(Op op, mlir::PatternRewriter& rewriter) const override {
    if (!mlir::getElementTypeOrSelf(op.getType()).isF64()) return mlir::failure();
    Formula formula(rewriter, op);
    rewriter.replaceOp(op, (formula.*kFormula)(op.getOperand()));
    return mlir::success();
  }
};

}  // namespace

void AddFormulasOfDoubles(mlir::RewritePatternSet& patterns) {
  patterns.add<
      AsFormula<mlir::math::ExpOp, &Formula::Exp>, AsFormula<mlir::math::ExpM1Op, &Formula::Expm1>,
      AsFormula<mlir::math::LogOp, &Formula::Log>, AsFormula<mlir::math::Log1pOp, &Formula::Log1p>,
      AsFormula<mlir::math::TanhOp, &Formula::Tanh>>(patterns.getContext());
}

}  // namespace hone::loops
