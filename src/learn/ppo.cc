// Proximal policy optimisation (Schulman et al. 2017), clipped, as stable-baselines3 has it.
#include <algorithm>
#include <cmath>
#include <utility>

#include "learn/on_policy.h"

namespace hone::learn {
namespace {

class Ppo : public OnPolicyLearner {
 public:
  Ppo(std::shared_ptr<Task> task, const Config& config)
      : OnPolicyLearner(std::move(task), config, /*policy_optimised=*/true) {}

 protected:
  void Train(const Rollout& rollout, Report& report) override {
    report["learning_rate"] = SetLearningRate(config_, rollout.steps, *optimizer_);
    double policy_loss = 0, value_loss = 0, entropy = 0, kl = 0, clipped = 0;
    int64_t batches = 0;
    bool stopped = false;
    for (int64_t epoch = 0; epoch < config_.epochs && !stopped; ++epoch) {
      const torch::Tensor order = Permutation(rollout.size(), rng_);
      for (int64_t at = 0; at < rollout.size() && !stopped; at += config_.batch_size) {
        const int64_t end = std::min(rollout.size(), at + config_.batch_size);
        Batch batch = MakeBatch(rollout, order.slice(0, at, end));
        if (config_.normalize_advantage) {
          batch.samples.advantage = Normalized(batch.samples.advantage);
        }
        const ActorCriticLoss loss =
            PpoLoss(networks_.policy->Forward(batch.observation),
                    networks_.value->Forward(batch.observation).squeeze(1), batch.samples, config_);
        const float* log_ratio = loss.log_ratio.data_ptr<float>();
        double batch_kl = 0;  // Schulman's estimate: mean of r - 1 - log r
        for (int64_t i = 0; i < end - at; ++i) {
          const double ratio_less_1 = std::expm1(static_cast<double>(log_ratio[i]));
          batch_kl += ratio_less_1 - log_ratio[i];
          clipped += (std::abs(ratio_less_1) > config_.clip_range) / static_cast<double>(end - at);
        }
        batch_kl /= static_cast<double>(end - at);
        ++batches;
        kl += batch_kl;
        policy_loss += loss.policy.item<double>();
        value_loss += loss.value.item<double>();
        entropy += loss.entropy.item<double>();
        stopped = config_.target_kl > 0 && batch_kl > 1.5 * config_.target_kl;
        if (stopped) break;
        networks_.parameters.ClearGradients();
        loss.total.backward();
        networks_.parameters.ClipGradients(config_.max_gradient_norm);
        optimizer_->step();
      }
    }
    const double count = static_cast<double>(batches);
    report["policy_loss"] = policy_loss / count;
    report["value_loss"] = value_loss / count;
    report["entropy"] = entropy / count;
    report["approximate_kl"] = kl / count;
    report["clipped"] = clipped / count;
    report["batches"] = count;
  }
};

}  // namespace

// stable-baselines3's are Config's own.
void SetPpo(PresetKind kind, Config& config) {
  if (kind == PresetKind::kPaper) config.batch_size = 256;
  if (kind == PresetKind::kHone) {
    config.rollout_steps = 128;
    config.batch_size = 256;
    config.epochs = 6;
    config.entropy_weight = 0.01;
    config.target_kl = 0.03;
  }
}

std::unique_ptr<Learner> MakePpo(std::shared_ptr<Task> task, const Config& config) {
  return std::make_unique<Ppo>(std::move(task), config);
}

}  // namespace hone::learn
