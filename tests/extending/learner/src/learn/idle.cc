// An example: learns nothing.
#include <utility>

#include "learn/on_policy.h"

namespace hone::learn {
namespace {

class Idle : public OnPolicyLearner {
 public:
  Idle(std::shared_ptr<Task> task, const Config& config)
      : OnPolicyLearner(std::move(task), config, /*policy_optimised=*/false) {}

 protected:
  void Train(const Rollout&, Report&) override {}
};

}  // namespace

void SetIdle(PresetKind kind, Config& config) {
  if (kind == PresetKind::kHone) config.rollout_steps = 16;
}

std::unique_ptr<Learner> MakeIdle(std::shared_ptr<Task> task, const Config& config) {
  return std::make_unique<Idle>(std::move(task), config);
}

}  // namespace hone::learn
