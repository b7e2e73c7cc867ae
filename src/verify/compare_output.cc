#include "verify/compare_output.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <thread>

#include "verify/rule.h"

namespace hone::verify {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kStretch = kBlock << 9;   // elements read at a time: they fit into caches
constexpr int64_t kManyElements = 1 << 20;  // from here on, several threads
constexpr unsigned kMostThreads = 8;

// What tolerances need to know of an output as a whole.
struct Scale {
  double spacing = 0;  // of numbers, relative to their size
  double tiny = 0;     // denormal numbers may be flushed to zero
  double size = 0;     // root mean square of the finite elements
};

// An output as a whole, added up over its elements.
struct Whole {
  struct Run {
    double off = 0;  // distances in one direction, that of the output itself: times the reference
    double distance = 0;  // squared
  };
  double squares = 0;   // of the reference
  double spread = 0;    // what an element may be off by, times the reference's size
  double rounding = 0;  // squared: what it is by the rounding of the result alone, times the same
  Run candidate;
  std::vector<Run> own;  // the samples

  void Add(const Whole& other) {
    const auto add = [](Run& to, const Run& run) {
      to.off += run.off;
      to.distance += run.distance;
    };
    squares += other.squares;
    spread += other.spread;
    rounding += other.rounding;
    add(candidate, other.candidate);
    own.resize(std::max(own.size(), other.own.size()));
    for (size_t k = 0; k < other.own.size(); ++k) add(own[k], other.own[k]);
  }

  // Whether the candidate is no farther from the reference than a sample is.
  bool IsNear() const {
    return std::any_of(own.begin(), own.end(),
                       [&](const Run& run) { return candidate.distance <= run.distance; });
  }
};

struct Judgement {
  int64_t over = 0;
  int64_t unstable = 0;
  int64_t resolved = 0;
  int64_t resolved_near = 0;  // where the output as a whole is near
  double worst_error = 0;
  double worst_absolute = 0;
  double whole_error = 0;  // of the whole output
  double scale = 1;        // by which the candidate is nearest to the reference

  void Resolve(double y, double tolerance, const Scale& of) {
    const double most = kResolved * std::max(std::fabs(y), of.size);
    resolved += tolerance < most;
    resolved_near += tolerance < kFactor * most;
  }

  void Add(const Judgement& other) {
    over += other.over;
    unstable += other.unstable;
    resolved += other.resolved;
    resolved_near += other.resolved_near;
    worst_error = std::max(worst_error, other.worst_error);
    worst_absolute = std::max(worst_absolute, other.worst_absolute);
  }
};

// |a - b|, infinite where they differ in being NaN or infinite.
double Distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  if (!std::isfinite(a) || !std::isfinite(b)) return kInfinity;
  return std::fabs(a - b);
}

// One element's part of Whole::rounding.
double Rounding(double y, const Scale& scale) {
  const double rounding = y * scale.spacing * y;
  return rounding * rounding;
}

// Values of at most kBlock neighbours, by run.
struct Block {
  const double* reference;
  const double* candidate;
  const std::vector<const double*>& samples;
  int64_t length;

  bool IsFinite() const {
    double none = 0;  // NaN as soon as one is not
    const auto add = [&](const double* run) {
      for (int64_t j = 0; j < length; ++j) none += 0 * run[j];
    };
    add(reference);
    add(candidate);
    for (const double* sample : samples) add(sample);
    return none == 0;
  }
};

// The sum of `of(j)` for all j below length: four sums, for each addition waits for the one before.
template <class Of>
double Sum(int64_t length, Of of) {
  double sums[4] = {};
  int64_t j = 0;
  for (; j + 4 <= length; j += 4) {
    for (int64_t lane = 0; lane < 4; ++lane) sums[lane] += of(j + lane);
  }
  for (; j < length; ++j) sums[0] += of(j);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Where all are finite: what JudgeBlock does, without a decision about an element.
void JudgeFinite(const Block& block, const Scale& scale, Judgement* judgement, Whole* whole) {
  const double* const y = block.reference;
  const int64_t length = block.length;
  std::array<double, kBlock> off{};  // how far the samples are
  for (const double* sample : block.samples) {
    for (int64_t j = 0; j < length; ++j) off[j] = std::max(off[j], std::fabs(y[j] - sample[j]));
  }
  const double rms = std::sqrt(Sum(length, [&](int64_t j) { return off[j] * off[j]; }) /
                               static_cast<double>(length));
  for (int64_t j = 0; j < length; ++j) {
    off[j] = std::max(std::max(off[j], rms), scale.spacing * std::fabs(y[j]));
  }
  whole->squares += Sum(length, [&](int64_t j) { return y[j] * y[j]; });
  whole->spread += Sum(length, [&](int64_t j) { return std::fabs(y[j]) * off[j]; });
  whole->rounding += Sum(length, [&](int64_t j) { return Rounding(y[j], scale); });
  const auto add = [&](Whole::Run& run, const double* values) {
    run.off += Sum(length, [&](int64_t j) { return y[j] * (values[j] - y[j]); });
    run.distance += Sum(length, [&](int64_t j) { return (values[j] - y[j]) * (values[j] - y[j]); });
  };
  add(whole->candidate, block.candidate);
  for (size_t k = 0; k < block.samples.size(); ++k) add(whole->own[k], block.samples[k]);
  for (int64_t j = 0; j < length; ++j) {
    const double tolerance = scale.tiny + kFactor * off[j];
    judgement->Resolve(y[j], tolerance, scale);
    const double distance = std::fabs(y[j] - block.candidate[j]);
    judgement->worst_absolute = std::max(judgement->worst_absolute, distance);
    const double error = distance / tolerance;
    judgement->worst_error = std::max(judgement->worst_error, error);
    judgement->over += error > 1;
  }
}

void JudgeBlock(const Block& block, const Scale& scale, Judgement* judgement, Whole* whole) {
  if (block.IsFinite()) return JudgeFinite(block, scale, judgement, whole);
  std::array<double, kBlock> spread;
  double squares = 0;
  int64_t finite = 0;
  for (int64_t j = 0; j < block.length; ++j) {
    spread[j] = 0;
    for (const double* sample : block.samples) {
      spread[j] = std::max(spread[j], Distance(block.reference[j], sample[j]));
    }
    if (spread[j] < kInfinity) {
      squares += spread[j] * spread[j];
      ++finite;
    }
  }
  const double rms = finite > 0 ? std::sqrt(squares / static_cast<double>(finite)) : 0;
  for (int64_t j = 0; j < block.length; ++j) {
    const double y = block.reference[j];
    const double distance = Distance(y, block.candidate[j]);
    if (spread[j] == kInfinity) {
      judgement->unstable += distance > 0;
      continue;
    }
    double tolerance = scale.tiny;
    if (std::isfinite(y)) {
      const double off = std::max({spread[j], rms, scale.spacing * std::fabs(y)});
      tolerance += kFactor * off;
      if (distance < kInfinity) {
        const auto add = [&](Whole::Run& run, double moved) {
          run.off += y * moved;
          run.distance += moved * moved;
        };
        whole->squares += y * y;
        whole->spread += std::fabs(y) * off;
        whole->rounding += Rounding(y, scale);
        add(whole->candidate, block.candidate[j] - y);
        for (size_t k = 0; k < block.samples.size(); ++k) {
          add(whole->own[k], block.samples[k][j] - y);
        }
      }
      judgement->Resolve(y, tolerance, scale);
    }
    if (distance == 0) continue;
    if (distance < kInfinity) {
      judgement->worst_absolute = std::max(judgement->worst_absolute, distance);
    }
    const double error = distance == kInfinity ? kInfinity : distance / tolerance;
    judgement->worst_error = std::max(judgement->worst_error, error);
    judgement->over += error > 1;
  }
}

// Of the real components [begin, end) of arrays; a stretch at a time.
Judgement JudgeRange(const ArrayView& reference, const ArrayView& candidate,
                     const std::vector<const ArrayView*>& samples, const Scale& scale,
                     int64_t begin, int64_t end, std::vector<Whole>* wholes) {
  const int64_t parts = reference.type.kind == NumberKind::kComplex ? 2 : 1;
  std::vector<std::vector<double>> values(samples.size() + 2,
                                          std::vector<double>(kStretch * parts));
  Judgement judgement;
  std::vector<const double*> runs(samples.size());
  for (; begin < end; begin += kStretch) {
    const int64_t length = std::min(kStretch, end - begin);
    const auto read = [&](const ArrayView& array, std::vector<double>& to) {
      ReadValues(array.type, array.data, static_cast<size_t>(begin), static_cast<size_t>(length),
                 to.data());
    };
    read(reference, values[0]);
    read(candidate, values[1]);
    for (size_t k = 0; k < samples.size(); ++k) read(*samples[k], values[k + 2]);
    Whole& whole = (*wholes)[static_cast<size_t>(begin / kStretch)];
    whole.own.assign(samples.size(), {});
    for (int64_t i = 0; i < length * parts; i += kBlock) {
      for (size_t k = 0; k < samples.size(); ++k) runs[k] = values[k + 2].data() + i;
      JudgeBlock(
          {values[0].data() + i, values[1].data() + i, runs, std::min(kBlock, length * parts - i)},
          scale, &judgement, &whole);
    }
  }
  return judgement;
}

// Calls `work` with [begin, end) of parts of `count` elements, each in a thread of its own where
// they are many. Parts begin at whole stretches, so that results do not depend on their number.
void InParts(int64_t count, const std::function<void(size_t, int64_t, int64_t)>& work,
             size_t parts) {
  const int64_t stretches = (count + kStretch - 1) / kStretch;
  const auto begin = [&](size_t part) {
    return std::min(
        count, stretches * static_cast<int64_t>(part) / static_cast<int64_t>(parts) * kStretch);
  };
  std::vector<std::thread> threads;
  for (size_t part = 1; part < parts; ++part) {
    threads.emplace_back(work, part, begin(part), begin(part + 1));
  }
  work(0, 0, begin(1));
  for (std::thread& thread : threads) thread.join();
}

size_t PartsOf(int64_t count) {
  if (count < kManyElements) return 1;
  return std::clamp(std::thread::hardware_concurrency(), 1u, kMostThreads);
}

// How far the candidate is off in the direction of the output, by what it may be: a scale that is
// wrong by a little is within every element's tolerance, but noise has no direction.
double WholeError(const Whole& whole) {
  double most = std::max(
      {kBias * whole.spread, kLeastBias * whole.squares, kFactor * std::sqrt(whole.rounding)});
  for (const Whole::Run& own : whole.own) most = std::max(most, kFactor * std::fabs(own.off));
  const double error = std::fabs(whole.candidate.off) / most;
  return most > 0 && std::isfinite(error) ? error : 0;
}

Judgement Judge(const ArrayView& reference, const ArrayView& candidate,
                const std::vector<const ArrayView*>& samples, const Scale& scale) {
  std::vector<Judgement> judgements(PartsOf(reference.elements));
  // Added up in stretches, so that the sum does not depend on the number of threads.
  std::vector<Whole> wholes(static_cast<size_t>((reference.elements + kStretch - 1) / kStretch));
  InParts(
      reference.elements,
      [&](size_t part, int64_t begin, int64_t end) {
        judgements[part] = JudgeRange(reference, candidate, samples, scale, begin, end, &wholes);
      },
      judgements.size());
  Judgement all;
  for (const Judgement& judgement : judgements) all.Add(judgement);
  Whole whole;
  for (const Whole& stretch : wholes) whole.Add(stretch);
  all.whole_error = WholeError(whole);
  if (whole.squares > 0) all.scale = 1 + whole.candidate.off / whole.squares;
  if (whole.IsNear()) all.resolved = all.resolved_near;
  return all;
}

// Adds up in stretches, so that the sum does not depend on the number of threads.
void MeasureSize(const ArrayView& array, OutputComparison* result, Scale* scale) {
  const int64_t parts = array.type.kind == NumberKind::kComplex ? 2 : 1;
  const auto stretches = static_cast<size_t>((array.elements + kStretch - 1) / kStretch);
  std::vector<double> squares(stretches, 0);
  std::vector<int64_t> finite(stretches, 0), infinite(stretches, 0);
  InParts(
      array.elements,
      [&](size_t, int64_t begin, int64_t end) {
        std::vector<double> values(kStretch * parts);
        for (; begin < end; begin += kStretch) {
          const int64_t length = std::min(kStretch, end - begin);
          const auto at = static_cast<size_t>(begin / kStretch);
          ReadValues(array.type, array.data, static_cast<size_t>(begin),
                     static_cast<size_t>(length), values.data());
          for (int64_t i = 0; i < length * parts; ++i) {
            infinite[at] += std::isinf(values[i]);
            if (!std::isfinite(values[i])) continue;
            ++finite[at];
            squares[at] += values[i] * values[i];
          }
        }
      },
      PartsOf(array.elements));
  double sum = 0;
  for (size_t i = 0; i < stretches; ++i) {
    sum += squares[i];
    result->finite += finite[i];
    result->infinite += infinite[i];
  }
  result->elements = result->floats = array.elements * parts;
  scale->spacing = RelativeSpacing(array.type);
  scale->tiny = Negligible(array.type);
  scale->size = result->finite > 0 ? std::sqrt(sum / static_cast<double>(result->finite)) : 0;
}

// From how many elements are beyond their tolerance in the candidate and in held-out samples.
Outcome Weigh(int64_t over, int64_t held_out_over) {
  if (over == 0) return Outcome::kEqual;
  if (held_out_over == 0) return Outcome::kDifferent;
  if (over <= kFlips * held_out_over + 1) return Outcome::kFlips;
  return over <= kDoubt * held_out_over ? Outcome::kDoubtful : Outcome::kDifferent;
}

OutputComparison CompareFloats(const ArrayView& reference, const ArrayView& candidate,
                               const std::vector<ArrayView>& samples) {
  OutputComparison result;
  Scale scale;
  MeasureSize(reference, &result, &scale);
  if (SameBytes(reference, candidate)) {
    result.resolved = result.finite;
    return result;
  }
  std::vector<const ArrayView*> all;
  for (const ArrayView& sample : samples) all.push_back(&sample);
  const Judgement judgement = Judge(reference, candidate, all, scale);
  result.over = judgement.over;
  result.unstable = judgement.unstable;
  result.resolved = judgement.resolved;
  result.worst_error = judgement.worst_error;
  result.worst_absolute = judgement.worst_absolute;
  bool biased = judgement.whole_error > 1;
  const bool beyond = result.over > 0 || biased;
  for (size_t k = 0; beyond && all.size() > 1 && k < all.size(); ++k) {
    std::vector<const ArrayView*> others = all;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(k));
    const Judgement own = Judge(reference, *all[k], others, scale);
    result.held_out_over = std::max(result.held_out_over, own.over);
    biased = biased && own.whole_error <= 1;
  }
  result.outcome = Weigh(result.over, result.held_out_over);
  if (biased) {
    result.outcome = Outcome::kDifferent;
    result.worst_error = std::max(result.worst_error, judgement.whole_error);
    result.scale = judgement.scale;
  }
  const auto share = [&](double of) {
    return static_cast<int64_t>(of * static_cast<double>(result.floats));
  };
  if (result.outcome == Outcome::kFlips && result.over > std::max<int64_t>(1, share(kMostFlips))) {
    result.outcome = Outcome::kHangs;
  }
  const bool few = result.over <= std::max(kFew, share(kFewShare)) &&
                   result.worst_absolute <= kLittle * scale.size;
  if (result.outcome > Outcome::kHangs && !biased && std::isfinite(result.worst_error) &&
      (few || result.worst_error <= kSlight)) {
    result.outcome = Outcome::kOnceMore;
  }
  return result;
}

int64_t IntegerAt(const ArrayView& array, int64_t at) {
  return ReadInteger(array.type, static_cast<const char*>(array.data) + at * array.type.bytes);
}

OutputComparison CompareExactly(const ArrayView& reference, const ArrayView& candidate,
                                const std::vector<ArrayView>& samples) {
  OutputComparison result;
  result.elements = reference.elements;
  if (SameBytes(reference, candidate)) return result;
  std::vector<int64_t> alone(samples.size(), 0);
  const size_t width = reference.type.bytes;
  const auto same = [&](const ArrayView& a, const ArrayView& b, int64_t i) {
    return std::memcmp(static_cast<const char*>(a.data) + i * width,
                       static_cast<const char*>(b.data) + i * width, width) == 0;
  };
  int64_t steady = 0;       // in all samples as in the reference
  int64_t unexplained = 0;  // as in no run of the reference
  for (int64_t i = 0; i < reference.elements; ++i) {
    size_t moved = 0;
    size_t last = 0;
    bool explained = false;
    for (size_t k = 0; k < samples.size(); ++k) {
      if (same(reference, samples[k], i)) continue;
      ++moved;
      last = k;
      explained = explained || same(candidate, samples[k], i);
    }
    if (moved == 1) ++alone[last];
    steady += moved == 0;
    if (same(reference, candidate, i)) continue;
    unexplained += !explained;
    if (moved > 0) {
      ++result.unstable;
      continue;
    }
    ++result.over;
    result.worst_error = kInfinity;
    result.worst_absolute =
        std::max(result.worst_absolute, std::fabs(static_cast<double>(IntegerAt(candidate, i)) -
                                                  static_cast<double>(IntegerAt(reference, i))));
  }
  for (int64_t count : alone) result.held_out_over = std::max(result.held_out_over, count);
  result.outcome = Weigh(result.over, result.held_out_over);
  const auto all = static_cast<double>(result.elements);
  if (result.outcome == Outcome::kFlips ||
      (result.unstable > 0 && result.over <= result.unstable / kChaos)) {
    const bool few = static_cast<double>(unexplained) <= kMostFlips * all &&
                     static_cast<double>(steady) >= kLeastResolved * all;
    result.outcome = few ? Outcome::kFlips : Outcome::kHangs;
  } else if (result.outcome == Outcome::kDifferent && result.over * kDoubt <= result.unstable) {
    // So many flip that some do in the candidate alone.
    result.held_out_over = result.unstable;
    result.outcome = Outcome::kDoubtful;
  }
  return result;
}

}  // namespace

std::string ShapeText(const ArrayView& array) {
  std::string text(array.type.name);
  text += "[";
  for (size_t i = 0; i < array.dimensions.size(); ++i) {
    text += (i == 0 ? "" : ",") + std::to_string(array.dimensions[i]);
  }
  return text + "]";
}

bool SameShape(const ArrayView& a, const ArrayView& b) {
  return a.type.name == b.type.name && a.dimensions == b.dimensions;
}

bool SameBytes(const ArrayView& a, const ArrayView& b) {
  return a.bytes() == b.bytes() && (a.bytes() == 0 || std::memcmp(a.data, b.data, a.bytes()) == 0);
}

OutputComparison CompareOutput(const ArrayView& reference, const ArrayView& candidate,
                               const std::vector<ArrayView>& samples) {
  return reference.exact() ? CompareExactly(reference, candidate, samples)
                           : CompareFloats(reference, candidate, samples);
}

double Share(int64_t part, int64_t whole) {
  return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
}

bool ShowsSomething(const OutputComparison& output) {
  return Share(output.finite, output.floats) >= kLeastFinite ||
         (output.finite > 0 && output.finite + output.infinite == output.floats);
}

bool AllShowSomething(const std::vector<OutputComparison>& outputs) {
  int64_t floats = 0, finite = 0;
  for (const OutputComparison& output : outputs) {
    floats += output.floats;
    finite += output.finite;
    if (!ShowsSomething(output)) return false;
  }
  return Share(finite, floats) >= kLeastFinite;
}

}  // namespace hone::verify
