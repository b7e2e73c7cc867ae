// Deep Q-learning (Mnih et al. 2015), as stable-baselines3 has it, but that each environment
// explores on its own. Options: double (van Hasselt et al. 2016), duelling (Wang et al. 2016),
// prioritised replay (Schaul et al. 2016) and n-step returns, as in Rainbow (Hessel et al. 2018).
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/rng.h"
#include "learn/actor.h"
#include "learn/card.h"
#include "learn/categorical.h"
#include "learn/losses.h"
#include "learn/n_step.h"
#include "learn/parameters.h"
#include "learn/replay.h"
#include "learn/seeded.h"

namespace hone::learn {
namespace {

class Dqn : public Learner {
 public:
  Dqn(std::shared_ptr<Task> task, const Config& config)
      : config_(config),
        online_(MakeQ(config, task->shape())),
        target_(MakeQ(config, task->shape())),
        parameters_({online_}),
        target_parameters_({target_}),
        optimizer_(MakeOptimizer(config, parameters_, 0, parameters_.size())),
        actor_(std::move(task)),
        rng_(SubSeed(config.seed, 1)),
        acting_rng_(SubSeed(config.seed, 2)),
        replay_(actor_.shape(), config.replay_size, config.prioritised, config.priority_exponent),
        n_step_(actor_.shape(), config.n_step, config.gamma) {}

  StatusOr<Report> Update() override {
    return Guarded(config_.algorithm, [&] { return UpdateOnce(); });
  }
  int64_t steps() const override { return actor_.steps(); }
  torch::Tensor Act(const Observation& observation) override {
    const torch::NoGradGuard no_gradients;
    return MaskedArgmax(Q(*online_, observation), observation.mask);
  }
  policy::PolicyFile Export() const override;
  Status Save(const std::string& path) const override;
  Status Load(const std::string& path) override;

 private:
  static std::shared_ptr<Network> MakeQ(const Config& config, const TaskShape& shape) {
    const SeededTorch seeded(static_cast<uint64_t>(config.seed));
    const NetworkOptions options = {config.network, config.hidden, config.activation,
                                    /*value_features=*/false, config.orthogonal};
    return MakeNetwork(options, shape, shape.actions + config.duelling, 1.0);
  }
  torch::Tensor Q(Network& network, const Observation& observation) const {
    const torch::Tensor outputs = network.Forward(observation);
    return config_.duelling ? Duel(outputs) : outputs;
  }
  double Progress() const {
    return std::min(1.0, static_cast<double>(steps()) /
                             std::max(1.0, static_cast<double>(config_.total_steps)));
  }
  double Epsilon() const {
    const double part =
        config_.exploration_fraction > 0 ? Progress() / config_.exploration_fraction : 1;
    return config_.initial_epsilon +
           std::min(1.0, part) * (config_.final_epsilon - config_.initial_epsilon);
  }

  torch::Tensor Explore();
  Status Step();
  void Train(Report& report);
  StatusOr<Report> UpdateOnce();

  const Config config_;
  std::shared_ptr<Network> online_, target_;
  FlatParameters parameters_, target_parameters_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  Actor actor_;
  Rng rng_, acting_rng_;  // of the memory's draws; of exploration
  Replay replay_;
  NStep n_step_;
};

// Actions [B]: at random with probability epsilon, else the best.
torch::Tensor Dqn::Explore() {
  const Observation& seen = actor_.seen();
  const double epsilon = steps() < config_.learning_starts ? 1 : Epsilon();
  const int64_t count = seen.size(), actions = actor_.shape().actions;
  std::vector<bool> random;
  for (int64_t b = 0; b < count; ++b) random.push_back(acting_rng_.Unit() < epsilon);
  const bool all = std::find(random.begin(), random.end(), false) == random.end();
  torch::Tensor chosen = all ? torch::empty({count}, torch::kInt64) : Act(seen);
  const torch::Tensor mask = seen.mask.contiguous();
  std::vector<int64_t> allowed;
  for (int64_t b = 0; b < count; ++b) {
    if (!random[b]) continue;
    allowed.clear();
    for (int64_t a = 0; a < actions; ++a) {
      if (mask.data_ptr<bool>()[b * actions + a]) allowed.push_back(a);
    }
    TORCH_CHECK(!allowed.empty(), "no action is allowed");
    chosen.data_ptr<int64_t>()[b] = acting_rng_.Pick(allowed);
  }
  return chosen;
}

Status Dqn::Step() {
  const Observation before = actor_.seen();
  const torch::Tensor actions = Explore();
  const StatusOr<Transition> transition = actor_.Step(actions);
  if (!transition) return tl::unexpected(transition.error());
  n_step_.Add(before, actions, *transition, replay_);
  // Counted in vector steps, as stable-baselines3 does.
  const int64_t environments = actor_.shape().environments;
  const int64_t every = std::max<int64_t>(config_.target_every / environments, 1);
  if (steps() / environments % every == 0) {
    target_parameters_.values().copy_(parameters_.values());
  }
  return {};
}

void Dqn::Train(Report& report) {
  const double beta = config_.priority_beta + Progress() * (1 - config_.priority_beta);
  const Memories drawn = replay_.Draw(config_.batch_size, beta, rng_);
  torch::Tensor targets;
  {
    const torch::NoGradGuard no_gradients;
    const torch::Tensor next_target = Q(*target_, drawn.after);
    const torch::Tensor next_online = config_.double_q ? Q(*online_, drawn.after) : torch::Tensor();
    targets = DqnTargets(next_online, next_target, drawn.after.mask, drawn.reward, drawn.discount,
                         config_.double_q);
  }
  const torch::Tensor q = Q(*online_, drawn.before);
  const torch::Tensor loss = DqnLoss(q, drawn.action, targets, drawn.weight);
  parameters_.ClearGradients();
  loss.backward();
  parameters_.ClipGradients(config_.max_gradient_norm);
  optimizer_->step();
  if (config_.prioritised) {
    const torch::Tensor taken = q.detach().gather(1, drawn.action.unsqueeze(1)).squeeze(1);
    replay_.SetPriorities(drawn.index, taken - targets);
  }
  report["value_loss"] += loss.item<double>();
  report["target"] += targets.mean().item<double>();
  report["batches"] += 1;
}

StatusOr<Report> Dqn::UpdateOnce() {
  if (Status begun = actor_.Begin(SubSeed(config_.seed, 3)); !begun) {
    return tl::unexpected(std::move(begun).error());
  }
  Report report;
  for (int64_t i = 0; i < config_.trainings_per_update; ++i) {
    if (i > 0 && steps() >= config_.total_steps) break;
    for (int64_t k = 0; k < config_.train_every; ++k) {
      if (Status stepped = Step(); !stepped) return tl::unexpected(std::move(stepped).error());
    }
    if (steps() <= config_.learning_starts || replay_.size() == 0) continue;
    report["learning_rate"] = SetLearningRate(config_, steps(), *optimizer_);
    for (int64_t k = 0; k < config_.gradient_steps; ++k) Train(report);
  }
  if (const auto batches = report.find("batches"); batches != report.end()) {
    report["value_loss"] /= batches->second;
    report["target"] /= batches->second;
  }
  report["epsilon"] = Epsilon();
  actor_.TakeEpisodes(report);
  return report;
}

// V + A - mean A is linear in the last layer's inputs: a duelling head is one dense layer.
void FoldDuel(policy::Tensor& tensor) {
  const size_t rows = static_cast<size_t>(tensor.shape[0]), actions = rows - 1;
  const size_t width = tensor.values.size() / rows;
  for (size_t i = 0; i < width; ++i) {
    double mean = 0;
    for (size_t a = 0; a < actions; ++a) mean += tensor.values[a * width + i];
    const double shift = tensor.values[actions * width + i] - mean / static_cast<double>(actions);
    for (size_t a = 0; a < actions; ++a) {
      tensor.values[a * width + i] = static_cast<float>(tensor.values[a * width + i] + shift);
    }
  }
  tensor.values.resize(actions * width);
  tensor.shape[0] = static_cast<int64_t>(actions);
}

policy::PolicyFile Dqn::Export() const {
  policy::PolicyFile file;
  file.metadata = MakeCard(config_, steps(), "q", config_.temperature);
  online_->Export("policy", file.tensors);
  if (config_.duelling && config_.network != "offers") {  // which leaves the value out
    // The last layer of the stack, or of a graph network's head.
    const std::string stack = config_.network == "graph" ? "policy.head." : "policy.";
    int last = 0;
    while (file.tensors.count(stack + std::to_string(last + 1) + ".weight") > 0) ++last;
    FoldDuel(file.tensors.at(stack + std::to_string(last) + ".weight"));
    FoldDuel(file.tensors.at(stack + std::to_string(last) + ".bias"));
  }
  return file;
}

Status Dqn::Save(const std::string& path) const {
  return Guarded("cannot save " + path, [&]() -> Status {
    CheckpointWriter to;
    to.WriteText("format", kCheckpointFormat);
    to.WriteText("algorithm", config_.algorithm);
    to.Write("parameters", parameters_.values());
    to.Write("target_parameters", target_parameters_.values());
    to.WriteOptimizer("optimizer", *optimizer_);
    to.WriteRng("rng", rng_);
    to.WriteRng("acting_rng", acting_rng_);
    actor_.Save(to);
    replay_.Save(to);
    n_step_.Save(to);
    to.Finish(path);
    return {};
  });
}

Status Dqn::Load(const std::string& path) {
  return Guarded("cannot load " + path, [&]() -> Status {
    CheckpointReader from(path);
    CheckFormat(from, config_.algorithm);
    const int64_t size = parameters_.size();
    const torch::Tensor parameters = from.Read("parameters", {size}, torch::kFloat32);
    const torch::Tensor target = from.Read("target_parameters", {size}, torch::kFloat32);
    auto optimizer = MakeOptimizer(config_, parameters_, 0, size);
    from.ReadOptimizer("optimizer", *optimizer);
    const Rng rng = from.ReadRng("rng"), acting_rng = from.ReadRng("acting_rng");
    NStep n_step(actor_.shape(), config_.n_step, config_.gamma);
    n_step.Load(from);
    Replay replay(actor_.shape(), config_.replay_size, config_.prioritised,
                  config_.priority_exponent);
    replay.Load(from);
    actor_.Load(from);  // the last that can fail
    parameters_.values().copy_(parameters);
    target_parameters_.values().copy_(target);
    optimizer_ = std::move(optimizer);
    rng_ = rng;
    acting_rng_ = acting_rng;
    n_step_ = std::move(n_step);
    replay_ = std::move(replay);
    return {};
  });
}

}  // namespace

void SetDqn(PresetKind kind, Config& config) {
  if (kind == PresetKind::kSb3) {
    config.activation = "relu";
    config.orthogonal = false;
    config.learning_rate = 1e-4;
    config.adam_epsilon = 1e-8;
    config.batch_size = 32;
    config.max_gradient_norm = 10;
  } else if (kind == PresetKind::kHone) {
    config.activation = "relu";
    config.orthogonal = true;
    config.learning_rate = 2.5e-4;
    config.batch_size = 128;
    config.replay_size = 200'000;
    config.learning_starts = 1000;
    config.train_every = 1;
    config.target_every = 2000;
    config.n_step = 3;
    config.double_q = config.duelling = config.prioritised = true;
    config.temperature = 0.1;
  }
}

std::unique_ptr<Learner> MakeDqn(std::shared_ptr<Task> task, const Config& config) {
  return std::make_unique<Dqn>(std::move(task), config);
}

}  // namespace hone::learn
