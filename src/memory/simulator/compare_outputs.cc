#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "memory/simulator/given.h"
#include "memory/simulator/simulate.h"
#include "memory/values/evaluate.h"
#include "verify/compare_output.h"

namespace hone::memory {
namespace {

constexpr uint32_t kNoises = 3;  // to see which integers hang on rounding

// Half the spacing of numbers, relative to their size.
double RoundingUnit(ElementType type) {
  const verify::ElementType* const known = verify::FindElementType(NameOf(type));
  return known == nullptr ? std::ldexp(1.0, -24) : verify::RelativeSpacing(*known) / 2;
}

// Another library's tanh may be off by a few units.
bool IsTranscendental(std::string_view opcode) {
  static const std::set<std::string_view> opcodes = {
      "exponential", "exponential-minus-one", "log", "log-plus-one", "logistic", "tanh", "tan",
      "sine",        "cosine",                "erf", "power",        "rsqrt",    "cbrt", "atan2"};
  return opcodes.count(opcode) > 0;
}

std::string Encoded(const Array& array) {
  const int64_t count = Elements(array.box);
  const int64_t width = BytesOf(array.type);
  std::string bytes(static_cast<size_t>(count * width), 0);
  if (count > 0) EncodeRun(array, 0, count, bytes.data(), width);
  return bytes;
}

// Parameters and large constants, as XLA had them.
class Leaves {
 public:
  Leaves(const Network& network, const Evaluation& reference)
      : network_(network), reference_(reference), given_(network.tensors.size()) {}

  Array Read(TensorId id, const Box& box) {
    const Tensor& tensor = network_.tensors[static_cast<size_t>(id)];
    std::optional<Array>& whole = given_[static_cast<size_t>(id)];
    if (!whole) whole = GivenValues(tensor, reference_);
    lacking_ = lacking_ || !whole;
    return whole ? Cut(*whole, box) : MakeArray(tensor.type, box);
  }
  bool lacking() const { return lacking_; }

 private:
  const Network& network_;
  const Evaluation& reference_;
  std::vector<std::optional<Array>> given_;
  bool lacking_ = false;
};

// The outputs, moved from XLA's by as much as ours move when every elementwise result on the way is
// moved by about a unit in its last place, up or down: what is rounding where numbers cancel that
// came from no input, and which integers hang on it. Each `seed` has its own noise. Empty where
// that cannot be computed.
std::vector<std::string> NoiseOnTheWay(const Network& network, const Evaluation& reference,
                                       uint32_t seed) {
  Leaves given(network, reference);
  const ReadTensor leaves = [&](TensorId id, const Box& box) { return given.Read(id, box); };
  uint32_t random = seed;
  const ChangeResult shake = [&](const Op& op, Array& result) {
    if (!IsElementwise(op.opcode)) return;
    const double unit = (IsTranscendental(op.opcode) ? 4 : 2) * RoundingUnit(result.type);
    for (double& value : result.reals) {
      random = random * 1664525 + 1013904223;  // Numerical Recipes' linear congruences
      value = Round(value * (random >> 31 == 0 ? 1 - unit : 1 + unit), result.type);
    }
  };
  const auto plain = EvaluateNetwork(network, leaves);
  const auto shaken = EvaluateNetwork(network, leaves, shake);
  if (!plain || !shaken || given.lacking()) return {};
  std::vector<std::string> noise;
  for (size_t k = 0; k < plain->size(); ++k) {
    Array moved =
        Decode(reference.results[k], (*plain)[k].type,
               network.exprs[static_cast<size_t>(network.outputs[k])].dimensions);
    for (size_t i = 0; i < moved.reals.size(); ++i) {
      const double by = (*shaken)[k].reals[i] - (*plain)[k].reals[i];
      if (std::isfinite(by)) moved.reals[i] += by;
    }
    for (size_t i = 0; i < moved.complexes.size(); ++i) {
      const std::complex<double> by = (*shaken)[k].complexes[i] - (*plain)[k].complexes[i];
      if (std::isfinite(std::abs(by))) moved.complexes[i] += by;
    }
    for (size_t i = 0; i < moved.integers.size(); ++i) {
      const auto by = (*shaken)[k].integers[i];
      if (by != (*plain)[k].integers[i]) moved.integers[i] = by;
    }
    noise.push_back(Encoded(moved));
  }
  return noise;
}

bool HasNan(const Array& array) {
  const auto nan = [](const auto& value) { return value != value; };
  return std::any_of(array.reals.begin(), array.reals.end(), nan) ||
         std::any_of(array.complexes.begin(), array.complexes.end(), nan);
}

// multiply(x, convert(truth value)), of which XLA's algebraic simplifier makes a choice: 0 where x
// is no number.
bool MultipliesByTruth(const Network& network, const Op& op) {
  if (op.opcode != "multiply") return false;
  for (ExprId input : op.inputs) {
    for (TensorId leaf : LeavesOf(network, input)) {
      const OpId producer = network.tensors[static_cast<size_t>(leaf)].producer;
      if (producer == kNone) continue;
      const Op& made = network.ops[static_cast<size_t>(producer)];
      const ExprId from = made.inputs.empty() ? kNone : made.inputs[0];
      if (made.opcode == "convert" &&
          network.exprs[static_cast<size_t>(from)].type == ElementType::kPred) {
        return true;
      }
    }
  }
  return false;
}

// Of each output, what it depends on that XLA leaves open: a reduction whose result depends on how
// often the initial value is taken, or a NaN times a truth value; empty where there is none.
std::vector<std::string> OpenMeanings(const Network& network, const Evaluation& reference) {
  std::vector<std::string> of_tensor(network.tensors.size());
  const auto behind = [&](ExprId expr) -> std::string {
    for (TensorId leaf : LeavesOf(network, expr)) {
      const std::string& open = of_tensor[static_cast<size_t>(leaf)];
      if (!open.empty()) return open;
    }
    return {};
  };
  Leaves given(network, reference);
  InitialValueWatch watch;
  const auto values = EvaluateNetwork(
      network, [&](TensorId id, const Box& box) { return given.Read(id, box); },
      [&](const Op& op, const Array& result) {
        std::string open = watch.Noticed();
        if (!open.empty()) {
          open += " begins with a value that is no identity of its function, and XLA leaves open "
                  "how often that is taken";
        } else if (HasNan(result) && MultipliesByTruth(network, op)) {
          open = op.name + " multiplies an infinity or NaN by a truth value; XLA may choose";
        }
        for (size_t k = 0; open.empty() && k < op.inputs.size(); ++k) open = behind(op.inputs[k]);
        if (open.empty()) return;
        for (TensorId id : op.results) of_tensor[static_cast<size_t>(id)] = open;
      });
  std::vector<std::string> of_output(network.outputs.size());
  if (!values || given.lacking()) return of_output;
  for (size_t k = 0; k < of_output.size(); ++k) of_output[k] = behind(network.outputs[k]);
  return of_output;
}

}  // namespace

OutputCheck CompareOutputs(const Network& network, const std::vector<Array>& outputs,
                           const Evaluation& reference) {
  OutputCheck check;
  const auto differ = [&](size_t k, const std::string& what) {
    check.equal = check.unclear = false;
    check.reason = "output " + std::to_string(k) + ": " + what;
    return check;
  };
  if (outputs.size() != reference.results.size()) return differ(outputs.size(), "is missing");
  std::vector<std::vector<std::string>> noises;  // looked for where they are needed
  bool silent = false;                           // there are no more
  std::optional<std::vector<std::string>> open;  // meanings, likewise
  check.equal = true;
  for (size_t k = 0; k < outputs.size(); ++k) {
    const verify::ElementType* const type = verify::FindElementType(NameOf(outputs[k].type));
    if (type == nullptr) return differ(k, "its elements cannot be compared");
    const std::string ours = Encoded(outputs[k]);
    const auto view = [&](const std::string& bytes) {
      const auto& dimensions = network.exprs[static_cast<size_t>(network.outputs[k])].dimensions;
      return verify::ArrayView{*type, dimensions, bytes.data(),
                               static_cast<int64_t>(bytes.size() / type->bytes)};
    };
    if (reference.results[k].size() != ours.size()) return differ(k, "has another size");
    const auto compare = [&](size_t most_noises) {
      std::vector<verify::ArrayView> samples;
      for (const auto& run : reference.noisy_results) samples.push_back(view(run[k]));
      for (size_t n = 0; n < most_noises; ++n) samples.push_back(view(noises[n][k]));
      return verify::CompareOutput(view(reference.results[k]), view(ours), samples);
    };
    verify::OutputComparison found = compare(0);
    if (found.outcome > verify::Outcome::kFlips) {
      const bool exact = type->kind == verify::NumberKind::kExact;
      const std::string what = exact ? " integers are not equal"
                                     : " numbers differ by more than rounding explains";
      // Who asks without XLA's further runs asks again with them.
      if (reference.noisy_results.empty()) return differ(k, std::to_string(found.over) + what);
      const size_t most = exact ? kNoises : 1;
      while (!silent && noises.size() < most) {
        auto noise = NoiseOnTheWay(network, reference, static_cast<uint32_t>(noises.size() + 1));
        silent = noise.empty();
        if (!silent) noises.push_back(std::move(noise));
      }
      found = compare(std::min(most, noises.size()));
      // Ours moves more than XLA's runs do: that explains a distance, but excuses no flips.
      const bool moved = !noises.empty() && found.outcome == verify::Outcome::kFlips;
      if (found.outcome == verify::Outcome::kDifferent) {
        if (!open) open = OpenMeanings(network, reference);
        if ((*open)[k].empty()) return differ(k, std::to_string(found.over) + what);
        check.unclear = true;
        check.equal = false;
        check.reason = "output " + std::to_string(k) + ": " + (*open)[k];
        continue;
      }
      if (moved || found.outcome > verify::Outcome::kFlips) {
        check.unclear = true;
        check.equal = false;
        check.reason = "output " + std::to_string(k) +
                       ": decisions in the program hang on the last bit of a number";
        continue;
      }
    }
    if (found.outcome == verify::Outcome::kEqual) {
      check.worst = std::max(check.worst, found.worst_error);
    }
  }
  return check;
}

}  // namespace hone::memory
