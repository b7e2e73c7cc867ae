#include <cmath>

#include "memory/simulator/simulate.h"

namespace hone::memory {
namespace {

double RoundingUnit(ElementType type) {
  switch (type) {
    case ElementType::kBf16:
      return std::ldexp(1.0, -8);
    case ElementType::kF16:
      return std::ldexp(1.0, -11);
    case ElementType::kF64:
    case ElementType::kC128:
      return std::ldexp(1.0, -53);
    default:
      return std::ldexp(1.0, -24);
  }
}

std::complex<double> At(const Array& array, int64_t at) {
  return KindOf(array.type) == ValueKind::kComplex ? array.complexes[static_cast<size_t>(at)]
                                                   : AsReal(array, at);
}

}  // namespace

OutputCheck CompareOutputs(const Network& network, const std::vector<Array>& outputs,
                           const Evaluation& reference) {
  OutputCheck check;
  const auto differ = [&](size_t k, const std::string& what) {
    check.reason = "output " + std::to_string(k) + ": " + what;
    return check;
  };
  if (outputs.size() != reference.results.size()) return differ(outputs.size(), "is missing");
  for (size_t k = 0; k < outputs.size(); ++k) {
    const Array& ours = outputs[k];
    const auto& dimensions = network.exprs[static_cast<size_t>(network.outputs[k])].dimensions;
    const Array xla = Decode(reference.results[k], ours.type, dimensions);
    const Array noisy = Decode(reference.noisy_results[k], ours.type, dimensions);
    const int64_t count = Elements(dimensions);
    if (KindOf(ours.type) == ValueKind::kInteger) {
      int64_t unequal = 0, unstable = 0;
      for (int64_t i = 0; i < count; ++i) {
        const auto at = static_cast<size_t>(i);
        unequal += ours.integers[at] != xla.integers[at];
        unstable += noisy.integers[at] != xla.integers[at];
      }
      // Choices that rounding noise turns over may fall otherwise here, too.
      if (unequal > 2 * unstable) {
        return differ(k, std::to_string(unequal) + " integers are not equal");
      }
      continue;
    }
    double squares = 0, noise = 0;
    for (int64_t i = 0; i < count; ++i) {
      const double magnitude = std::abs(At(xla, i));
      if (std::isfinite(magnitude)) squares += magnitude * magnitude;
      const double moved = std::abs(At(noisy, i) - At(xla, i));
      if (std::isfinite(moved)) noise = std::max(noise, moved);
    }
    const double size = count > 0 ? std::sqrt(squares / static_cast<double>(count)) : 0;
    const double unit = RoundingUnit(ours.type);
    for (int64_t i = 0; i < count; ++i) {
      const std::complex<double> a = At(ours, i), b = At(xla, i);
      if (!std::isfinite(std::abs(b)) || !std::isfinite(std::abs(a))) {
        const bool same = (std::isnan(std::abs(a)) && std::isnan(std::abs(b))) || a == b ||
                          !std::isfinite(std::abs(At(noisy, i)));
        if (!same) return differ(k, "not finite in one place only");
        continue;
      }
      const double tolerance = 32 * noise + 64 * unit * (size + std::abs(b));
      const double error = std::abs(a - b);
      if (error == 0) continue;
      check.worst = std::max(check.worst, tolerance > 0 ? error / tolerance : 1e30);
    }
    if (check.worst > 1) return differ(k, "differs by more than rounding explains");
  }
  check.equal = true;
  return check;
}

}  // namespace hone::memory
