#include "learn/a2c.h"

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

std::unique_ptr<Learner> MakeA2c(std::shared_ptr<Task> task, const Config& config) {
  return std::make_unique<A2c>(std::move(task), config);
}

}  // namespace hone::learn
