#include "device/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/judge.h"
#include "core/rng.h"
#include "device/element_types.h"

namespace hone::device {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kSamples = 3;             // runs on moved inputs
constexpr double kLeastFinite = 0.01;   // below these shares a match of finite, or of
constexpr double kLeastResolved = 0.5;  // well-determined, elements shows nothing
constexpr int kFewBits = 8;             // values of no more significant bits are left alone

using Numbers = std::vector<double>;

// None is fine; as many as the samples have among themselves are as good; five times as many are
// too many.
Outcome Weigh(int64_t over, int64_t held_out_over) {
  if (over <= held_out_over) return Outcome::kEqual;
  return over < 5 * held_out_over ? Outcome::kDoubtful : Outcome::kDifferent;
}

OutputComparison CompareNumbers(const ElementType& type, const DeviceArray& reference,
                                const DeviceArray& candidate,
                                const std::vector<const DeviceArray*>& samples) {
  const size_t count = reference.bytes.size() / type.bytes;
  const auto read = [&](const DeviceArray& array) {
    return Values(type, array.bytes.data(), 0, count);
  };
  const Numbers y = read(reference);
  const Numbers z = read(candidate);
  std::vector<Numbers> moved;
  for (const DeviceArray* sample : samples) moved.push_back(read(*sample));
  std::vector<const Numbers*> all;
  for (const Numbers& one : moved) all.push_back(&one);
  OutputComparison result;
  result.floats = static_cast<int64_t>(y.size());
  double squares = 0;
  for (double value : y) {
    if (!std::isfinite(value)) continue;
    ++result.finite;
    squares += value * value;
  }
  Scale scale;
  scale.spacing = RelativeSpacing(type);
  scale.tiny = Negligible(type);
  scale.size = result.finite > 0 ? std::sqrt(squares / static_cast<double>(result.finite)) : 0;
  Judgement judgement;
  Judge(y, z, all, scale, &judgement);
  result.over = judgement.over;
  result.resolved = judgement.resolved;
  result.worst_error = judgement.worst_error;
  result.worst_absolute = judgement.worst_absolute;
  for (size_t k = 0; result.over > 0 && all.size() > 1 && k < all.size(); ++k) {
    std::vector<const Numbers*> others = all;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(k));
    Judgement held_out;
    Judge(y, *all[k], others, scale, &held_out);
    result.held_out_over = std::max(result.held_out_over, held_out.over);
  }
  result.outcome = Weigh(result.over, result.held_out_over);
  return result;
}

OutputComparison CompareExactly(const ElementType& type, const DeviceArray& reference,
                                const DeviceArray& candidate,
                                const std::vector<const DeviceArray*>& samples) {
  OutputComparison result;
  const size_t count = reference.bytes.size() / type.bytes;
  std::vector<int64_t> alone(samples.size(), 0);
  const auto same = [&](const DeviceArray& array, size_t i) {
    const size_t at = i * type.bytes;
    return std::memcmp(reference.bytes.data() + at, array.bytes.data() + at, type.bytes) == 0;
  };
  for (size_t i = 0; i < count; ++i) {
    size_t moved = 0;
    size_t last = 0;
    for (size_t k = 0; k < samples.size(); ++k) {
      if (same(*samples[k], i)) continue;
      ++moved;
      last = k;
    }
    if (moved == 1) ++alone[last];
    if (moved == 0 && !same(candidate, i)) ++result.over;
  }
  for (int64_t one : alone) result.held_out_over = std::max(result.held_out_over, one);
  if (result.over > 0) result.worst_error = kInfinity;
  result.outcome = Weigh(result.over, result.held_out_over);
  return result;
}

// Moves the number at `bytes` by a unit in its last place. Numbers of one sign are ordered as their
// bits are.
template <class Bits>
void Move(char* bytes, int mantissa_bits, int exponent_bits, bool up) {
  Bits bits;
  std::memcpy(&bits, bytes, sizeof(Bits));
  const Bits mantissa = bits & ((Bits{1} << mantissa_bits) - 1);
  const Bits most = (Bits{1} << exponent_bits) - 1;
  const Bits exponent = static_cast<Bits>(bits >> mantissa_bits) & most;
  if (exponent == most || exponent == 0) return;  // not finite, zero or close to it
  const int unused =
      mantissa == 0 ? mantissa_bits : std::min(mantissa_bits, __builtin_ctzll(mantissa));
  if (mantissa_bits - unused < std::min(kFewBits, mantissa_bits - 2)) return;
  bits = static_cast<Bits>(up ? bits + 1 : bits - 1);
  std::memcpy(bytes, &bits, sizeof(Bits));
}

std::string ShapeText(const DeviceArray& array) {
  std::string text = array.type + "[";
  for (size_t i = 0; i < array.dimensions.size(); ++i) {
    text += (i == 0 ? "" : ",") + std::to_string(array.dimensions[i]);
  }
  return text + "]";
}

// One comparison of two programs.
class Comparison {
 public:
  Comparison(RemoteDevice& device, const DeviceProgram& a, const DeviceProgram& b,
             const MakeInputSet& make_inputs, const CompareOptions& options)
      : device_(device), a_(a), b_(b), make_inputs_(make_inputs), options_(options) {}

  ComparisonReport Run() {
    report_.method = "run on " + device_.device().kind + " by its plugin";
    for (int set = 0; set < std::max(1, options_.inputs); ++set) {
      if (set > 0 && Seconds() > options_.budget_seconds) break;
      if (!RunSet(set)) return Finished();
      ++report_.inputs;
    }
    if (floats_ > 0 && best_finite_ < kLeastFinite) {
      CannotTell(
          "almost no element of the results is finite on any input: equal NaNs and "
          "infinities show nothing");
    } else if (floats_ > 0 && best_resolved_ < kLeastResolved) {
      CannotTell(
          "rounding reaches too far: on every input most results vary by more than a tenth "
          "of their size between runs of the reference itself");
    } else {
      report_.verdict = Verdict::kEqual;
    }
    return Finished();
  }

 private:
  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  ComparisonReport Finished() {
    report_.seconds = Seconds();
    report_.finite_share =
        floats_ > 0 ? static_cast<double>(finite_) / static_cast<double>(floats_) : 1;
    return std::move(report_);
  }

  bool CannotTell(const std::string& reason) {
    report_.verdict = Verdict::kCannotTell;
    report_.reason = reason;
    return false;
  }

  // False where the verdict is in the report.
  bool RunSet(int set) {
    const StatusOr<InputSet> made = make_inputs_(set);
    if (!made) return CannotTell(made.error().message);
    const auto y = device_.Run(a_, made->inputs);
    if (!y) return CannotTell("the reference: " + y.error().message);
    const auto z = device_.Run(b_, made->inputs);
    if (!z) return CannotTell("the candidate: " + z.error().message);
    if (y->size() != z->size()) return Different("they have different numbers of outputs");
    bool equal = true;
    for (size_t k = 0; k < y->size(); ++k) {
      if ((*y)[k].type != (*z)[k].type || (*y)[k].dimensions != (*z)[k].dimensions) {
        return Different(
            fmt::format("output {} is {} and {}", k, ShapeText((*y)[k]), ShapeText((*z)[k])));
      }
      equal = equal && (*y)[k].bytes == (*z)[k].bytes;
    }
    std::vector<std::vector<DeviceArray>> samples;
    if (!equal) {
      for (int k = 0; k < kSamples; ++k) {
        const uint64_t seed = options_.seed * 64 + static_cast<uint64_t>(set * kSamples + k);
        auto sample = device_.Run(a_, Perturbed(made->inputs, seed));
        if (!sample) return CannotTell("the reference, on moved inputs: " + sample.error().message);
        samples.push_back(*std::move(sample));
      }
      AddCpu(*made, *y, samples);
    }
    return JudgeSet(*y, *z, samples, equal);
  }

  // What XLA:CPU computes, as a sample, where it is of the same shapes.
  static void AddCpu(const InputSet& made, const std::vector<DeviceArray>& y,
                     std::vector<std::vector<DeviceArray>>& samples) {
    if (made.cpu_results.size() != y.size()) return;
    std::vector<DeviceArray> sample = y;
    for (size_t k = 0; k < y.size(); ++k) {
      if (made.cpu_results[k].size() != y[k].bytes.size()) return;
      sample[k].bytes = made.cpu_results[k];
    }
    samples.push_back(std::move(sample));
  }

  bool JudgeSet(const std::vector<DeviceArray>& y, const std::vector<DeviceArray>& z,
                const std::vector<std::vector<DeviceArray>>& samples, bool equal) {
    Outcome worst = Outcome::kEqual;
    int64_t floats = 0, finite = 0, resolved = 0, over = 0;
    std::vector<OutputError> errors;
    for (size_t k = 0; k < y.size(); ++k) {
      std::vector<const DeviceArray*> own;
      for (const auto& sample : samples) own.push_back(&sample[k]);
      const OutputComparison output = CompareOutput(y[k], z[k], own);
      worst = std::max(worst, output.outcome);
      floats += output.floats;
      finite += output.finite;
      resolved += equal ? output.finite : output.resolved;
      over += output.over;
      if (output.over == 0) report_.worst_error = std::max(report_.worst_error, output.worst_error);
      if (output.outcome == Outcome::kEqual) continue;
      errors.push_back({static_cast<int>(k), ShapeText(y[k]), output.worst_error,
                        output.worst_absolute, output.over});
    }
    floats_ += floats;
    finite_ += finite;
    best_finite_ = std::max(best_finite_, Share(finite, floats));
    best_resolved_ = std::max(best_resolved_, Share(resolved, finite));
    if (worst == Outcome::kEqual) return true;
    std::stable_sort(errors.begin(), errors.end(), [](const OutputError& p, const OutputError& q) {
      return p.worst_error > q.worst_error;
    });
    report_.worst_error = errors.front().worst_error;
    const std::string where = fmt::format(
        "{} of {} outputs differ on the device, worst in output {} ({}): {} elements beyond their "
        "tolerance",
        errors.size(), y.size(), errors.front().output, errors.front().shape, over);
    errors.resize(std::min<size_t>(errors.size(), 16));
    report_.errors = std::move(errors);
    ++report_.inputs;
    if (worst == Outcome::kDifferent) return Different(where);
    return CannotTell(where + ": too few to accuse, too many to excuse");
  }

  static double Share(int64_t part, int64_t whole) {
    return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
  }

  bool Different(const std::string& reason) {
    report_.verdict = Verdict::kDifferent;
    report_.reason = reason;
    return false;
  }

  RemoteDevice& device_;
  const DeviceProgram& a_;
  const DeviceProgram& b_;
  const MakeInputSet& make_inputs_;
  const CompareOptions& options_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  ComparisonReport report_;
  int64_t floats_ = 0, finite_ = 0;
  double best_finite_ = 0, best_resolved_ = 0;
};

}  // namespace

OutputComparison CompareOutput(const DeviceArray& reference, const DeviceArray& candidate,
                               const std::vector<const DeviceArray*>& samples) {
  const ElementType& type = *FindElementType(reference.type);
  return type.kind == NumberKind::kExact ? CompareExactly(type, reference, candidate, samples)
                                         : CompareNumbers(type, reference, candidate, samples);
}

DeviceInputs Perturbed(const DeviceInputs& inputs, uint64_t seed) {
  DeviceInputs moved = inputs;
  moved.name += fmt::format(", moved by {}", seed);
  Rng random(seed);
  for (DeviceArray& array : moved.arrays) {
    const ElementType* const type = FindElementType(array.type);
    if (type == nullptr || type->kind == NumberKind::kExact) continue;
    const size_t width = type->bytes / (type->kind == NumberKind::kComplex ? 2 : 1);
    const int mantissa = type->mantissa_bits;
    const int exponent = type->exponent_bits;
    for (size_t at = 0; at + width <= array.bytes.size(); at += width) {
      char* const bytes = array.bytes.data() + at;
      const bool up = (random.Next() >> 63) != 0;
      if (width == 8) Move<uint64_t>(bytes, mantissa, exponent, up);
      if (width == 4) Move<uint32_t>(bytes, mantissa, exponent, up);
      if (width == 2) Move<uint16_t>(bytes, mantissa, exponent, up);
      if (width == 1) Move<uint8_t>(bytes, mantissa, exponent, up);
    }
  }
  return moved;
}

ComparisonReport Compare(RemoteDevice& device, const DeviceProgram& a, const DeviceProgram& b,
                         const MakeInputSet& make_inputs, const CompareOptions& options) {
  return Comparison(device, a, b, make_inputs, options).Run();
}

}  // namespace hone::device
