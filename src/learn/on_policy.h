// The common part of ppo, a2c and trpo: a policy and a value network, rollouts, checkpoints.
#ifndef HONE_LEARN_ON_POLICY_H_
#define HONE_LEARN_ON_POLICY_H_

#include <torch/torch.h>

#include <memory>
#include <optional>
#include <string>

#include "core/rng.h"
#include "learn/actor.h"
#include "learn/learner.h"
#include "learn/parameters.h"
#include "learn/rollout.h"

namespace hone::learn {

// Two networks and their parameters: the policy's first.
struct ActorCritic {
  std::shared_ptr<Network> policy;
  std::shared_ptr<Network> value;
  FlatParameters parameters;
  int64_t policy_size;  // as many of the parameters are the policy's
};
// Initial weights are drawn by torch's default generator, seeded for it and put back.
ActorCritic MakeActorCritic(const Config& config, const TaskShape& shape);

// One update is one rollout. With config.overlap, update k learns from the rollout that the
// parameters before update k - 1 acted, while a thread acts the next with those before k: the lag
// is one, whatever the machine's speed.
class OnPolicyLearner : public Learner {
 public:
  // `policy_optimised`: whether the optimiser has the policy's parameters too, or the value's
  // alone.
  OnPolicyLearner(std::shared_ptr<Task> task, const Config& config, bool policy_optimised);

  StatusOr<Report> Update() override;
  int64_t steps() const override { return actor_.steps(); }
  StatusOr<Imitated> Imitate(const Demonstrations& demonstrations,
                             const ImitationOptions& options) override;
  torch::Tensor Act(const Observation& observation) override;
  policy::PolicyFile Export() const override;
  Status Save(const std::string& path) const override;
  Status Load(const std::string& path) override;

 protected:
  // Adds to the report.
  virtual void Train(const Rollout& rollout, Report& report) = 0;

  const Config config_;
  ActorCritic networks_;
  bool policy_optimised_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  Rng rng_;  // of Train

 private:
  StatusOr<Report> UpdateOnce();
  std::unique_ptr<torch::optim::Optimizer> NewOptimizer() const;

  Actor actor_;
  Rng acting_rng_;
  // Where they overlap: the networks of the thread that acts, and what it acted last.
  std::optional<ActorCritic> acting_;
  std::optional<Rollout> pending_;
};

}  // namespace hone::learn

#endif  // HONE_LEARN_ON_POLICY_H_
