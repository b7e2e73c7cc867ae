// The list of learners: adding one is a file, NAME.cc, and a line here.
#include "learn/learner.h"

namespace hone::learn {

// What makes it and what sets its settings, in its file; its name; its meaning, with its source.
#define HONE_LEARNERS(X)                                                             \
  X(MakeA2c, SetA2c, "a2c",                                                          \
    "advantage actor-critic: one step of the gradient a rollout (Mnih et al. 2016)") \
  X(MakeDqn, SetDqn, "dqn",                                                          \
    "action values from a replay memory (Mnih et al. 2015, Hessel et al. 2018)")     \
  X(MakePpo, SetPpo, "ppo",                                                          \
    "some epochs of clipped policy gradients a rollout (Schulman et al. 2017)")      \
  X(MakeTrpo, SetTrpo, "trpo", "the largest step within a trust region (Schulman et al. 2015)")

#define HONE_DECLARE(make, set, name, meaning)                                     \
  std::unique_ptr<Learner> make(std::shared_ptr<Task> task, const Config& config); \
  void set(PresetKind kind, Config& config);
HONE_LEARNERS(HONE_DECLARE)
#undef HONE_DECLARE

const std::vector<LearnerInfo>& Learners() {
#define HONE_ROW(make, set, name, meaning) {name, meaning, make, set},
  static const std::vector<LearnerInfo> learners = {HONE_LEARNERS(HONE_ROW)};
#undef HONE_ROW
  return learners;
}

const LearnerInfo* FindLearner(std::string_view name) {
  for (const LearnerInfo& learner : Learners()) {
    if (learner.name == name) return &learner;
  }
  return nullptr;
}

StatusOr<Imitated> Learner::Imitate(const Demonstrations&, const ImitationOptions&) {
  return MakeError(ErrorCode::kInvalidInput,
                   "this algorithm does not imitate; ppo, a2c and trpo do");
}

}  // namespace hone::learn
