// Trust region policy optimisation (Schulman et al. 2015), as sb3-contrib has it: the natural
// gradient by conjugate gradients, a line search, and the value network fitted by Adam.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "learn/categorical.h"
#include "learn/on_policy.h"

namespace hone::learn {
namespace {

class Trpo : public OnPolicyLearner {
 public:
  Trpo(std::shared_ptr<Task> task, const Config& config)
      : OnPolicyLearner(std::move(task), config, /*policy_optimised=*/false) {}

 protected:
  void Train(const Rollout& rollout, Report& report) override {
    report["learning_rate"] = SetLearningRate(config_, rollout.steps, *optimizer_);
    ImprovePolicy(rollout, report);
    FitValue(rollout, report);
  }

 private:
  void ImprovePolicy(const Rollout& rollout, Report& report) {
    Batch batch = WholeBatch(rollout);
    if (config_.normalize_advantage) batch.samples.advantage = Normalized(batch.samples.advantage);
    const std::vector<torch::Tensor> parameters = networks_.policy->parameters();
    torch::Tensor values = networks_.parameters.values().narrow(0, 0, networks_.policy_size);
    const torch::Tensor start = values.clone();

    const torch::Tensor logits = networks_.policy->Forward(batch.observation);
    const torch::Tensor objective = TrpoObjective(logits, batch.samples);
    const torch::Tensor log_old = MaskedLogSoftmax(logits, batch.samples.mask).detach();
    const torch::Tensor kl = MeanKl(logits, batch.samples.mask, log_old);
    const torch::Tensor slope = FlatGradient(objective, parameters, false);
    const torch::Tensor kl_gradient = FlatGradient(kl, parameters, true);
    const auto multiply = [&](const torch::Tensor& vector) {
      return HessianVectorProduct(kl_gradient, parameters, vector, config_.cg_damping);
    };
    const torch::Tensor direction = ConjugateGradient(multiply, slope, config_.cg_steps);
    // The longest step that the quadratic model of the divergence allows.
    const double curvature = direction.dot(multiply(direction)).item<double>();
    const double longest = curvature > 0 ? std::sqrt(2 * config_.target_kl / curvature) : 0;

    const torch::NoGradGuard no_gradients;
    const double before = objective.item<double>();
    double shrink = 1, objective_now = before, kl_now = 0;
    bool found = false;
    for (int64_t i = 0; i < config_.line_search_steps && longest > 0 && !found; ++i) {
      values.copy_(start + shrink * longest * direction);
      const torch::Tensor tried = networks_.policy->Forward(batch.observation);
      objective_now = TrpoObjective(tried, batch.samples).item<double>();
      kl_now = MeanKl(tried, batch.samples.mask, log_old).item<double>();
      found = kl_now < config_.target_kl && objective_now > before;
      shrink *= config_.line_search_shrink;
    }
    if (!found) {
      values.copy_(start);
      objective_now = before;
      kl_now = 0;
    }
    report["policy_loss"] = -objective_now;
    report["approximate_kl"] = kl_now;
    report["line_search_found"] = found;
    report["entropy"] = Entropy(log_old).mean().item<double>();
  }

  void FitValue(const Rollout& rollout, Report& report) {
    double sum = 0;
    int64_t batches = 0;
    for (int64_t epoch = 0; epoch < config_.value_epochs; ++epoch) {
      const torch::Tensor order = Permutation(rollout.size(), rng_);
      for (int64_t at = 0; at < rollout.size(); at += config_.batch_size) {
        const int64_t end = std::min(rollout.size(), at + config_.batch_size);
        const Batch batch = MakeBatch(rollout, order.slice(0, at, end));
        const torch::Tensor value = networks_.value->Forward(batch.observation).squeeze(1);
        const torch::Tensor loss = torch::mse_loss(value, batch.samples.return_sum);
        networks_.parameters.ClearGradients();
        loss.backward();
        networks_.parameters.ClipGradients(config_.max_gradient_norm);
        optimizer_->step();
        sum += loss.item<double>();
        ++batches;
      }
    }
    if (batches > 0) report["value_loss"] = sum / static_cast<double>(batches);
  }
};

}  // namespace

void SetTrpo(PresetKind kind, Config& config) {
  if (kind == PresetKind::kSb3) {
    config.learning_rate = 1e-3;
    config.batch_size = 128;
    config.target_kl = 0.01;
    config.max_gradient_norm = 0;
  } else if (kind == PresetKind::kHone) {
    config.rollout_steps = 256;
    config.batch_size = 256;
    config.cg_steps = 10;
  }
}

std::unique_ptr<Learner> MakeTrpo(std::shared_ptr<Task> task, const Config& config) {
  return std::make_unique<Trpo>(std::move(task), config);
}

}  // namespace hone::learn
