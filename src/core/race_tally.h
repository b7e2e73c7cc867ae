// The pairs of a race, and when there are enough of them.
#ifndef HONE_CORE_RACE_TALLY_H_
#define HONE_CORE_RACE_TALLY_H_

#include <algorithm>
#include <vector>

#include "core/median.h"
#include "core/race.h"

namespace hone {

class RaceTally {
 public:
  explicit RaceTally(const RaceOptions& options)
      : options_(options), next_look_(options.least_pairs) {}

  // Seconds of one run of each, above 0.
  void Add(double a, double b) {
    times_a_.push_back(a);
    times_b_.push_back(b);
    ratios_.push_back(a / b);
  }

  int pairs() const { return static_cast<int>(ratios_.size()); }

  // How many more there will be before anybody looks whether the race is decided; at least 1.
  int PairsToNextLook() const {
    return std::max(1, std::min(next_look_, options_.most_pairs) - pairs());
  }

  // Whether the race ends here, `seconds` after its begin. Whether it is decided is looked at
  // rarely, for each look is another chance to be wrong.
  bool IsOver(double seconds) {
    if (pairs() >= options_.most_pairs || IsClear()) return true;
    // Fewer pairs than least_pairs decide nothing: slow programs get some more time.
    const bool more = pairs() < options_.least_pairs && !IsHopeless();
    const double budget = (more ? 4 : 1) * options_.budget_seconds;
    if (seconds > budget) return true;
    if (pairs() < next_look_ || seconds < std::min(options_.least_seconds, budget)) return false;
    next_look_ = pairs() + std::max(1, pairs() / 2);
    const MedianInterval interval = IntervalOfMedian(ratios_);
    const bool decided = interval.low > 1 || interval.high < 1;
    const bool alike =
        interval.low > 1 - options_.indifferent && interval.high < 1 + options_.indifferent;
    return decided || alike;
  }

  // Fills in what was measured: seconds, pairs, the speed-up and its interval.
  void Tell(RaceReport* report) const {
    const MedianInterval interval = IntervalOfMedian(ratios_);
    report->pairs = pairs();
    report->speedup = interval.median;
    report->low = interval.low;
    report->high = interval.high;
    report->seconds_a = Median(times_a_);
    report->seconds_b = Median(times_b_);
  }

 private:
  // Whether nobody needs to see more: RaceOptions::clear.
  bool IsClear() const {
    if (options_.clear <= 1 || pairs() < 3) return false;
    const auto [least, most] = std::minmax_element(ratios_.begin(), ratios_.end());
    return (*most < 1 && !options_.patient) || (pairs() >= 6 && *least > options_.clear);
  }

  // Whether more pairs would hardly say that b is faster: the same.
  bool IsHopeless() const {
    return options_.clear > 1 && !options_.patient && pairs() >= 6 &&
           Median(ratios_) < 1 + options_.indifferent;
  }

  RaceOptions options_;
  std::vector<double> times_a_, times_b_, ratios_;
  int next_look_;
};

}  // namespace hone

#endif  // HONE_CORE_RACE_TALLY_H_
