// Advantage actor-critic, synchronous (Mnih et al. 2016), as stable-baselines3 has it.
#include <utility>

#include "learn/on_policy.h"

namespace hone::learn {
namespace {

class A2c : public OnPolicyLearner {
 public:
  A2c(std::shared_ptr<Task> task, const Config& config)
      : OnPolicyLearner(std::move(task), config, /*policy_optimised=*/true) {}

 protected:
  void Train(const Rollout& rollout, Report& report) override {
    report["learning_rate"] = SetLearningRate(config_, rollout.steps, *optimizer_);
    Batch batch = WholeBatch(rollout);
    if (config_.normalize_advantage) batch.samples.advantage = Normalized(batch.samples.advantage);
    const ActorCriticLoss loss =
        A2cLoss(networks_.policy->Forward(batch.observation),
                networks_.value->Forward(batch.observation).squeeze(1), batch.samples, config_);
    networks_.parameters.ClearGradients();
    loss.total.backward();
    report["gradient_norm"] = networks_.parameters.ClipGradients(config_.max_gradient_norm);
    optimizer_->step();
    report["policy_loss"] = loss.policy.item<double>();
    report["value_loss"] = loss.value.item<double>();
    report["entropy"] = loss.entropy.item<double>();
  }
};

}  // namespace

void SetA2c(PresetKind kind, Config& config) {
  if (kind == PresetKind::kSb3) {
    config.learning_rate = 7e-4;
    config.rollout_steps = 5;
    config.gae_lambda = 1;
    config.normalize_advantage = false;
    config.rms_prop = true;
  } else if (kind == PresetKind::kHone) {
    config.rollout_steps = 16;
    config.gae_lambda = 0.95;
    config.rms_prop = false;
    config.learning_rate = 5e-4;
    config.entropy_weight = 0.01;
  }
}

std::unique_ptr<Learner> MakeA2c(std::shared_ptr<Task> task, const Config& config) {
  return std::make_unique<A2c>(std::move(task), config);
}

}  // namespace hone::learn
