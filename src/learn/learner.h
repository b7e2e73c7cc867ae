// Reinforcement learning: an algorithm that acts in a task and learns from it.
#ifndef HONE_LEARN_LEARNER_H_
#define HONE_LEARN_LEARNER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "learn/config.h"
#include "learn/imitation.h"
#include "learn/task.h"
#include "policy/policy_file.h"

namespace hone::learn {

// What an update tells, by name: "episode_return" and "episode_length" (means over the episodes
// that ended, absent where none did), "episodes", "policy_loss", "value_loss", "entropy",
// "approximate_kl", …
using Report = std::map<std::string, double>;

class Learner {
 public:
  virtual ~Learner() = default;

  // Acts for a while and learns from it: one rollout and its epochs, or some steps and a batch.
  virtual StatusOr<Report> Update() = 0;
  // Environment steps so far, over all environments.
  virtual int64_t steps() const = 0;

  // Fits the networks to what others did, before the first Update. Errors: an algorithm that
  // cannot.
  virtual StatusOr<Imitated> Imitate(const Demonstrations& demonstrations,
                                     const ImitationOptions& options);

  // Greedy actions of what has been learnt so far: [B] int64.
  virtual torch::Tensor Act(const Observation& observation) = 0;

  // The tensors of a policy file and what of its metadata the learner knows: head, temperature,
  // activation.
  virtual policy::PolicyFile Export() const = 0;

  // All that further updates depend on, the task's state and torch's generator among it. A learner
  // made with the same config goes on from it to the same bits, on one thread.
  virtual Status Save(const std::string& path) const = 0;
  virtual Status Load(const std::string& path) = 0;
};

struct LearnerInfo {
  std::string_view name;
  std::string_view meaning;  // one line, with its source
  std::unique_ptr<Learner> (*make)(std::shared_ptr<Task> task, const Config& config);
  // Its own settings of a preset; those of kSb3 are set before any other's.
  void (*set)(PresetKind kind, Config& config);
};

const std::vector<LearnerInfo>& Learners();
const LearnerInfo* FindLearner(std::string_view name);

}  // namespace hone::learn

#endif  // HONE_LEARN_LEARNER_H_
