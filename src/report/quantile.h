// A quantile of sorted values, interpolated between neighbours.
#ifndef HONE_REPORT_QUANTILE_H_
#define HONE_REPORT_QUANTILE_H_

#include <algorithm>
#include <cstddef>
#include <vector>

namespace hone::report {

// `sorted` is ascending and not empty; `share` in [0, 1].
inline double Quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace hone::report

#endif  // HONE_REPORT_QUANTILE_H_
