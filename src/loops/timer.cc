#include "loops/timer.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/median.h"

namespace hone::loops {
namespace {

constexpr double kSampleSeconds = 0.001;
constexpr int kPairs = 3;
constexpr double kMuchSlower = 4;  // is known from one run

}  // namespace

StatusOr<ScheduleTimer> ScheduleTimer::Make(Generator& generator, const Kernel& reference,
                                            int threads) {
  ScheduleTimer timer(generator, reference, threads);
  const auto compiled = generator.Compile(reference);
  if (!compiled) return tl::unexpected(compiled.error());
  const auto once = generator.Time(reference, reference, {}, 0, 2, 1, false, threads);
  if (!once) return tl::unexpected(once.error());
  const double seconds = std::max(once->back().a, 1e-7);
  timer.repeats_ = static_cast<int>(std::clamp(std::ceil(kSampleSeconds / seconds), 1.0, 10000.0));
  return timer;
}

StatusOr<double> ScheduleTimer::Time(const Kernel& kernel) {
  const auto compiled = generator_->Compile(kernel);
  if (!compiled) return tl::unexpected(compiled.error());
  auto times = generator_->Time(*reference_, kernel, {}, 0, 1, 1, false, threads_);
  if (!times) return tl::unexpected(times.error());
  std::vector<double> ratios = {times->front().b / std::max(times->front().a, 1e-9)};
  if (ratios[0] < kMuchSlower) {
    times = generator_->Time(*reference_, kernel, {}, 0, kPairs, repeats_, false, threads_);
    if (!times) return tl::unexpected(times.error());
    ratios.clear();
    for (const PairTimes& pair : *times) ratios.push_back(pair.b / std::max(pair.a, 1e-9));
  }
  return std::log(Median(ratios));
}

}  // namespace hone::loops
