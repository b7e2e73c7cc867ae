#include "env/reward.h"

#include <algorithm>
#include <cmath>

namespace hone {

double RewardOf(const RewardOptions& reward, const EnvProgram& program, const PaidStep& step) {
  const auto value = [&](const Metrics& metrics) {
    return ObjectiveValue(reward.objective, metrics);
  };
  const auto weighted = [&](const Metrics& metrics) {
    return reward.flops_weight * std::max(0.0, metrics.flops) +
           reward.transcendentals_weight * std::max(0.0, metrics.transcendentals);
  };
  const auto potential = [&](const Metrics& metrics) {
    const double first = weighted(program.initial);
    return first == 0 ? 0 : -weighted(metrics) / first;
  };
  const double first = std::max(1.0, value(program.initial));
  const double now = value(step.after);
  double sum = 0;
  if (reward.change != 0) sum += reward.change * (value(step.before) - now) / first;
  if (reward.headroom != 0) {
    const double headroom = value(program.initial) - program.default_value;
    sum +=
        reward.headroom * (value(step.before) - now) / std::max(kLeastHeadroom * first, headroom);
  }
  if (reward.level != 0) sum -= reward.level * now / first;
  if (reward.shaping != 0) {
    const double next = step.terminated ? 0 : potential(step.after);
    sum += reward.shaping * (reward.discount * next - potential(step.before));
  }
  if (step.over && reward.final_default != 0) {
    sum += reward.final_default * (program.default_value - now) / first;
  }
  if (step.over && reward.final_run_time != 0 && step.run_seconds > 0 && program.run_seconds > 0) {
    sum += reward.final_run_time * std::log(program.run_seconds / step.run_seconds);
  }
  if (step.failed) sum -= reward.failure;
  return sum;
}

}  // namespace hone
