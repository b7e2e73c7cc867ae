#include "verify/compare.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <set>
#include <utility>

#include "core/input_seed.h"
#include "verify/find_finite.h"
#include "verify/rule.h"

namespace hone::verify {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostErrors = 16;
constexpr int kMostSearched = 200;     // draws of habits, each a run of the reference
constexpr double kSearchShare = 0.25;  // of what is left of the budget

std::string Short(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", number);
  return text;
}

class Comparison {
 public:
  Comparison(Subject& subject, const CompareOptions& options, int given)
      : subject_(subject),
        options_(options),
        given_(given),
        stop_(options.stop != nullptr && *options.stop ? nullptr : options.stop) {}

  ComparisonReport Run() {
    Decide();
    report_.seconds = Seconds();
    report_.finite_share = Share(finite_, floats_);
    return std::move(report_);
  }

 private:
  enum class Ran {
    kCounts,    // they agree, on inputs that show something
    kAgrees,    // they agree, as NaNs or noise do
    kHangs,     // decisions hang on the last bit
    kOnceMore,  // a decision may have flipped: inputs of the same kind tell
    kDecided,   // the verdict is in the report
    kLate,      // there was no time to find out
  };

  double Seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  // Of the budget.
  double Spent() const { return Seconds() - (subject_.CompileSeconds() - compiled_before_); }
  // Once it is, it stays so.
  bool IsOver() {
    if (!Interrupted() && why_over_.empty() && Spent() > options_.budget_seconds) {
      why_over_ = "the time budget was spent";
    }
    return !why_over_.empty();
  }
  // One more set, as long as the longest, would be left half done: what it has shown by then may
  // not be explained yet, and would say nothing.
  bool IsOverAfter(double set_seconds) {
    if (!IsOver() && Spent() + set_seconds > options_.budget_seconds) {
      why_over_ = "the time budget was too short for another";
    }
    return IsOver();
  }
  bool Interrupted() {
    if (!interrupted_ && stop_ != nullptr && *stop_) {
      interrupted_ = true;
      why_over_ = "it was interrupted";
    }
    return interrupted_;
  }
  // Whether a set, or the candidate's run on it, is not begun any more. Both programs are run once
  // whatever the time: less is nothing.
  bool IsOverFor(size_t set) { return set == 0 ? Interrupted() : IsOver(); }

  void Decide() {
    const int wanted = std::max(1, options_.inputs);
    std::vector<InputChoice> choices;
    for (int k = 0; k < given_; ++k) choices.push_back({k, false, 0, 0});
    for (int k = 0; k < wanted; ++k) choices.push_back(Generated(k % kUsualKinds, k));
    const size_t usual = choices.size();
    const size_t most = usual + static_cast<size_t>(kMoreSets * wanted);
    std::vector<InputChoice> good;
    int agree = 0, count = 0;
    size_t next = 0;                   // of those that are looked at in any case
    std::optional<InputChoice> again;  // in place of one that left a doubt
    double longest = 0;                // seconds of a set
    for (size_t set = 0; set < 2 * most && (again || next < most); ++set) {
      const bool enough = agree >= wanted && count >= 1;
      if (!again && next >= usual && enough) break;
      if (IsOverFor(set)) break;
      if (!again && count > 0 && IsOverAfter(longest)) break;
      const double begin = Spent();
      const bool repeated = again.has_value();
      if (!repeated) doubted_.clear();
      const std::optional<InputChoice> chosen = repeated ? again
                                                : next < usual
                                                    ? choices[next]
                                                    : Further(static_cast<int>(next - usual), good);
      if (!chosen) break;
      const InputChoice choice = *chosen;
      next += !repeated;
      again.reset();
      const ComparisonReport before = report_;
      const Ran ran = RunSet(set, choice);
      longest = std::max(longest, Spent() - begin);
      if (ran == Ran::kDecided) return;
      if (ran == Ran::kLate) break;
      if (ran == Ran::kOnceMore && repeated) {
        Different(few_);
        return;
      }
      if (ran == Ran::kOnceMore || (ran != Ran::kCounts && repeated)) {
        again = OfTheSameKind(choice, static_cast<int>(set));
      }
      if (ran == Ran::kOnceMore) {
        report_ = before;
        continue;
      }
      agree += ran != Ran::kHangs;
      count += ran == Ran::kCounts;
      if (ran == Ran::kCounts) good.push_back(choice);
      if (ran == Ran::kAgrees && good.empty() && choice.given >= 0) good.push_back(choice);
    }
    unexplained_ = unexplained_ || again;
    Conclude(agree, count, wanted);
  }

  InputChoice Generated(int kind, int number) const {
    return {-1, false, kind, FirstInputsSeed(options_.seed) + static_cast<uint64_t>(number)};
  }

  // Beyond the usual sets: near what was given, then the other kinds, then more of what was good,
  // or what is found to be finite; none where nothing is.
  std::optional<InputChoice> Further(int number, const std::vector<InputChoice>& good) {
    const int seed = 1000 + number;
    if (given_ > 0) {
      return InputChoice{number % given_, true, 0,
                         FirstInputsSeed(options_.seed) + static_cast<uint64_t>(seed)};
    }
    const int others = kKinds - kUsualKinds;
    if (number >= others && good.empty() && nothing_finite_ && hangs_.empty()) return Searched();
    if (number < others || good.empty()) return Generated(kUsualKinds + number % others, seed);
    const InputChoice& alike = good[static_cast<size_t>(number) % good.size()];
    return alike.kind == kSearchedKind ? OfTheSameKind(alike, seed) : Generated(alike.kind, seed);
  }

  // Once: what was not found is not there.
  std::optional<InputChoice> Searched() {
    if (std::exchange(searched_, true)) return std::nullopt;
    const double until = Spent() + kSearchShare * (options_.budget_seconds - Spent());
    return FindFinite(subject_, options_.seed, [&] { return Spent() > until || IsOver(); });
  }

  InputChoice OfTheSameKind(const InputChoice& choice, int number) const {
    const int seed = 2000 + number;
    if (choice.kind == kSearchedKind) return WithOtherValues(choice, static_cast<uint64_t>(number));
    if (choice.given < 0) return Generated(choice.kind, seed);
    return {choice.given, true, 0, FirstInputsSeed(options_.seed) + static_cast<uint64_t>(seed)};
  }

  Ran CannotTell(std::string reason) {
    report_.verdict = Verdict::kCannotTell;
    report_.reason = std::move(reason);
    return Ran::kDecided;
  }

  Ran Failed(const Error& error) { return CannotTell(error.message); }

  Ran Different(std::string reason) {
    report_.verdict = Verdict::kDifferent;
    report_.reason = std::move(reason);
    return Ran::kDecided;
  }

  Ran RunSet(size_t set, const InputChoice& choice) {
    if (Status chosen = subject_.Choose(choice); !chosen) return Failed(chosen.error());
    StatusOr<Outputs> y = subject_.RunReference();
    if (!y) return Failed(y.error());
    if (IsOverFor(set)) return Ran::kLate;
    StatusOr<Outputs> z = subject_.RunCandidate();
    if (!z) return Failed(z.error());
    if (y->arrays.size() != z->arrays.size()) {
      return Different("they have different numbers of outputs");
    }
    unequal_.clear();
    for (size_t k = 0; k < y->arrays.size(); ++k) {
      if (!SameShape(y->arrays[k], z->arrays[k])) {
        return Different("output " + std::to_string(k) + " is " + ShapeText(y->arrays[k]) +
                         " and " + ShapeText(z->arrays[k]));
      }
      if (!SameBytes(y->arrays[k], z->arrays[k])) unequal_.push_back(k);
    }
    noisy_ = noisy_ || !unequal_.empty();
    std::vector<Outputs> samples;
    std::vector<OutputComparison> found(y->arrays.size());
    for (size_t k = 0; k < found.size(); ++k) {
      found[k] = CompareOutput(y->arrays[k], z->arrays[k], {});
    }
    // First what costs least. What moved inputs alone explain needs no more, and fewer of them
    // where time is up.
    for (int k = 0; !moved_is_not_enough_ && k < kManySamples && AnyBeyond(found); ++k) {
      if (IsOver() || (k == kFewSamples && !subject_.MovesWhatIsStored())) break;
      StatusOr<std::optional<Outputs>> sample = subject_.MovedSample(k);
      if (!sample) return Failed(sample.error());
      if (!*sample) break;
      samples.push_back(**std::move(sample));
      const bool look = k + 1 == kFewSamples || k + 1 == kManySamples;
      if (look || IsOver()) CompareUnequal(*y, *z, samples, &found);
    }
    // So many tell flips, too: other noise has nothing to add.
    const bool enough = samples.size() == kManySamples && MayBeChance(found);
    int next = 0;
    for (const int many : {kFewSamples, kManySamples}) {
      if (enough || !AnyBeyond(found)) break;
      moved_is_not_enough_ = true;
      for (; next < many && !IsOver(); ++next) {
        StatusOr<std::optional<Outputs>> sample = subject_.Sample(next);
        if (!sample) return Failed(sample.error());
        if (!*sample) break;
        samples.push_back(**std::move(sample));
      }
      if (!samples.empty()) CompareUnequal(*y, *z, samples, &found);
      // Further runs might explain it yet: on fewer than all of them nothing is called different.
      if (IsOver() && next < kManySamples && AnyAccused(found)) {
        unexplained_ = true;
        return Ran::kLate;
      }
    }
    if (AnyAccused(found)) {
      if (Status done = CompareWithWideSums(*z, &found); !done) return Failed(done.error());
    }
    return Judge(choice, *y, found);
  }

  // Where narrow floats are rounded after each addition, sums of many are off by more than any
  // noise tells. A candidate that adds up in f32 is held against a reference that does.
  Status CompareWithWideSums(const Outputs& z, std::vector<OutputComparison>* found) {
    std::vector<Outputs> wide;
    for (int k = 0; k <= kManySamples && !IsOver(); ++k) {
      StatusOr<std::optional<Outputs>> sample = subject_.WideSample(k);
      if (!sample) return tl::unexpected(sample.error());
      if (!*sample) return {};
      wide.push_back(**std::move(sample));
    }
    if (wide.size() <= kFewSamples) return {};
    const Outputs y = std::move(wide.front());
    wide.erase(wide.begin());
    const std::vector<OutputComparison> before = *found;
    const std::vector<size_t> unequal = unequal_;
    CompareUnequal(y, z, wide, found);
    for (const size_t k : unequal) {
      wide_ = wide_ || (*found)[k].outcome < before[k].outcome;
      if ((*found)[k].outcome > before[k].outcome) (*found)[k] = before[k];
    }
    return {};
  }

  // What samples explain needs no more of them.
  void CompareUnequal(const Outputs& y, const Outputs& z, const std::vector<Outputs>& samples,
                      std::vector<OutputComparison>* found) {
    std::vector<size_t> left;
    for (size_t k : unequal_) {
      std::vector<ArrayView> own;
      for (const Outputs& sample : samples) own.push_back(sample.arrays[k]);
      (*found)[k] = CompareOutput(y.arrays[k], z.arrays[k], own);
      if ((*found)[k].outcome != Outcome::kEqual) left.push_back(k);
    }
    unequal_ = std::move(left);
  }

  static bool AnyBeyond(const std::vector<OutputComparison>& found) {
    return std::any_of(found.begin(), found.end(), [](const OutputComparison& output) {
      return output.outcome != Outcome::kEqual;
    });
  }

  static bool AnyAccused(const std::vector<OutputComparison>& found) {
    return std::any_of(found.begin(), found.end(), [](const OutputComparison& output) {
      return output.outcome > Outcome::kHangs;
    });
  }

  // Adds one input set's findings.
  Ran Judge(const InputChoice& choice, const Outputs& y,
            const std::vector<OutputComparison>& found) {
    Outcome worst = Outcome::kEqual;
    int64_t floats = 0, finite = 0, resolved = 0, over = 0, held_out = 0;
    double scale = 1;
    std::vector<OutputError> errors;
    for (size_t k = 0; k < found.size(); ++k) {
      const OutputComparison& output = found[k];
      worst = std::max(worst, output.outcome);
      floats += output.floats;
      finite += output.finite;
      resolved += output.resolved;
      if (output.outcome == Outcome::kEqual || output.outcome == Outcome::kFlips) {
        flips_ += output.over + output.unstable;
        if (output.over == 0) {
          report_.worst_error = std::max(report_.worst_error, output.worst_error);
        }
        continue;
      }
      over += output.over;
      held_out += output.held_out_over;
      errors.push_back({static_cast<int>(k), ShapeText(y.arrays[k]), output.worst_error,
                        output.worst_absolute, output.over + output.unstable});
      if (output.scale != 1) scale = output.scale;
    }
    floats_ += floats;
    finite_ += finite;
    if (worst == Outcome::kOnceMore && IsChance(found)) {
      worst = Outcome::kFlips;
      flips_ += over;
    }
    if (worst <= Outcome::kFlips) {
      ++report_.inputs;
      if (!AllShowSomething(found)) {
        why_not_ =
            "on no inputs that were tried most of every output is finite: equal NaNs and "
            "infinities show nothing";
        return Ran::kAgrees;
      }
      nothing_finite_ = false;
      if (Share(resolved, finite) < kLeastResolved) {
        why_not_ =
            "rounding errors alone change most of the results by a tenth of their size or "
            "more on all inputs that were tried: agreement shows nothing";
        return Ran::kAgrees;
      }
      return Ran::kCounts;
    }
    std::stable_sort(errors.begin(), errors.end(), [](const OutputError& p, const OutputError& q) {
      return p.worst_error > q.worst_error;
    });
    if (worst == Outcome::kHangs) {
      hangs_ = "in output " + std::to_string(errors.front().output) + " (" + errors.front().shape +
               ") decisions hang on the last bit of a floating-point value: " +
               std::to_string(errors.front().elements_over) +
               " elements flip, as they do between runs of the reference itself with other "
               "roundings";
      return Ran::kHangs;
    }
    report_.worst_error = errors.front().worst_error;
    ++report_.inputs;
    std::string where = std::to_string(errors.size()) + " of " + std::to_string(found.size()) +
                        " outputs differ on " + NameOf(choice) + " inputs, worst in output " +
                        std::to_string(errors.front().output) + " (" + errors.front().shape +
                        "): " + std::to_string(over) + " elements beyond their tolerance";
    if (scale != 1) {
      where += (over > 0 ? "; as a whole one is " : ", but as a whole one is ") + Short(scale) +
               " times what it should be";
    }
    errors.resize(std::min(errors.size(), kMostErrors));
    report_.errors = std::move(errors);
    if (worst == Outcome::kOnceMore) {
      few_ = where;
      return Ran::kOnceMore;
    }
    if (worst == Outcome::kDifferent) return Different(where);
    return CannotTell(where +
                      "; inconclusive: rounding noise in the reference's own runs explains " +
                      std::to_string(held_out) + " of " + std::to_string(over));
  }

  // Whether no output is worse off than with a doubt, and those are others than on the last inputs
  // of this kind and few beside those in which noise flips elements: what is wrong is wrong in the
  // same output again.
  bool MayBeChance(const std::vector<OutputComparison>& found) const {
    size_t flipping = 0, doubted = 0;
    for (size_t k = 0; k < found.size(); ++k) {
      if (found[k].outcome > Outcome::kOnceMore) return false;
      flipping += found[k].outcome == Outcome::kFlips;
      if (found[k].outcome != Outcome::kOnceMore) continue;
      if (doubted_.count(k) != 0) return false;
      ++doubted;
    }
    return flipping >= kFlipping * doubted;
  }

  // Of a set that leaves a doubt: whether it is the second of its kind that does, by chance.
  bool IsChance(const std::vector<OutputComparison>& found) {
    const bool chance = !doubted_.empty() && MayBeChance(found);
    doubted_.clear();
    for (size_t k = 0; k < found.size(); ++k) {
      if (found[k].outcome == Outcome::kOnceMore) doubted_.insert(k);
    }
    return chance;
  }

  void Conclude(int agree, int count, int wanted) {
    // Fewer sets than were asked for are enough where time has run out, on none a decision hung.
    if (count > 0 && !unexplained_ && (agree >= wanted || (IsOver() && hangs_.empty()))) {
      report_.verdict = Verdict::kEqual;
      report_.reason.clear();
      report_.method = noisy_ ? "within the spread of rounding noise" : "same bytes";
      if (flips_ > 0) {
        report_.method +=
            "; " + std::to_string(flips_) + " elements flipped, as they do under rounding noise";
      }
      if (!few_.empty()) {
        report_.method +=
            "; once a few elements were beyond their tolerance, by little, and on inputs of the "
            "same kind none of those outputs'";
      }
      if (wide_)
        report_.method += "; nearer to it with sums of narrow floats in f32, and long ones in f64";
      if (agree < wanted) {
        report_.method += "; on " + std::to_string(agree) + " of " + std::to_string(wanted) +
                          " input sets, then " + why_over_;
      }
    } else if (!hangs_.empty()) {
      CannotTell(hangs_ + "; give inputs on which it is well behaved");
    } else if (unexplained_) {
      CannotTell("results differ in some bits, and " + why_over_ +
                 " before it could be measured how far rounding errors reach");
    } else if (!why_not_.empty()) {
      CannotTell(why_not_ + (given_ == 0 ? "; give inputs of your own" : ""));
    } else {
      CannotTell(why_over_.empty() ? "no input set showed anything"
                                   : why_over_ + " before any input set was done with");
    }
  }

  Subject& subject_;
  const CompareOptions& options_;
  const int given_;
  const std::atomic<bool>* const stop_;  // null where it was true already
  const Clock::time_point start_ = Clock::now();
  const double compiled_before_ = subject_.CompileSeconds();  // for others
  ComparisonReport report_;
  std::vector<size_t> unequal_;  // outputs of this set that differ in some bit, not explained yet
  std::string why_not_, hangs_, why_over_;
  std::string few_;           // where a decision may have flipped
  std::set<size_t> doubted_;  // the outputs of that set
  int64_t floats_ = 0, finite_ = 0, flips_ = 0;
  bool searched_ = false;       // habits have been drawn
  bool nothing_finite_ = true;  // on no set so far
  bool moved_is_not_enough_ = false;
  bool noisy_ = false;
  bool wide_ = false;  // whether a reference with other sums explained something
  bool interrupted_ = false;
  bool unexplained_ = false;  // differences for which time ran out
};

}  // namespace

std::string NameOf(const InputChoice& choice) {
  constexpr const char* kNames[kKinds] = {"signed", "positive",   "wide",
                                          "small",  "structured", "exact"};
  if (choice.given >= 0) return choice.near ? "nearly the given" : "the given";
  return choice.kind == kSearchedKind ? "searched" : kNames[choice.kind % kKinds];
}

ComparisonReport Compare(Subject& subject, const CompareOptions& options, int given) {
  return Comparison(subject, options, given).Run();
}

}  // namespace hone::verify
