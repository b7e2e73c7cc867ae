// How planning time grows, as a picture.
#ifndef HONE_BENCH_MEMORY_PLOT_H_
#define HONE_BENCH_MEMORY_PLOT_H_

#include <string>
#include <utility>
#include <vector>

namespace hone::memory {

struct Growth {
  std::string name;
  std::vector<std::pair<double, double>> points;  // operators, seconds
};

// seconds = a * operators ^ exponent, by least squares of logarithms; needs two points.
double Exponent(const std::vector<std::pair<double, double>>& points);

// An SVG with logarithmic axes: a line for each program with its exponent, and one of n log n.
std::string PlotGrowth(const std::vector<Growth>& programs);

}  // namespace hone::memory

#endif  // HONE_BENCH_MEMORY_PLOT_H_
