// Functions that XLA:CPU calls a library for, element by element, as formulas that it makes vectors
// of. After fdlibm (Sun Microsystems, 1993) and Cephes (S. L. Moshier), from which the coefficients
// are: errors are below 3 units in the last place, of products of powers below 8.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>

#include "absl/status/statusor.h"
#include "compiler/implementations/elementwise.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/kernel_parts.h"
#include "compiler/implementations/whole_numbers.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kLeastElements = 16;
constexpr double kMostTwice = 16;   // an exponent, as products: each rounds
constexpr double kMostByBits = 64;  // an exponent that each element has of its own, in doubles
constexpr double kMostInFloats = 16;
constexpr int kStepsToUsers = 8;  // at most

constexpr double kLn2High = 6.93147180369123816490e-01;  // the last 32 bits are 0
constexpr double kLn2Low = 1.90821492927058770002e-10;
constexpr int kFractionBits = 52;
constexpr uint64_t kExponentBits = uint64_t{0xfff} << kFractionBits;  // with the sign
constexpr uint64_t kRootOfHalf = 0x3fe6a09e667f3bcd;

// x = 2^exponent * fraction, and the fraction between the roots of 1/2 and 2.
struct Split {
  Elements exponent;
  Elements fraction;
};

// Of positive numbers that are not subnormal.
Split SplitNumber(Elements x) {
  const Elements bits = x.BitsAs(xla::U64);
  const Elements past = bits - bits.Bits(kRootOfHalf);
  // 1024 more, so that it is no less than 0; as the fraction of 2^52, which is a number then.
  const Elements raised = (past + bits.Bits(uint64_t{1024} << kFractionBits))
                              .Binary(HloOpcode::kShiftRightLogical, bits.Bits(kFractionBits));
  const double least = std::ldexp(1, kFractionBits);
  const Elements exponent =
      (raised | bits.Bits(uint64_t{0x433} << kFractionBits)).BitsAs(xla::F64) - (least + 1024);
  const Elements fraction = (bits - (past & bits.Bits(kExponentBits))).BitsAs(xla::F64);
  return {exponent, fraction};
}

// log(1 + f) + log(2) * exponent + rest, for 1 + f between the roots of 1/2 and 2 (fdlibm's
// e_log.c).
Elements LogOf(Elements f, Elements exponent, std::optional<Elements> rest) {
  const Elements s = f / (2 + f);
  const Elements z = s * s;
  const Elements r = z * Polynomial(z, {6.666666666666735130e-01, 3.999999999940941908e-01,
                                        2.857142874366239149e-01, 2.222219843214978396e-01,
                                        1.818357216161805012e-01, 1.531383769920937332e-01,
                                        1.479819860511658591e-01});
  const Elements half_square = f * 0.5 * f;
  Elements low = exponent * kLn2Low;
  if (rest) low = low + *rest;
  return exponent * kLn2High - ((half_square - (s * (half_square + r) + low)) - f);
}

// Where x is none that has a logarithm, or one that is not finite.
Elements WithEnds(Elements x, Elements log, double zero) {
  log = Choose(x == kInfinity, x, log);
  log = Choose(x == zero, -kInfinity, log);
  return Choose(x < zero, kNan, Choose(x == x, log, x));
}

Elements Log(Elements x) {
  const Elements small = x < std::numeric_limits<double>::min();
  const double up = std::ldexp(1, kFractionBits + 2);
  const Split split = SplitNumber(Choose(small, x * up, x));
  const Elements exponent = Choose(small, split.exponent - (kFractionBits + 2), split.exponent);
  const Elements log = LogOf(split.fraction - 1, exponent, std::nullopt);
  return WithEnds(x, log, 0);
}

Elements Log1p(Elements x) {
  const Elements u = 1 + x;
  const Split split = SplitNumber(u);
  // What 1 + x has lost, as a part of it.
  const Elements lost = Choose(x > 1, 1 - (u - x), x - (u - 1)) / u;
  const Elements log = LogOf(split.fraction - 1, split.exponent, lost);
  const Elements small = Abs(x) < std::ldexp(1, -54);
  return WithEnds(x, Choose(small, x, log), -1);
}

// Whether it is e to the power of what is not positive, as in softplus and logaddexp.
bool IsAtMostOne(const HloInstruction& x) {
  return x.opcode() == HloOpcode::kExp && x.operand(0)->opcode() == HloOpcode::kNegate &&
         x.operand(0)->operand(0)->opcode() == HloOpcode::kAbs;
}

// Of floats from 0 to 1: Chebyshev's polynomial of degree 9 for log1p(x) / x, 1.2 units in the last
// place off at most (XLA's is 1.8, by a logarithm and a polynomial of which it takes one).
Elements Log1pUpToOne(Elements x) {
  return x * Polynomial(x * 2 - 1,
                        {0.8109301924705505, -0.14426355063915253, 0.033152252435684204,
                         -0.008460951037704945, 0.0022897175513207912, -0.0006428624619729817,
                         0.00018087650823872536, -5.267939923214726e-05, 2.0521320038824342e-05,
                         -6.360114184644772e-06});
}

// erf of doubles (Cephes' ndtr.c).
Elements Erf(Elements x) {
  const Elements a = Abs(x);
  const Elements z = x * x;
  const Elements near =
      x *
      Polynomial(z, {5.55923013010394962768e4, 7.00332514112805075473e3, 2.23200534594684319226e3,
                     9.00260197203842689217e1, 9.60497373987051638749e0}) /
      Polynomial(z, {4.92673942608635921086e4, 2.26290000613890934246e4, 4.59432382970980127987e3,
                     5.21357949780152679795e2, 3.35617141647503099647e1, 1.0});
  const Elements far =
      1 - (-z).Unary(HloOpcode::kExp) *
              Polynomial(
                  a, {5.57535335369399327526e2, 1.02755188689515710272e3, 9.34528527171957607540e2,
                      5.26445194995477358631e2, 1.96520832956077098242e2, 4.86371970985681366614e1,
                      7.46321056442269912687e0, 5.64189564831068821977e-1,
                      2.46196981473530512524e-10}) /
              Polynomial(
                  a, {5.57535340817727675546e2, 1.65666309194161350182e3, 2.24633760818710981792e3,
                      1.82390916687909736289e3, 9.75708501743205489753e2, 3.54937778887819891062e2,
                      8.67072140885989742329e1, 1.32281951154744992508e1, 1.0});
  const Elements large = Choose(a > 6.5, 1.0, far);  // where both may not be finite
  return Choose(a < 1.0, near, WithSign(Choose(x == x, large, x), x));
}

// The angle of the point (x, y), for floats or doubles (fdlibm's s_atan.c, Cephes' atanf.c).
Elements Angle(Elements y, Elements x) {
  const bool wide = x.type() == xla::F64;
  const Elements height = Abs(y), width = Abs(x);
  Elements least = height.Binary(HloOpcode::kMinimum, width);
  Elements most = height.Binary(HloOpcode::kMaximum, width);
  // Sums that would be infinite are of halves.
  const Elements huge = most > (wide ? 0x1p1022 : 0x1p126);
  const Elements half = Choose(huge, 0.5, most.Number(1));
  least = least * half;
  most = most * half;
  // The angle between 0 and 1/8 of a circle is one around 0 or 1/8.
  const Elements same = least == most;
  const Elements steep = (same & (most > 0.0)) |                // both may be infinite
                         (least > most * 0.41421356237309503);  // the tangent of 1/16
  const Elements over = Choose(steep, Choose(same, 0.0, least - most), least);
  const Elements under = Choose(steep, least + most, most);
  const Elements t = over / Choose(under == 0.0, 1.0, under);
  const Elements z = t * t;
  const Elements series =
      wide ? Polynomial(z, {-3.33333333333329318027e-01, 1.99999999998764832476e-01,
                            -1.42857142725034663711e-01, 1.11111104054623557880e-01,
                            -9.09088713343650656196e-02, 7.69187620504482999495e-02,
                            -6.66107313738753120669e-02, 5.83357013379057348645e-02,
                            -4.97687799461593236017e-02, 3.65315727442169155270e-02,
                            -1.62858201153657823623e-02})
           : Polynomial(z,
                        {-3.33329491539e-1, 1.99777106478e-1, -1.38776856032e-1, 8.05374449538e-2});
  Elements angle = t + t * z * series;
  angle = Choose(steep, angle + M_PI_4, angle);
  angle = Choose(height > width, M_PI_2 - angle, angle);
  const Elements left = WithSign(x.Number(1), x) < 0.0;
  angle = Choose(left, M_PI - angle, angle);
  // Minima and maxima pass over NaNs.
  return Choose((x == x) & (y == y), WithSign(angle, y), x + y);
}

// x to the power of n, 1 and more.
Elements Product(Elements x, int n) {
  if (n == 1) return x;
  const Elements half = Product(x, n / 2);
  return n % 2 == 0 ? half * half : half * half * x;
}

// x to the power of half of `twice`, which is not 0.
Elements HalfPower(Elements x, int twice) {
  const int whole = std::abs(twice) / 2;
  const bool has_root = twice % 2 != 0;
  // As powers have it, and roots have not: of -0 it is 0, of -infinity infinity.
  if (has_root) x = Choose(x == 0.0, 0.0, Choose(x == -kInfinity, kInfinity, x));
  // Inverted first: the power may be what is too small for a number.
  const bool inverts = twice < 0 && whole > 0;
  if (inverts) x = 1 / (has_root ? Choose(x < 0.0, kNan, x) : x);
  if (!has_root) return Product(x, whole);
  const Elements root = x.Unary(HloOpcode::kSqrt);
  if (whole > 0) return Product(x, whole) * root;
  return twice < 0 ? 1 / root : root;
}

// x to the power of whole numbers between the bounds, each element by its own: the squares of
// squares of which the exponent has the bit.
Elements PowerByBits(Elements x, Elements exponents, WholeNumbers bounds) {
  const Elements whole = exponents.As(xla::S32);
  if (bounds.least < 0) x = Choose(whole < 0, 1 / x, x);
  const Elements size = bounds.least < 0 ? Abs(whole) : whole;
  const auto most = static_cast<uint64_t>(std::max(-bounds.least, bounds.most));
  std::optional<Elements> power;
  for (int bit = 0; most >> bit != 0; ++bit) {
    if (bit > 0) x = x * x;
    const Elements factor = Choose((size & size.Bits(uint64_t{1} << bit)) == 0, 1, x);
    power = power ? *power * factor : factor;
  }
  return *power;
}

// exp(y * log(a)) of floats that are doubles here, as precise as floats are; a is 0 or more.
Elements FloatPower(Elements a, Elements y) {
  const Split split = SplitNumber(a);
  const Elements s = (split.fraction - 1) / (split.fraction + 1);
  const Elements series =
      Polynomial(s * s, {2.0, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13});
  const Elements log = WithEnds(a, split.exponent * M_LN2 + s * series, 0);
  constexpr double kMost = 256;  // no float's logarithm
  const Elements product = y * log;
  const Elements t = product.Binary(HloOpcode::kMinimum, y.Number(kMost))
                         .Binary(HloOpcode::kMaximum, y.Number(-kMost));
  const Elements n = (t * M_LOG2E).Unary(HloOpcode::kRoundNearestEven);
  const Elements power = Polynomial(t - n * M_LN2, {1.0, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120,
                                                    1.0 / 720, 1.0 / 5040, 1.0 / 40320});
  // n is added to the exponent.
  const Elements bits = (n + 0x1.8p52).BitsAs(xla::U64);
  const Elements scaled =
      power.BitsAs(xla::U64) + bits.Binary(HloOpcode::kShiftLeft, bits.Bits(kFractionBits));
  return Choose(product == product, scaled.BitsAs(xla::F64), product);
}

// The third root of floats that are doubles here.
Elements Cbrt(Elements x) {
  const Elements a = Abs(x);
  return WithSign(FloatPower(a, a.Number(1.0 / 3)), x);
}

// x to the power of y, floats that are doubles here, as std::pow has it.
Elements Power(Elements x, Elements y) {
  const Elements a = Abs(x);
  const Elements size = FloatPower(a, y);
  const Elements whole = y.Unary(HloOpcode::kFloor);
  const Elements odd = (whole * 0.5).Unary(HloOpcode::kFloor) * 2 < whole;
  Elements power = Choose(odd & (whole == y), WithSign(size, x), size);
  power = Choose((x < 0.0) & (x > -kInfinity) & (whole < y), kNan, power);
  // One to any power, and minus one to one that is infinite; anything to the power of none.
  power = Choose((x == 1.0) | ((a == 1.0) & (Abs(y) == kInfinity)), 1.0, power);
  return Choose(y == 0.0, 1.0, power);
}

bool IsWorthIt(const HloInstruction& root) {
  return root.shape().IsArray() && emit::Free(root) &&
         xla::ShapeUtil::ElementsIn(root.shape()) >= kLeastElements;
}

// Whether several others need it, maybe behind what is done to it element by element.
bool IsForSeveral(const HloInstruction& x) {
  const HloInstruction* value = &x;
  for (int step = 0; step < kStepsToUsers && value->user_count() == 1; ++step) {
    const HloInstruction* const user = value->users()[0];
    const bool goes_on = user->IsElementwise() || user->opcode() == HloOpcode::kBroadcast ||
                         user->opcode() == HloOpcode::kReshape;
    if (!goes_on) return false;
    value = user;
  }
  return value->user_count() > 1;
}

// Null where it is no function that XLA:CPU calls a library for, element by element.
HloInstruction* FormulaOf(HloInstruction* root) {
  if (!IsWorthIt(*root)) return nullptr;
  const xla::PrimitiveType type = root->shape().element_type();
  const bool doubles = type == xla::F64;
  if (!xla::primitive_util::IsFloatingPointType(type)) return nullptr;
  const auto operand = [&](int64_t k, xla::PrimitiveType as) {
    return Elements(root->mutable_operand(k)).As(as);
  };
  switch (root->opcode()) {
    case HloOpcode::kAtan2: {
      const xla::PrimitiveType wide = emit::SumType(type);
      return Angle(operand(0, wide), operand(1, wide)).As(type).array();
    }
    case HloOpcode::kCbrt:
      return doubles ? nullptr : Cbrt(operand(0, xla::F64)).As(type).array();
    case HloOpcode::kErf:
      return doubles ? Erf(operand(0, type)).array() : nullptr;
    case HloOpcode::kLog:
      return doubles ? Log(operand(0, type)).array() : nullptr;
    case HloOpcode::kLog1p:
      if (doubles) return Log1p(operand(0, type)).array();
      return IsAtMostOne(*root->operand(0)) ? Log1pUpToOne(operand(0, xla::F32)).As(type).array()
                                            : nullptr;
    case HloOpcode::kPower:
      return doubles ? nullptr : Power(operand(0, xla::F64), operand(1, xla::F64)).As(type).array();
    default:
      return nullptr;
  }
}

}  // namespace

// log, log-plus-one and erf of doubles, power and cbrt of narrower floats, and their log-plus-one
// as in softplus, atan2 of any.
absl::StatusOr<HloInstruction*> FunctionFormulas(HloInstruction* root) {
  HloInstruction* const value = FormulaOf(root);
  // XLA:CPU computes such a function once, and what it does not know as one again for each user.
  return value != nullptr && IsForSeveral(*root) ? emit::Kept(value) : value;
}

// Powers by small whole numbers and halves, and by arrays of small whole numbers (`x **
// arange(n)`).
absl::StatusOr<HloInstruction*> PowerProducts(HloInstruction* root) {
  if (!IsWorthIt(*root)) return nullptr;
  const xla::PrimitiveType type = root->shape().element_type();
  if (!xla::primitive_util::IsFloatingPointType(type)) return nullptr;
  const std::optional<double> exponent = ConstantOf(*root->operand(1));
  if (!exponent) {
    const std::optional<WholeNumbers> bounds = WholeNumbersOf(*root->operand(1));
    if (!bounds || bounds->least < -kMostByBits || bounds->most > kMostByBits) return nullptr;
    if (bounds->least == 0 && bounds->most == 0) return nullptr;
    // Products round: many in doubles.
    const bool floats = std::max(-bounds->least, bounds->most) <= kMostInFloats;
    const Elements x =
        Elements(root->mutable_operand(0)).As(floats ? emit::SumType(type) : xla::F64);
    return PowerByBits(x, Elements(root->mutable_operand(1)), *bounds).As(type).array();
  }
  if (*exponent == 0) return nullptr;
  const double twice = 2 * *exponent;
  if (twice != std::floor(twice) || std::fabs(twice) > kMostTwice) return nullptr;
  const Elements x = Elements(root->mutable_operand(0)).As(emit::SumType(type));
  return HalfPower(x, static_cast<int>(twice)).As(type).array();
}

}  // namespace hone::compiler
