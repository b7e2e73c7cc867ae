// The middle of a few measurements.
#ifndef HONE_CORE_MEDIAN_H_
#define HONE_CORE_MEDIAN_H_

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace hone {

// The upper one of two middles; 0 of nothing.
inline double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

struct MedianInterval {
  double median = 1;  // of an even number the geometric mean of the two middles
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
};

// The 95 % interval of the median of some ratios, from order statistics (no distribution assumed:
// Conover, Practical Nonparametric Statistics, 3.2): the k-th smallest and the k-th largest, with
// the largest k for which a binomial variable of n fair coins is below k at most 2.5 % of the time.
// 0 and infinity where there are fewer than 6, for no two of those enclose the median with 95 %.
inline MedianInterval IntervalOfMedian(std::vector<double> ratios) {
  MedianInterval interval;
  if (ratios.empty()) return interval;
  std::sort(ratios.begin(), ratios.end());
  const int n = static_cast<int>(ratios.size());
  interval.median = n % 2 == 1 ? ratios[n / 2] : std::sqrt(ratios[n / 2 - 1] * ratios[n / 2]);
  if (n < 6) return interval;
  double below = 0;
  int k = 0;
  for (; k < n / 2; ++k) {
    const double log_term = std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) -
                            static_cast<double>(n) * std::log(2.0);
    below += std::exp(log_term);
    if (below > 0.025) break;
  }
  const int rank = std::max(k, 1);
  interval.low = ratios[rank - 1];
  interval.high = ratios[n - rank];
  return interval;
}

}  // namespace hone

#endif  // HONE_CORE_MEDIAN_H_
