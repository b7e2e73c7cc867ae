#include <cmath>
#include <cstdint>
#include <optional>

#include "memory/simulator/given.h"
#include "memory/simulator/simulate.h"
#include "memory/values/evaluate.h"

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

// By how much the elements of each output move when every elementwise result on the way is moved by
// about a unit in its last place, up or down: what is rounding where numbers cancel that came from
// no input. None where that cannot be computed.
std::vector<double> NoiseOnTheWay(const Network& network, const Evaluation& reference) {
  std::vector<std::optional<Array>> given(network.tensors.size());
  bool lacking = false;
  const ReadTensor leaves = [&](TensorId id, const Box& box) {
    const Tensor& tensor = network.tensors[static_cast<size_t>(id)];
    std::optional<Array>& whole = given[static_cast<size_t>(id)];
    if (!whole) whole = GivenValues(tensor, reference);
    lacking = lacking || !whole;
    return whole ? Cut(*whole, box) : MakeArray(tensor.type, box);
  };
  uint32_t random = 1;
  const ChangeResult shake = [&](const Op& op, Array& result) {
    if (!IsElementwise(op.opcode)) return;
    const double unit = 2 * RoundingUnit(result.type);
    for (double& value : result.reals) {
      random = random * 1664525 + 1013904223;  // Numerical Recipes' linear congruences
      value = Round(value * (random >> 31 == 0 ? 1 - unit : 1 + unit), result.type);
    }
  };
  const auto plain = EvaluateNetwork(network, leaves);
  const auto shaken = EvaluateNetwork(network, leaves, shake);
  if (!plain || !shaken || lacking) return {};
  std::vector<double> noise;
  for (size_t k = 0; k < plain->size(); ++k) {
    noise.push_back(0);
    for (int64_t i = 0; i < Elements((*plain)[k].box); ++i) {
      const double moved = std::abs(At((*shaken)[k], i) - At((*plain)[k], i));
      if (std::isfinite(moved)) noise.back() = std::max(noise.back(), moved);
    }
  }
  return noise;
}

}  // namespace

OutputCheck CompareOutputs(const Network& network, const std::vector<Array>& outputs,
                           const Evaluation& reference) {
  OutputCheck check;
  const auto differ = [&](size_t k, const std::string& what) {
    check.reason = "output " + std::to_string(k) + ": " + what;
    return check;
  };
  std::optional<std::vector<double>> on_the_way;  // looked for where it is needed
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
    // The worst error as a share of the tolerance; nothing where one of both is not finite.
    const auto worst = [&](double noise) -> std::optional<double> {
      double share = 0;
      for (int64_t i = 0; i < count; ++i) {
        const std::complex<double> a = At(ours, i), b = At(xla, i);
        if (!std::isfinite(std::abs(b)) || !std::isfinite(std::abs(a))) {
          const bool same = (std::isnan(std::abs(a)) && std::isnan(std::abs(b))) || a == b ||
                            !std::isfinite(std::abs(At(noisy, i)));
          if (!same) return std::nullopt;
          continue;
        }
        const double tolerance = 32 * noise + 64 * unit * (size + std::abs(b));
        const double error = std::abs(a - b);
        if (error > 0) share = std::max(share, tolerance > 0 ? error / tolerance : 1e30);
      }
      return share;
    };
    auto share = worst(noise);
    if (share && *share > 1) {
      if (!on_the_way) on_the_way = NoiseOnTheWay(network, reference);
      if (k < on_the_way->size()) share = worst(std::max(noise, (*on_the_way)[k]));
    }
    if (!share) return differ(k, "not finite in one place only");
    check.worst = std::max(check.worst, *share);
    if (check.worst > 1) return differ(k, "differs by more than rounding explains");
  }
  check.equal = true;
  return check;
}

}  // namespace hone::memory
