// The middle of a few measurements.
#ifndef HONE_CORE_MEDIAN_H_
#define HONE_CORE_MEDIAN_H_

#include <algorithm>
#include <vector>

namespace hone {

// The upper one of two middles; 0 of nothing.
inline double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

}  // namespace hone

#endif  // HONE_CORE_MEDIAN_H_
