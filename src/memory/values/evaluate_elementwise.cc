#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "memory/values/evaluate.h"

namespace hone::memory {
namespace {

using Complex = std::complex<double>;
using RealUnary = double (*)(double);
using RealBinary = double (*)(double, double);

double NanMax(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b); }
double NanMin(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b); }

const std::unordered_map<std::string, RealUnary>& RealUnaries() {
  static const std::unordered_map<std::string, RealUnary> table = {
      {"abs", [](double x) { return std::fabs(x); }},
      {"acos", [](double x) { return std::acos(x); }},
      {"acosh", [](double x) { return std::acosh(x); }},
      {"asin", [](double x) { return std::asin(x); }},
      {"asinh", [](double x) { return std::asinh(x); }},
      {"atanh", [](double x) { return std::atanh(x); }},
      {"cbrt", [](double x) { return std::cbrt(x); }},
      {"ceil", [](double x) { return std::ceil(x); }},
      {"cosh", [](double x) { return std::cosh(x); }},
      {"cosine", [](double x) { return std::cos(x); }},
      {"erf", [](double x) { return std::erf(x); }},
      {"exponential", [](double x) { return std::exp(x); }},
      {"exponential-minus-one", [](double x) { return std::expm1(x); }},
      {"floor", [](double x) { return std::floor(x); }},
      {"log", [](double x) { return std::log(x); }},
      {"log-plus-one", [](double x) { return std::log1p(x); }},
      {"logistic", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"negate", [](double x) { return -x; }},
      {"real", [](double x) { return x; }},
      {"imag", [](double) { return 0.0; }},
      {"round-nearest-afz", [](double x) { return std::round(x); }},
      {"round-nearest-even", [](double x) { return std::nearbyint(x); }},
      {"rsqrt", [](double x) { return 1 / std::sqrt(x); }},
      {"sign", [](double x) { return std::isnan(x) || x == 0 ? x : std::copysign(1.0, x); }},
      {"sine", [](double x) { return std::sin(x); }},
      {"sinh", [](double x) { return std::sinh(x); }},
      {"sqrt", [](double x) { return std::sqrt(x); }},
      {"tan", [](double x) { return std::tan(x); }},
      {"tanh", [](double x) { return std::tanh(x); }},
  };
  return table;
}

const std::unordered_map<std::string, RealBinary>& RealBinaries() {
  static const std::unordered_map<std::string, RealBinary> table = {
      {"add", [](double a, double b) { return a + b; }},
      {"subtract", [](double a, double b) { return a - b; }},
      {"multiply", [](double a, double b) { return a * b; }},
      {"divide", [](double a, double b) { return a / b; }},
      {"maximum", NanMax},
      {"minimum", NanMin},
      {"power", [](double a, double b) { return std::pow(a, b); }},
      {"remainder", [](double a, double b) { return std::fmod(a, b); }},
      {"atan2", [](double a, double b) { return std::atan2(a, b); }},
  };
  return table;
}

int64_t IntegerPower(int64_t base, int64_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (; exponent > 0; exponent >>= 1, square *= square) {
    if (exponent & 1) result *= square;
  }
  return static_cast<int64_t>(result);
}

uint64_t Unsigned(int64_t a) { return static_cast<uint64_t>(a); }
int64_t Signed(uint64_t a) { return static_cast<int64_t>(a); }

bool IsLess(int64_t a, int64_t b, ElementType type) {
  return IsSigned(type) ? a < b : Unsigned(a) < Unsigned(b);
}

uint64_t LowBits(int64_t a, ElementType type) {
  const int bits = BitsOf(type);
  return bits >= 64 ? Unsigned(a) : Unsigned(a) & ((uint64_t{1} << bits) - 1);
}

// Whether a shift leaves anything of a number.
bool IsInRange(int64_t shift, ElementType type) {
  return Unsigned(shift) < static_cast<uint64_t>(BitsOf(type));
}

// As XLA defines them where C++ does not: x / 0 is all ones, x % 0 is x, and so on.
int64_t Quotient(int64_t a, int64_t b, ElementType type) {
  if (b == 0) return -1;
  if (!IsSigned(type)) return Signed(Unsigned(a) / Unsigned(b));
  return b == -1 ? Signed(0 - Unsigned(a)) : a / b;
}

int64_t Remainder(int64_t a, int64_t b, ElementType type) {
  if (b == 0) return a;
  if (!IsSigned(type)) return Signed(Unsigned(a) % Unsigned(b));
  return b == -1 ? 0 : a % b;
}

using Type = ElementType;
using IntegerUnary = int64_t (*)(int64_t, Type);
using IntegerBinary = int64_t (*)(int64_t, int64_t, Type);

// Before they are taken modulo 2^bits.
const std::unordered_map<std::string, IntegerUnary>& IntegerUnaries() {
  static const std::unordered_map<std::string, IntegerUnary> table = {
      {"negate", [](int64_t a, Type) { return Signed(0 - Unsigned(a)); }},
      {"abs", [](int64_t a, Type t) { return IsLess(a, 0, t) ? Signed(0 - Unsigned(a)) : a; }},
      {"sign",
       [](int64_t a, Type t) { return int64_t{IsLess(0, a, t)} - int64_t{IsLess(a, 0, t)}; }},
      {"not", [](int64_t a, Type t) { return BitsOf(t) == 1 ? int64_t{!a} : ~a; }},
      {"popcnt", [](int64_t a, Type t) { return int64_t{std::popcount(LowBits(a, t))}; }},
      {"count-leading-zeros",
       [](int64_t a, Type t) {
         return int64_t{std::countl_zero(LowBits(a, t)) - (64 - BitsOf(t))};
       }},
  };
  return table;
}

const std::unordered_map<std::string, IntegerBinary>& IntegerBinaries() {
  static const std::unordered_map<std::string, IntegerBinary> table = {
      {"add", [](int64_t a, int64_t b, Type) { return Signed(Unsigned(a) + Unsigned(b)); }},
      {"subtract", [](int64_t a, int64_t b, Type) { return Signed(Unsigned(a) - Unsigned(b)); }},
      {"multiply", [](int64_t a, int64_t b, Type) { return Signed(Unsigned(a) * Unsigned(b)); }},
      {"divide", Quotient},
      {"remainder", Remainder},
      {"maximum", [](int64_t a, int64_t b, Type t) { return IsLess(a, b, t) ? b : a; }},
      {"minimum", [](int64_t a, int64_t b, Type t) { return IsLess(a, b, t) ? a : b; }},
      {"and", [](int64_t a, int64_t b, Type) { return a & b; }},
      {"or", [](int64_t a, int64_t b, Type) { return a | b; }},
      {"xor", [](int64_t a, int64_t b, Type) { return a ^ b; }},
      {"power", [](int64_t a, int64_t b, Type) { return IntegerPower(a, b); }},
      {"shift-left",
       [](int64_t a, int64_t b, Type t) {
         return IsInRange(b, t) ? Signed(Unsigned(a) << b) : int64_t{0};
       }},
      {"shift-right-logical",
       [](int64_t a, int64_t b, Type t) {
         return IsInRange(b, t) ? Signed(LowBits(a, t) >> b) : int64_t{0};
       }},
      {"shift-right-arithmetic",
       [](int64_t a, int64_t b, Type t) { return IsInRange(b, t) ? a >> b
                                                 : a < 0         ? -1
                                                                 : 0; }},
  };
  return table;
}

using ComplexUnary = Complex (*)(Complex);
using ComplexBinary = Complex (*)(Complex, Complex);

// exp(z) - 1 = expm1(x) cos(y) - 2 sin²(y / 2) + i exp(x) sin(y)
Complex MinusOne(Complex z) {
  const double half = std::sin(z.imag() / 2);
  return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * half * half,
          std::exp(z.real()) * std::sin(z.imag())};
}

// |1 + z|² = 1 + x (2 + x) + y²
Complex PlusOne(Complex z) {
  const double x = z.real(), y = z.imag();
  return {std::log1p(x * (2 + x) + y * y) / 2, std::atan2(y, 1 + x)};
}

const std::unordered_map<std::string, ComplexUnary>& ComplexUnaries() {
  static const std::unordered_map<std::string, ComplexUnary> table = {
      {"acos", [](Complex z) { return std::acos(z); }},
      {"acosh", [](Complex z) { return std::acosh(z); }},
      {"asin", [](Complex z) { return std::asin(z); }},
      {"asinh", [](Complex z) { return std::asinh(z); }},
      {"atanh", [](Complex z) { return std::atanh(z); }},
      {"cosh", [](Complex z) { return std::cosh(z); }},
      {"cosine", [](Complex z) { return std::cos(z); }},
      {"exponential", [](Complex z) { return std::exp(z); }},
      {"exponential-minus-one", MinusOne},
      {"log", [](Complex z) { return std::log(z); }},
      {"log-plus-one", PlusOne},
      {"logistic", [](Complex z) { return 1.0 / (1.0 + std::exp(-z)); }},
      {"negate", [](Complex z) { return -z; }},
      {"rsqrt", [](Complex z) { return 1.0 / std::sqrt(z); }},
      {"sign", [](Complex z) { return z == 0.0 ? z : z / std::abs(z); }},
      {"sine", [](Complex z) { return std::sin(z); }},
      {"sinh", [](Complex z) { return std::sinh(z); }},
      {"sqrt", [](Complex z) { return std::sqrt(z); }},
      {"tan", [](Complex z) { return std::tan(z); }},
      {"tanh", [](Complex z) { return std::tanh(z); }},
  };
  return table;
}

const std::unordered_map<std::string, ComplexBinary>& ComplexBinaries() {
  static const std::unordered_map<std::string, ComplexBinary> table = {
      {"add", [](Complex a, Complex b) { return a + b; }},
      {"subtract", [](Complex a, Complex b) { return a - b; }},
      {"multiply", [](Complex a, Complex b) { return a * b; }},
      {"divide", [](Complex a, Complex b) { return a / b; }},
      {"power", [](Complex a, Complex b) { return std::pow(a, b); }},
      // -i log((b + ia) / sqrt(a² + b²)), as XLA has it
      {"atan2",
       [](Complex a, Complex b) {
         const Complex i(0, 1);
         return -i * std::log((b + i * a) / std::sqrt(a * a + b * b));
       }},
  };
  return table;
}

// Truncated towards zero and held within the type's range; not-a-number becomes 0.
int64_t ToInteger(double value, ElementType type) {
  if (std::isnan(value)) return 0;
  if (type == ElementType::kPred) return value != 0;
  const int bits = BitsOf(type);
  if (!IsSigned(type)) {
    if (value <= 0) return 0;
    if (value >= std::ldexp(1.0, bits)) return Wrap(-1, type);
    return static_cast<int64_t>(static_cast<uint64_t>(value));
  }
  const double limit = std::ldexp(1.0, bits - 1);
  if (value >= limit)
    return bits == 64 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << (bits - 1)) - 1;
  if (value < -limit)
    return bits == 64 ? std::numeric_limits<int64_t>::min() : -(int64_t{1} << (bits - 1));
  return static_cast<int64_t>(value);
}

void Convert(const Array& operand, int64_t from, Array& result, size_t at) {
  switch (KindOf(result.type)) {
    case ValueKind::kInteger:
      result.integers[at] = KindOf(operand.type) == ValueKind::kInteger
                                ? Wrap(operand.integers[static_cast<size_t>(from)], result.type)
                                : ToInteger(AsReal(operand, from), result.type);
      break;
    case ValueKind::kReal:
      result.reals[at] = Round(AsReal(operand, from), result.type);
      break;
    case ValueKind::kComplex:
      result.complexes[at] = KindOf(operand.type) == ValueKind::kComplex
                                 ? operand.complexes[static_cast<size_t>(from)]
                                 : Complex(AsReal(operand, from));
      break;
    case ValueKind::kNone:
      break;
  }
}

// What a comparison says, once for all elements.
struct Direction {
  explicit Direction(const std::string& name)
      : less(name == "LT" || name == "LE" || name == "NE"),
        equal(name == "EQ" || name == "LE" || name == "GE"),
        greater(name == "GT" || name == "GE" || name == "NE"),
        unordered(name == "NE") {}

  template <class T>
  bool Holds(T a, T b) const {
    return a < b ? less : a > b ? greater : a == b ? equal : unordered;
  }

  bool less, equal, greater, unordered;
};

double ReducePrecision(double value, int exponent_bits, int mantissa_bits) {
  if (!std::isfinite(value) || value == 0) return value;
  int exponent = 0;
  std::frexp(value, &exponent);
  const double unit = std::ldexp(1.0, exponent - 1 - mantissa_bits);
  const double rounded = std::nearbyint(value / unit) * unit;
  const double bias = std::ldexp(1.0, exponent_bits - 1) - 1;
  if (std::fabs(rounded) >= std::exp2(bias + 1)) return std::copysign(INFINITY, value);
  return std::fabs(rounded) < std::exp2(1 - bias) ? std::copysign(0.0, value) : rounded;
}

class Evaluation {
 public:
  Evaluation(const Op& op, const std::vector<Array>& operands, Array& result)
      : op_(op), operands_(operands), result_(result) {
    for (const Array& operand : operands) {
      steps_.push_back(operand.box.low.empty() && !result.box.low.empty() ? 0 : 1);
    }
  }

  bool Run() {
    const std::string& opcode = op_.opcode;
    if (opcode == "copy") return Each([&](int64_t i) { CopyElement(operands_[0], i, result_, i); });
    if (opcode == "convert")
      return Each([&](int64_t i) { Convert(operands_[0], In(0, i), result_, U(i)); });
    if (opcode == "bitcast-convert") return BitcastConvert();
    if (opcode == "select") {
      return Each([&](int64_t i) {
        const size_t chosen = operands_[0].integers[U(In(0, i))] ? 1 : 2;
        CopyElement(operands_[chosen], In(chosen, i), result_, i);
      });
    }
    if (opcode == "compare") return Compare();
    if (opcode == "clamp") return Clamp();
    if (opcode == "complex") {
      return Each([&](int64_t i) {
        result_.complexes[U(i)] = {operands_[0].reals[U(In(0, i))],
                                   operands_[1].reals[U(In(1, i))]};
      });
    }
    if (opcode == "is-finite") {
      return Each([&](int64_t i) {
        result_.integers[U(i)] = std::isfinite(operands_[0].reals[U(In(0, i))]);
      });
    }
    if (opcode == "reduce-precision") {
      const int exponent = static_cast<int>(ListOf(op_, "exponent_bits")[0]);
      const int mantissa = static_cast<int>(ListOf(op_, "mantissa_bits")[0]);
      return Each([&](int64_t i) {
        result_.reals[U(i)] = ReducePrecision(operands_[0].reals[U(In(0, i))], exponent, mantissa);
      });
    }
    switch (KindOf(operands_[0].type)) {
      case ValueKind::kReal:
        return Reals();
      case ValueKind::kInteger:
        return Integers();
      case ValueKind::kComplex:
        return Complexes();
      case ValueKind::kNone:
        break;
    }
    return false;
  }

 private:
  static size_t U(int64_t i) { return static_cast<size_t>(i); }
  int64_t In(size_t operand, int64_t i) const { return steps_[operand] * i; }

  template <class Visit>
  bool Each(Visit visit) {
    const int64_t count = Elements(result_.box);
    for (int64_t i = 0; i < count; ++i) visit(i);
    return true;
  }

  bool Reals() {
    if (KindOf(result_.type) != ValueKind::kReal) return false;
    const auto& a = operands_[0].reals;
    if (operands_.size() == 1) {
      const auto found = RealUnaries().find(op_.opcode);
      if (found == RealUnaries().end()) return false;
      Each([&](int64_t i) { result_.reals[U(i)] = found->second(a[U(i)]); });
      RoundAll(result_.reals, result_.type);
      return true;
    }
    const auto found = RealBinaries().find(op_.opcode);
    if (found == RealBinaries().end()) return false;
    const auto& b = operands_[1].reals;
    Each([&](int64_t i) { result_.reals[U(i)] = found->second(a[U(In(0, i))], b[U(In(1, i))]); });
    RoundAll(result_.reals, result_.type);
    return true;
  }

  bool Integers() {
    const Type type = result_.type;
    const auto& a = operands_[0].integers;
    if (operands_.size() == 1) {
      const auto found = IntegerUnaries().find(op_.opcode);
      if (found == IntegerUnaries().end()) return false;
      return Each(
          [&](int64_t i) { result_.integers[U(i)] = Wrap(found->second(a[U(i)], type), type); });
    }
    const auto found = IntegerBinaries().find(op_.opcode);
    if (found == IntegerBinaries().end()) return false;
    const auto& b = operands_[1].integers;
    return Each([&](int64_t i) {
      result_.integers[U(i)] = Wrap(found->second(a[U(In(0, i))], b[U(In(1, i))], type), type);
    });
  }

  bool Complexes() {
    const auto& a = operands_[0].complexes;
    if (op_.opcode == "real" || op_.opcode == "imag" || op_.opcode == "abs") {
      return Each([&](int64_t i) {
        const Complex value = a[U(i)];
        result_.reals[U(i)] = Round(op_.opcode == "real"   ? value.real()
                                    : op_.opcode == "imag" ? value.imag()
                                                           : std::abs(value),
                                    result_.type);
      });
    }
    if (KindOf(result_.type) != ValueKind::kComplex) return false;
    const auto put = [&](int64_t i, Complex value) {
      result_.complexes[U(i)] = {Round(value.real(), result_.type),
                                 Round(value.imag(), result_.type)};
    };
    if (operands_.size() == 1) {
      const auto found = ComplexUnaries().find(op_.opcode);
      if (found == ComplexUnaries().end()) return false;
      return Each([&](int64_t i) { put(i, found->second(a[U(i)])); });
    }
    const auto found = ComplexBinaries().find(op_.opcode);
    if (found == ComplexBinaries().end()) return false;
    const auto& b = operands_[1].complexes;
    return Each([&](int64_t i) { put(i, found->second(a[U(In(0, i))], b[U(In(1, i))])); });
  }

  bool BitcastConvert() {
    if (BytesOf(operands_[0].type) != BytesOf(result_.type)) return false;
    char bytes[16];
    return Each([&](int64_t i) {
      EncodeElement(operands_[0], i, bytes);
      DecodeElement(bytes, result_, i);
    });
  }

  bool Compare() {
    const auto found = op_.texts.find("direction");
    if (found == op_.texts.end()) return false;
    const Direction direction(found->second);
    const Array& a = operands_[0];
    const Array& b = operands_[1];
    return Each([&](int64_t i) {
      const size_t x = U(In(0, i)), y = U(In(1, i));
      bool holds = false;
      if (KindOf(a.type) == ValueKind::kReal) {
        holds = direction.Holds(a.reals[x], b.reals[y]);
      } else if (KindOf(a.type) == ValueKind::kComplex) {
        holds = (a.complexes[x] == b.complexes[y]) == direction.equal;
      } else if (IsSigned(a.type)) {
        holds = direction.Holds(a.integers[x], b.integers[y]);
      } else {
        holds = direction.Holds(Unsigned(a.integers[x]), Unsigned(b.integers[y]));
      }
      result_.integers[U(i)] = holds;
    });
  }

  bool Clamp() {
    const Array& low = operands_[0];
    const Array& high = operands_[2];
    return Each([&](int64_t i) {
      const size_t k = U(In(1, i)), l = U(In(0, i)), h = U(In(2, i));
      if (KindOf(result_.type) == ValueKind::kReal) {
        result_.reals[U(i)] = NanMin(NanMax(operands_[1].reals[k], low.reals[l]), high.reals[h]);
        return;
      }
      int64_t value = operands_[1].integers[k];
      if (IsLess(value, low.integers[l], result_.type)) value = low.integers[l];
      if (IsLess(high.integers[h], value, result_.type)) value = high.integers[h];
      result_.integers[U(i)] = value;
    });
  }

  const Op& op_;
  const std::vector<Array>& operands_;
  Array& result_;
  std::vector<int64_t> steps_;
};

}  // namespace

tl::unexpected<Error> NoArithmetic(const Op& op, const std::string& why) {
  return MakeError(ErrorCode::kUnsupported, "the simulator cannot compute '" + op.opcode + "'" +
                                                (why.empty() ? "" : ": " + why));
}

StatusOr<Array> EvaluateElementwise(const Op& op, const std::vector<Array>& operands,
                                    ElementType type, const Box& out) {
  Array result = MakeArray(type, out);
  if (KindOf(type) == ValueKind::kNone || operands.empty()) return NoArithmetic(op, "its type");
  for (const Array& operand : operands) {
    HONE_CHECK(operand.box.low.empty() || operand.box == out);
    if (KindOf(operand.type) == ValueKind::kNone) return NoArithmetic(op, "its type");
  }
  if (!Evaluation(op, operands, result).Run()) {
    return NoArithmetic(op, std::string("on ") + NameOf(operands[0].type));
  }
  return result;
}

}  // namespace hone::memory
