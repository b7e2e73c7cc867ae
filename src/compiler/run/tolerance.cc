#include "compiler/run/tolerance.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

#include "compiler/run/rounding_noise.h"
#include "xla/primitive_util.h"

namespace hone::compiler {
namespace {

constexpr double kFactor = 4;
constexpr int64_t kBlock = 32;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Values = std::vector<double>;

// Real and imaginary parts of complex elements follow each other.
Values ToDoubles(const xla::Literal& literal) {
  Values values;
  xla::primitive_util::FloatingPointTypeSwitch(
      [&](auto constant) {
        using T = xla::primitive_util::NativeTypeOf<constant>;
        const auto data = literal.data<T>();
        values.resize(data.size());
        for (size_t i = 0; i < data.size(); ++i) values[i] = static_cast<double>(data[i]);
      },
      literal.shape().element_type());
  return values;
}

template <class Complex>
Values Components(const xla::Literal& literal) {
  const auto data = literal.data<Complex>();
  Values values(2 * data.size());
  for (size_t i = 0; i < data.size(); ++i) {
    values[2 * i] = data[i].real();
    values[2 * i + 1] = data[i].imag();
  }
  return values;
}

Values FloatValues(const xla::Literal& literal) {
  switch (literal.shape().element_type()) {
    case xla::C64:
      return Components<std::complex<float>>(literal);
    case xla::C128:
      return Components<std::complex<double>>(literal);
    default:
      return ToDoubles(literal);
  }
}

// |a - b|, infinite where they differ in being NaN or infinite.
double Distance(double a, double b) {
  if (a == b) return 0;
  if (std::isnan(a) && std::isnan(b)) return 0;
  if (!std::isfinite(a) || !std::isfinite(b)) return kInfinity;
  return std::fabs(a - b);
}

struct Judgement {
  int64_t over = 0;
  int64_t unstable = 0;
  int64_t resolved = 0;
  double worst_error = 0;
  double worst_absolute = 0;
};

// Judges `candidate` with the tolerances that the deviations give, but for the one held out (-1:
// none is).
Judgement Judge(const Values& reference, const Values& candidate,
                const std::vector<Values>& deviations, int held_out, double spacing, double tiny,
                double size) {
  Judgement judgement;
  Values spread(kBlock);
  const auto count = static_cast<int64_t>(reference.size());
  for (int64_t start = 0; start < count; start += kBlock) {
    const int64_t length = std::min(kBlock, count - start);
    double squares = 0;
    int64_t finite = 0;
    for (int64_t j = 0; j < length; ++j) {
      spread[j] = 0;
      for (int k = 0; k < static_cast<int>(deviations.size()); ++k) {
        if (k != held_out) spread[j] = std::max(spread[j], deviations[k][start + j]);
      }
      if (spread[j] < kInfinity) {
        squares += spread[j] * spread[j];
        ++finite;
      }
    }
    const double rms = finite > 0 ? std::sqrt(squares / static_cast<double>(finite)) : 0;
    for (int64_t j = 0; j < length; ++j) {
      const double y = reference[start + j];
      const double distance = Distance(y, candidate[start + j]);
      if (spread[j] == kInfinity) {
        judgement.unstable += distance > 0;
        continue;
      }
      double tolerance = tiny;
      if (std::isfinite(y)) {
        tolerance += kFactor * std::max({spread[j], rms, spacing * std::fabs(y)});
        judgement.resolved += tolerance < 0.1 * std::max(std::fabs(y), size);
      }
      if (distance < kInfinity) {
        judgement.worst_absolute = std::max(judgement.worst_absolute, distance);
      }
      const double error = distance == kInfinity ? kInfinity : distance / tolerance;
      judgement.worst_error = std::max(judgement.worst_error, error);
      judgement.over += error > 1;
    }
  }
  return judgement;
}

// From how many elements are beyond their tolerance in the candidate and in held-out runs.
Outcome Weigh(int64_t over, int64_t held_out_over) {
  if (over == 0) return Outcome::kEqual;
  if (held_out_over == 0) return Outcome::kDifferent;
  if (over <= 2 * held_out_over + 1) return Outcome::kFlips;
  return over <= 5 * held_out_over ? Outcome::kDoubtful : Outcome::kDifferent;
}

LeafComparison CompareFloats(const xla::Literal& reference, const xla::Literal& candidate,
                             const std::vector<const xla::Literal*>& noisy) {
  const Values y = FloatValues(reference);
  const Values z = FloatValues(candidate);
  std::vector<Values> deviations;
  for (const xla::Literal* run : noisy) {
    Values deviation = FloatValues(*run);
    for (size_t i = 0; i < y.size(); ++i) deviation[i] = Distance(y[i], deviation[i]);
    deviations.push_back(std::move(deviation));
  }
  const xla::PrimitiveType type = reference.shape().element_type();
  const double spacing = RelativeSpacing(type);
  LeafComparison leaf;
  leaf.elements = leaf.floats = static_cast<int64_t>(y.size());
  double squares = 0;
  for (double value : y) {
    if (!std::isfinite(value)) continue;
    ++leaf.finite;
    squares += value * value;
  }
  const double size = leaf.finite > 0 ? std::sqrt(squares / static_cast<double>(leaf.finite)) : 0;
  // Denormal numbers may be flushed to zero.
  const bool wide = type == xla::F64 || type == xla::C128;
  const double tiny = wide              ? std::numeric_limits<double>::min()
                      : type == xla::F16 ? 0x1.0p-24
                                         : std::numeric_limits<float>::min();
  const Judgement judgement = Judge(y, z, deviations, -1, spacing, tiny, size);
  leaf.over = judgement.over;
  leaf.unstable = judgement.unstable;
  leaf.resolved = judgement.resolved;
  leaf.worst_error = judgement.worst_error;
  leaf.worst_absolute = judgement.worst_absolute;
  if (leaf.over > 0 && deviations.size() > 1) {
    for (size_t k = 0; k < deviations.size(); ++k) {
      const Values run = FloatValues(*noisy[k]);
      leaf.held_out_over = std::max(
          leaf.held_out_over,
          Judge(y, run, deviations, static_cast<int>(k), spacing, tiny, size).over);
    }
  }
  leaf.outcome = Weigh(leaf.over, leaf.held_out_over);
  return leaf;
}

template <class T>
LeafComparison CompareExact(const xla::Literal& reference, const xla::Literal& candidate,
                            const std::vector<const xla::Literal*>& noisy) {
  const auto y = reference.data<T>();
  const auto z = candidate.data<T>();
  LeafComparison leaf;
  leaf.elements = static_cast<int64_t>(y.size());
  std::vector<int64_t> alone(noisy.size(), 0);
  for (size_t i = 0; i < y.size(); ++i) {
    size_t moved = 0;
    size_t last = 0;
    for (size_t k = 0; k < noisy.size(); ++k) {
      if (noisy[k]->data<T>()[i] == y[i]) continue;
      ++moved;
      last = k;
    }
    if (moved == 1) ++alone[last];
    if (z[i] == y[i]) continue;
    if (moved > 0) {
      ++leaf.unstable;
      continue;
    }
    ++leaf.over;
    leaf.worst_error = kInfinity;
    leaf.worst_absolute = std::max(
        leaf.worst_absolute, std::fabs(static_cast<double>(z[i]) - static_cast<double>(y[i])));
  }
  for (int64_t count : alone) leaf.held_out_over = std::max(leaf.held_out_over, count);
  leaf.outcome = Weigh(leaf.over, leaf.held_out_over);
  return leaf;
}

}  // namespace

bool SameBytes(const xla::Literal& reference, const xla::Literal& candidate) {
  return reference.size_bytes() == candidate.size_bytes() &&
         std::memcmp(reference.untyped_data(), candidate.untyped_data(),
                     reference.size_bytes()) == 0;
}

LeafComparison CompareLeaf(const xla::Literal& reference, const xla::Literal& candidate,
                           const std::vector<const xla::Literal*>& noisy) {
  LeafComparison leaf;
  xla::primitive_util::ArrayTypeSwitch(
      [&](auto constant) {
        using T = xla::primitive_util::NativeTypeOf<constant>;
        if constexpr (xla::primitive_util::IsIntegralType(constant) || std::is_same_v<T, bool>) {
          leaf = CompareExact<T>(reference, candidate, noisy);
        } else {
          leaf = CompareFloats(reference, candidate, noisy);
        }
      },
      reference.shape().element_type());
  return leaf;
}

}  // namespace hone::compiler
