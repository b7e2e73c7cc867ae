// How far a result may lie from a reference, from how far noisy runs of the reference lie from it:
// the rule that every comparison of floating-point outputs goes by.
#ifndef HONE_CORE_JUDGE_H_
#define HONE_CORE_JUDGE_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace hone {

// What tolerances need to know of a type and of an output as a whole.
struct Scale {
  double spacing = 0;  // of numbers, relative to their size
  double tiny = 0;     // denormal numbers may be flushed to zero
  double size = 0;     // root mean square of the finite elements
};

struct Judgement {
  int64_t over = 0;  // elements beyond their tolerance
  int64_t unstable =
      0;  // that differ where a noisy run is NaN or infinite and the reference is not
  int64_t resolved = 0;       // with a tolerance below a tenth of their size, or of the output's
  double worst_error = 0;     // |z - y| as a multiple of its tolerance
  double worst_absolute = 0;  // |z - y| among finite elements
};

// |a - b|, infinite where they differ in being NaN or infinite.
inline double Distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  if (!std::isfinite(a) || !std::isfinite(b)) return std::numeric_limits<double>::infinity();
  return std::fabs(a - b);
}

// Adds to the judgement. All have as many elements; noise is judged 32 neighbours at a time.
inline void Judge(const std::vector<double>& reference, const std::vector<double>& candidate,
                  const std::vector<const std::vector<double>*>& noisy, const Scale& scale,
                  Judgement* judgement) {
  constexpr double kFactor = 4;
  constexpr int64_t kBlock = 32;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::array<double, kBlock> spread;
  const auto count = static_cast<int64_t>(reference.size());
  for (int64_t start = 0; start < count; start += kBlock) {
    const int64_t length = std::min(kBlock, count - start);
    double squares = 0;
    int64_t finite = 0;
    for (int64_t j = 0; j < length; ++j) {
      spread[j] = 0;
      for (const std::vector<double>* run : noisy) {
        spread[j] = std::max(spread[j], Distance(reference[start + j], (*run)[start + j]));
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
        judgement->unstable += distance > 0;
        continue;
      }
      double tolerance = scale.tiny;
      if (std::isfinite(y)) {
        tolerance += kFactor * std::max({spread[j], rms, scale.spacing * std::fabs(y)});
        judgement->resolved += tolerance < 0.1 * std::max(std::fabs(y), scale.size);
      }
      if (distance < kInfinity) {
        judgement->worst_absolute = std::max(judgement->worst_absolute, distance);
      }
      const double error = distance == kInfinity ? kInfinity : distance / tolerance;
      judgement->worst_error = std::max(judgement->worst_error, error);
      judgement->over += error > 1;
    }
  }
}

}  // namespace hone

#endif  // HONE_CORE_JUDGE_H_
