#include "cost/rank_correlation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace hone::cost {
namespace {

std::vector<double> Ranks(const std::vector<double>& figures) {
  std::vector<size_t> order(figures.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t i, size_t j) { return figures[i] < figures[j]; });
  std::vector<double> ranks(figures.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    while (end < order.size() && figures[order[end]] == figures[order[begin]]) ++end;
    const double shared = 0.5 * static_cast<double>(begin + end - 1);
    for (; begin < end; ++begin) ranks[order[begin]] = shared;
  }
  return ranks;
}

}  // namespace

double Spearman(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> ranks_a = Ranks(a);
  const std::vector<double> ranks_b = Ranks(b);
  const double mean = 0.5 * (static_cast<double>(a.size()) - 1);
  double both = 0;
  double of_a = 0;
  double of_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    both += (ranks_a[i] - mean) * (ranks_b[i] - mean);
    of_a += (ranks_a[i] - mean) * (ranks_a[i] - mean);
    of_b += (ranks_b[i] - mean) * (ranks_b[i] - mean);
  }
  return of_a > 0 && of_b > 0 ? both / std::sqrt(of_a * of_b) : 0;
}

double Kendall(const std::vector<double>& a, const std::vector<double>& b) {
  double both = 0;
  double of_a = 0;
  double of_b = 0;
  const auto sign = [](double x) { return static_cast<double>((x > 0) - (x < 0)); };
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const double order_a = sign(a[i] - a[j]);
      const double order_b = sign(b[i] - b[j]);
      both += order_a * order_b;
      of_a += order_a * order_a;
      of_b += order_b * order_b;
    }
  }
  return of_a > 0 && of_b > 0 ? both / std::sqrt(of_a * of_b) : 0;
}

}  // namespace hone::cost
