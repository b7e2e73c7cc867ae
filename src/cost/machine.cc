#include "cost/machine.h"

#include <Eigen/Core>
#include <algorithm>
#include <chrono>
#include <thread>

namespace hone::cost {
namespace {

// Seconds of the fastest of some runs within `least` seconds: others may disturb, none helps.
template <class Job>
double Fastest(double least, Job job) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  double fastest = 1e9;
  int runs = 0;
  while (runs++ < 3 || std::chrono::duration<double>(Clock::now() - begin).count() < least) {
    const auto start = Clock::now();
    job();
    fastest = std::min(fastest, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return std::max(fastest, 1e-9);
}

}  // namespace

Machine MeasureMachine() {
  Machine machine;
  machine.cores = std::max(1u, std::thread::hardware_concurrency());
  constexpr int kSide = 192;
  const Eigen::MatrixXf a = Eigen::MatrixXf::Constant(kSide, kSide, 0.5f);
  Eigen::MatrixXf product(kSide, kSide);
  const double multiply = Fastest(0.03, [&] { product.noalias() = a * a; });
  machine.flops_per_second = 2.0 * kSide * kSide * kSide / multiply;
  constexpr Eigen::Index kLong = Eigen::Index{8} << 20;  // 32 MiB each
  const Eigen::ArrayXf x = Eigen::ArrayXf::Constant(kLong, 1.0f);
  Eigen::ArrayXf y = Eigen::ArrayXf::Constant(kLong, 2.0f);
  const double add = Fastest(0.05, [&] { y += x; });
  machine.bytes_per_second = 3.0 * sizeof(float) * static_cast<double>(kLong) / add;
  return machine;
}

}  // namespace hone::cost
