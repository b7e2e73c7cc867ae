#include "compiler/run/tolerance.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "compiler/run/rounding_noise.h"
#include "core/judge.h"
#include "xla/primitive_util.h"

namespace hone::compiler {
namespace {

constexpr int64_t kStretch = 32 << 15;  // whole blocks of Judge
constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Values = std::vector<double>;

// Real components [begin, begin + count): of complex elements, real and imaginary parts in turn.
Values FloatValues(const xla::Literal& literal, int64_t begin, int64_t count) {
  Values values(count);
  const auto copy = [&](const auto* data) {
    for (int64_t i = 0; i < count; ++i) values[i] = static_cast<double>(data[begin + i]);
  };
  switch (literal.shape().element_type()) {
    case xla::C64:
      copy(static_cast<const float*>(literal.untyped_data()));
      break;
    case xla::C128:
      copy(static_cast<const double*>(literal.untyped_data()));
      break;
    default:
      xla::primitive_util::FloatingPointTypeSwitch(
          [&](auto constant) {
            copy(literal.data<xla::primitive_util::NativeTypeOf<constant>>().data());
          },
          literal.shape().element_type());
  }
  return values;
}

// Judges all of an output, a stretch at a time, for these are several copies in double precision.
Judgement JudgeAll(const xla::Literal& reference, const xla::Literal& candidate,
                   const std::vector<const xla::Literal*>& noisy, int64_t count,
                   const Scale& scale) {
  Judgement judgement;
  for (int64_t begin = 0; begin < count; begin += kStretch) {
    const int64_t length = std::min(kStretch, count - begin);
    std::vector<Values> values;
    for (const xla::Literal* run : noisy) values.push_back(FloatValues(*run, begin, length));
    std::vector<const Values*> runs;
    for (const Values& run : values) runs.push_back(&run);
    Judge(FloatValues(reference, begin, length), FloatValues(candidate, begin, length), runs, scale,
          &judgement);
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
  const xla::PrimitiveType type = reference.shape().element_type();
  const bool complex = type == xla::C64 || type == xla::C128;
  const int64_t count = reference.element_count() * (complex ? 2 : 1);
  LeafComparison leaf;
  leaf.elements = leaf.floats = count;
  double squares = 0;
  for (int64_t begin = 0; begin < count; begin += kStretch) {
    for (double value : FloatValues(reference, begin, std::min(kStretch, count - begin))) {
      if (!std::isfinite(value)) continue;
      ++leaf.finite;
      squares += value * value;
    }
  }
  Scale scale;
  scale.spacing = RelativeSpacing(type);
  scale.tiny = type == xla::F64 || type == xla::C128 ? std::numeric_limits<double>::min()
               : type == xla::F16                    ? 0x1.0p-24
                                                     : std::numeric_limits<float>::min();
  scale.size = leaf.finite > 0 ? std::sqrt(squares / static_cast<double>(leaf.finite)) : 0;
  const Judgement judgement = JudgeAll(reference, candidate, noisy, count, scale);
  leaf.over = judgement.over;
  leaf.unstable = judgement.unstable;
  leaf.resolved = judgement.resolved;
  leaf.worst_error = judgement.worst_error;
  leaf.worst_absolute = judgement.worst_absolute;
  for (size_t k = 0; leaf.over > 0 && noisy.size() > 1 && k < noisy.size(); ++k) {
    std::vector<const xla::Literal*> others = noisy;
    others.erase(others.begin() + static_cast<int64_t>(k));
    leaf.held_out_over =
        std::max(leaf.held_out_over, JudgeAll(reference, *noisy[k], others, count, scale).over);
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
         std::memcmp(reference.untyped_data(), candidate.untyped_data(), reference.size_bytes()) ==
             0;
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
