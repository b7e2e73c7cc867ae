#include "compiler/run/inputs.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <random>
#include <type_traits>
#include <utility>

#include "compiler/run/rounding_noise.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using Generator = std::mt19937_64;

double Uniform(Generator& generator) {  // [0, 1)
  return static_cast<double>(generator() >> 11) * 0x1.0p-53;
}

// The sum of four uniform numbers, centred and scaled to unit variance: bell-shaped, bounded by
// 3.5, and one draw each. The scale is irrational, so all bits of a mantissa are in use.
double Bell(Generator& generator) {
  const uint64_t bits = generator();
  const double sum = static_cast<double>((bits & 0xFFFF) + ((bits >> 16) & 0xFFFF) +
                                         ((bits >> 32) & 0xFFFF) + (bits >> 48));
  return (sum / 65536.0 - 2.0) * 1.7320508075688772;
}

double Signed(Generator& generator, double deviation) {
  const double value = Bell(generator) * deviation;
  // The last digits of the value itself decide its magnitude, to save a draw.
  const auto choice = static_cast<uint64_t>(std::fabs(value) * 0x1.0p40) & 15;
  return choice < 4 ? value * std::ldexp(1.0, -static_cast<int>(2 * (choice & 3))) : value;
}

double Wide(Generator& generator, double scale) {
  const uint64_t choice = generator() % 20;
  if (choice == 0) return 0.0;
  if (choice == 1) return scale;
  if (choice < 6) return static_cast<double>(static_cast<int>(generator() % 5) - 2) * scale;
  return Bell(generator) * scale * 1.0123;
}

double FloatValue(const InputRole& role, InputKind kind, Generator& generator) {
  const bool weight = role.fan_in > 1;
  const double shrink = weight ? 1.0 / std::sqrt(static_cast<double>(role.fan_in)) : 1.0;
  switch (kind) {
    case InputKind::kSigned: {
      if (role.positive) return 0.05 + std::fabs(Bell(generator)) * 0.3;
      return Signed(generator, weight ? std::min(0.3, shrink) : 0.3);
    }
    case InputKind::kPositive: {
      const double value = 0.1 + Uniform(generator);
      // All terms have one sign here, so they add up to fan-in times their mean.
      return weight && !role.positive ? value * 1.7 / static_cast<double>(role.fan_in) : value;
    }
    case InputKind::kWide: {
      if (role.positive) return 0.25 + std::fabs(Wide(generator, 1.0));
      // A power of two keeps small integers exact.
      return Wide(generator, weight ? std::exp2(std::round(std::log2(shrink))) : 1.0);
    }
  }
  return 0;
}

int64_t IntegerValue(const InputRole& role, InputKind kind, Generator& generator) {
  const auto draw = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(generator() % static_cast<uint64_t>(high - low + 1));
  };
  if (role.index_bound > 0) return draw(0, role.index_bound - 1);
  if (role.fan_in > 0 && xla::primitive_util::IsSignedIntegralType(role.shape.element_type())) {
    return draw(-8, 7);  // a quantised weight or activation
  }
  switch (kind) {
    case InputKind::kSigned:
      return draw(1, 8);
    case InputKind::kPositive:
      return role.shape.dimensions().empty() ? draw(1, 100) : draw(0, 1);
    case InputKind::kWide:
      return role.shape.dimensions().empty() ? draw(1, 3) : draw(0, 7);
  }
  return 0;
}

// Symmetric, with a diagonal that outweighs the rest of its row.
void MakePositiveDefinite(const xla::Shape& shape, std::vector<double>* values) {
  const int64_t n = shape.dimensions().back();
  const auto rows = static_cast<int64_t>(values->size()) / std::max<int64_t>(n, 1);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < n; ++column) {
      const int64_t within = row % n;
      double& value = (*values)[row * n + column];
      if (column == within) {
        value = 1.0 + std::fabs(value);
      } else if (column > within && row - within + column < rows) {
        value /= static_cast<double>(n);
        (*values)[(row - within + column) * n + within] = value;
      }
    }
  }
}

template <class T>
T FromDouble(double value) {
  if constexpr (std::is_same_v<T, double>) {
    return value;
  } else {
    return static_cast<T>(static_cast<float>(value));
  }
}

template <class T>
void Fill(const InputRole& role, InputKind kind, Generator& generator, T* out, int64_t count) {
  if constexpr (std::is_same_v<T, bool>) {
    const uint64_t often = kind == InputKind::kPositive ? 9 : 5;
    for (int64_t i = 0; i < count; ++i) out[i] = generator() % 10 < often;
  } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                       std::is_same_v<T, std::complex<double>>) {
    for (int64_t i = 0; i < count; ++i) {
      const double real = FloatValue(role, kind, generator);
      out[i] = T(real, FloatValue(role, kind, generator));
    }
  } else if constexpr (std::is_integral_v<T>) {
    if (role.random_bits) {
      for (int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(generator() >> 7);
    } else {
      for (int64_t i = 0; i < count; ++i) {
        // Bounds beyond a narrow type's range never come up as indices of that type.
        out[i] = static_cast<T>(IntegerValue(role, kind, generator) &
                                (sizeof(T) == 1 && role.index_bound > 0 ? 0x7F : -1));
      }
    }
  } else if (role.positive_definite && role.shape.dimensions().size() >= 2) {
    std::vector<double> values(count);
    for (double& value : values) value = FloatValue(role, kind, generator);
    MakePositiveDefinite(role.shape, &values);
    for (int64_t i = 0; i < count; ++i) out[i] = FromDouble<T>(values[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) out[i] = FromDouble<T>(FloatValue(role, kind, generator));
  }
}

uint64_t Mix(uint64_t x) {  // splitmix64 (Steele, Lea, Flood, OOPSLA 2014)
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

// By one unit in the last place: bits of a floating-point number count its neighbours.
template <class Bits>
void Nudge(Bits* values, int64_t count, int mantissa_bits, uint64_t seed) {
  const Bits exact = static_cast<Bits>((uint64_t{1} << (mantissa_bits / 2 + 1)) - 1);
  const Bits exponent = static_cast<Bits>(
      ((uint64_t{1} << (sizeof(Bits) * 8 - 1 - mantissa_bits)) - 1) << mantissa_bits);
  for (int64_t i = 0; i < count; ++i) {
    const Bits field = values[i] & exponent;
    if ((values[i] & exact) == 0 || field == 0 || field == exponent) continue;
    values[i] = static_cast<Bits>(values[i] + (Mix(seed + i) & 1 ? 1 : -1));
  }
}

}  // namespace

const char* InputKindName(InputKind kind) {
  switch (kind) {
    case InputKind::kSigned:
      return "signed";
    case InputKind::kPositive:
      return "positive";
    case InputKind::kWide:
      return "wide";
  }
  return "";
}

absl::StatusOr<Arrays> MakeInputs(const std::vector<InputRole>& roles, InputKind kind,
                                  uint64_t seed) {
  Arrays arrays;
  for (size_t k = 0; k < roles.size(); ++k) {
    const InputRole& role = roles[k];
    const xla::PrimitiveType type = role.shape.element_type();
    absl::StatusOr<xla::Literal> literal = xla::Literal::Make(
        xla::ShapeUtil::MakeShapeWithDescendingLayout(type, role.shape.dimensions()));
    if (!literal.ok()) return literal.status();
    // A generator for each array, so that one array's size does not shift the others' values.
    Generator generator(Mix(seed * kInputKinds + static_cast<uint64_t>(kind)) ^ Mix(k));
    xla::primitive_util::ArrayTypeSwitch(
        [&](auto constant) {
          using T = xla::primitive_util::NativeTypeOf<constant>;
          Fill<T>(role, kind, generator, literal->data<T>().data(), literal->element_count());
        },
        type);
    arrays.push_back(*std::move(literal));
  }
  return arrays;
}

absl::StatusOr<Arrays> Perturbed(const Arrays& inputs, uint64_t seed) {
  Arrays arrays;
  for (size_t k = 0; k < inputs.size(); ++k) {
    absl::StatusOr<xla::Literal> literal = xla::Literal::Make(inputs[k].shape());
    if (!literal.ok()) return literal.status();
    std::memcpy(literal->untyped_data(), inputs[k].untyped_data(), inputs[k].size_bytes());
    const xla::PrimitiveType type = inputs[k].shape().element_type();
    const uint64_t stream = Mix(seed) ^ Mix(k + 1);
    int64_t count = inputs[k].element_count();
    void* data = literal->untyped_data();
    if (type == xla::C64 || type == xla::C128) count *= 2;
    const double spacing = RelativeSpacing(type);
    const int mantissa = spacing > 0 ? static_cast<int>(-std::log2(spacing)) : 0;
    if (mantissa == 52) {
      Nudge(static_cast<uint64_t*>(data), count, mantissa, stream);
    } else if (mantissa == 23) {
      Nudge(static_cast<uint32_t*>(data), count, mantissa, stream);
    } else if (type == xla::F16 || type == xla::BF16) {
      Nudge(static_cast<uint16_t*>(data), count, mantissa, stream);
    }
    // Eight-bit floats are few enough to be all exact.
    arrays.push_back(*std::move(literal));
  }
  return arrays;
}

}  // namespace hone::compiler
