// The settings of every algorithm, in one struct.
#ifndef HONE_LEARN_CONFIG_H_
#define HONE_LEARN_CONFIG_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace hone::learn {

// A "vector step" is a step of every environment of the task. The values here are those of
// stable-baselines3 2.x for PPO; Preset has those of the others.
struct Config {
  std::string algorithm = "ppo";  // a name in learners.cc
  int64_t seed = 1;
  // Over all environments; schedules end here. Whoever calls Update stops here.
  int64_t total_steps = 1'000'000;

  // Networks, as in NetworkOptions. Policy and value networks are separate and alike.
  std::string network = "mlp";
  std::vector<int64_t> hidden = {64, 64};
  std::string activation = "tanh";
  bool orthogonal = true;       // else torch's own initial weights
  bool value_features = false;  // the value network sees Observation::value_features too

  double learning_rate = 3e-4;
  bool decay_learning_rate = false;  // linearly, to zero at total_steps
  double adam_epsilon = 1e-5;
  double max_gradient_norm = 0.5;  // of all parameters together; 0 is without
  double gamma = 0.99;

  // On-policy: ppo, a2c, trpo.
  int64_t rollout_steps = 2048;  // vector steps
  int64_t batch_size = 64;       // dqn's too; a2c has none: the whole rollout
  int64_t epochs = 10;           // ppo
  double gae_lambda = 0.95;
  double clip_range = 0.2;    // ppo
  double target_kl = 0;       // ppo: stops an update at 1.5 times it, 0 never; trpo: the bound
  double entropy_weight = 0;  // ppo, a2c
  double value_weight = 0.5;  // ppo, a2c
  bool normalize_advantage = true;  // to mean 0, deviation 1: in each batch
  // A thread acts with the parameters of one update ago while the learner learns.
  bool overlap = false;
  bool rms_prop = false;  // a2c: RMSprop (alpha 0.99), not Adam; adam_epsilon is its epsilon too

  // TRPO.
  int64_t cg_steps = 15;
  double cg_damping = 0.1;
  int64_t line_search_steps = 10;
  double line_search_shrink = 0.8;
  int64_t value_epochs = 10;

  // DQN.
  int64_t replay_size = 1'000'000;
  int64_t learning_starts = 100;      // steps taken at random before
  int64_t train_every = 4;            // vector steps
  int64_t gradient_steps = 1;         // each time
  int64_t trainings_per_update = 64;  // rounds of acting and training in one Learner::Update
  int64_t target_every = 10'000;      // steps between copies to the target network
  double exploration_fraction = 0.1;  // of total_steps, in which epsilon falls linearly
  double initial_epsilon = 1;
  double final_epsilon = 0.05;
  int64_t n_step = 1;
  bool double_q = false;
  bool duelling = false;
  bool prioritised = false;
  double priority_exponent = 0.6;
  double priority_beta = 0.4;  // the weights' exponent at the beginning; 1 at total_steps
  double temperature = 1;      // of the exported policy: logits are action values over it
};

enum class PresetKind {
  kSb3,    // stable-baselines3's settings, sb3-contrib's for TRPO; 2.x of both
  kPaper,  // those of "XLA Gym" (Ganai et al. 2023) for PPO, and where it tells none kSb3's
  kHone,   // ours
};
// `kind`: "sb3", "paper", "hone". Errors: no learner or preset of that name.
StatusOr<Config> Preset(std::string_view algorithm, std::string_view kind);

// An object of all fields.
std::string ToJson(const Config& config);
// Fields that are not there keep the default of `base`; unknown ones are an error.
StatusOr<Config> FromJson(std::string_view json, const Config& base = {});
// "key=value"; a list is numbers with commas between them.
Status SetField(Config& config, std::string_view assignment);
// Whether the values make sense together.
Status Validate(const Config& config);

}  // namespace hone::learn

#endif  // HONE_LEARN_CONFIG_H_
