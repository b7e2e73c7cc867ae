#include "learn/a2c.h"
#include "learn/dqn.h"
#include "learn/learner.h"
#include "learn/ppo.h"
#include "learn/trpo.h"

namespace hone::learn {

StatusOr<Imitated> Learner::Imitate(const Demonstrations&, const ImitationOptions&) {
  return MakeError(ErrorCode::kInvalidInput,
                   "this algorithm does not imitate; ppo, a2c and trpo do");
}

const std::vector<LearnerInfo>& Learners() {
  static const std::vector<LearnerInfo> learners = {
      {"a2c", "advantage actor-critic: one step of the gradient a rollout (Mnih et al. 2016)",
       MakeA2c},
      {"dqn", "action values from a replay memory (Mnih et al. 2015, Hessel et al. 2018)", MakeDqn},
      {"ppo", "some epochs of clipped policy gradients a rollout (Schulman et al. 2017)", MakePpo},
      {"trpo", "the largest step within a trust region (Schulman et al. 2015)", MakeTrpo},
  };
  return learners;
}

const LearnerInfo* FindLearner(std::string_view name) {
  for (const LearnerInfo& learner : Learners()) {
    if (learner.name == name) return &learner;
  }
  return nullptr;
}

}  // namespace hone::learn
