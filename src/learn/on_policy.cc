#include "learn/on_policy.h"

#include <ATen/Parallel.h>

#include <thread>
#include <utility>

#include "learn/card.h"
#include "learn/categorical.h"
#include "learn/seeded.h"

namespace hone::learn {

ActorCritic MakeActorCritic(const Config& config, const TaskShape& shape) {
  const SeededTorch seeded(static_cast<uint64_t>(config.seed));
  NetworkOptions options = {config.network, config.hidden, config.activation,
                            /*value_features=*/false, config.orthogonal};
  const std::shared_ptr<Network> policy = MakeNetwork(options, shape, shape.actions, 0.01);
  options.value_features = config.value_features;
  const std::shared_ptr<Network> value = MakeNetwork(options, shape, 1, 1.0);
  int64_t policy_size = 0;
  for (const torch::Tensor& parameter : policy->parameters()) policy_size += parameter.numel();
  return {policy, value, FlatParameters({policy, value}), policy_size};
}

OnPolicyLearner::OnPolicyLearner(std::shared_ptr<Task> task, const Config& config,
                                 bool policy_optimised)
    : config_(config),
      networks_(MakeActorCritic(config, task->shape())),
      policy_optimised_(policy_optimised),
      optimizer_(NewOptimizer()),
      rng_(SubSeed(config.seed, 1)),
      actor_(std::move(task)),
      acting_rng_(SubSeed(config.seed, 2)) {
  if (config.overlap) acting_.emplace(MakeActorCritic(config, actor_.shape()));
}

std::unique_ptr<torch::optim::Optimizer> OnPolicyLearner::NewOptimizer() const {
  return MakeOptimizer(config_, networks_.parameters, policy_optimised_ ? 0 : networks_.policy_size,
                       networks_.parameters.size());
}

StatusOr<Report> OnPolicyLearner::Update() {
  return Guarded(config_.algorithm, [&] { return UpdateOnce(); });
}

StatusOr<Report> OnPolicyLearner::UpdateOnce() {
  if (Status begun = actor_.Begin(SubSeed(config_.seed, 3)); !begun) {
    return tl::unexpected(std::move(begun).error());
  }
  Report report;
  const auto act = [&](const ActorCritic& networks) {
    return Collect(config_, actor_, *networks.policy, *networks.value, acting_rng_);
  };
  if (!config_.overlap) {
    const StatusOr<Rollout> rollout = act(networks_);
    if (!rollout) return tl::unexpected(rollout.error());
    Train(*rollout, report);
  } else {
    if (!pending_) {
      StatusOr<Rollout> first = act(networks_);
      if (!first) return tl::unexpected(std::move(first).error());
      pending_ = *std::move(first);
    }
    acting_->parameters.values().copy_(networks_.parameters.values());
    StatusOr<Rollout> next;
    {
      const std::jthread acting([&] {
        at::init_num_threads();  // as many as the caller's
        next = Guarded(config_.algorithm, [&] { return act(*acting_); });
      });
      Train(*pending_, report);
    }
    pending_.reset();
    if (!next) return tl::unexpected(std::move(next).error());
    pending_ = *std::move(next);
  }
  actor_.TakeEpisodes(report);
  return report;
}

StatusOr<Imitated> OnPolicyLearner::Imitate(const Demonstrations& demonstrations,
                                            const ImitationOptions& options) {
  return Guarded(config_.algorithm, [&]() -> StatusOr<Imitated> {
    return learn::Imitate(demonstrations, options, *networks_.policy, *networks_.value,
                          networks_.parameters, rng_);
  });
}

torch::Tensor OnPolicyLearner::Act(const Observation& observation) {
  const torch::NoGradGuard no_gradients;
  return MaskedArgmax(networks_.policy->Forward(observation), observation.mask);
}

policy::PolicyFile OnPolicyLearner::Export() const {
  policy::PolicyFile file;
  file.metadata = MakeCard(config_, steps(), "logits", 1);
  networks_.policy->Export("policy", file.tensors);
  networks_.value->Export("value", file.tensors);
  return file;
}

Status OnPolicyLearner::Save(const std::string& path) const {
  return Guarded("cannot save " + path, [&]() -> Status {
    CheckpointWriter to;
    to.WriteText("format", kCheckpointFormat);
    to.WriteText("algorithm", config_.algorithm);
    to.Write("parameters", networks_.parameters.values());
    to.WriteOptimizer("optimizer", *optimizer_);
    to.WriteRng("rng", rng_);
    to.WriteRng("acting_rng", acting_rng_);
    actor_.Save(to);
    to.WriteCount("pending", pending_.has_value());
    if (pending_) WriteRollout(*pending_, to);
    to.Finish(path);
    return {};
  });
}

Status OnPolicyLearner::Load(const std::string& path) {
  return Guarded("cannot load " + path, [&]() -> Status {
    CheckpointReader from(path);
    CheckFormat(from, config_.algorithm);
    const torch::Tensor parameters =
        from.Read("parameters", {networks_.parameters.size()}, torch::kFloat32);
    std::unique_ptr<torch::optim::Optimizer> optimizer = NewOptimizer();
    from.ReadOptimizer("optimizer", *optimizer);
    const Rng rng = from.ReadRng("rng"), acting_rng = from.ReadRng("acting_rng");
    std::optional<Rollout> pending;
    const bool has_pending = from.ReadCount("pending") != 0;
    TORCH_CHECK(!has_pending || config_.overlap, "it was saved by a learner with overlap");
    if (has_pending) {
      pending =
          ReadRollout(from, actor_.shape(), config_.rollout_steps * actor_.shape().environments);
    }
    actor_.Load(from);  // the last that can fail
    networks_.parameters.values().copy_(parameters);
    optimizer_ = std::move(optimizer);
    rng_ = rng;
    acting_rng_ = acting_rng;
    pending_ = std::move(pending);
    return {};
  });
}

}  // namespace hone::learn
