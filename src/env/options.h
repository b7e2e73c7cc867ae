// Options of observation, reward and schedule of an environment.
#ifndef HONE_ENV_OPTIONS_H_
#define HONE_ENV_OPTIONS_H_

#include <cstdint>
#include <string>

#include "core/objective.h"

namespace hone {

// Parts of an observation; view.h says what is in each.
struct ObservationOptions {
  bool opcodes = true;
  bool opcode_counts = false;
  bool cost = false;
  bool peak_memory = false;
  bool history = false;
  bool graph = false;
};

// The reward of a step from s to s' is the sum of what follows, each times its weight; 0 leaves a
// part out. s0 is the program as loaded, v the objective (lower is better).
struct RewardOptions {
  Objective objective = Objective::kOpCount;
  double change = 1;  // (v(s) - v(s')) / v(s0): the scaled change of the op count, for op_count
  // (v(s) - v(s')) / (v(s0) - v(default order's result)), the divisor at least kLeastHeadroom of
  // v(s0): without a discount an episode's sum is the ratio (I - R) / (I - D) of XLA Gym.
  double headroom = 0;
  double level = 0;   // -v(s') / v(s0): XLA Gym's own (Ganai et al. 2023, section 3)

  // Potential-based shaping, discount * phi(s') - phi(s), and phi(s') = 0 where s' is terminal (Ng,
  // Harada, Russell 1999: the best policy stays the best). phi(s) = -(flops_weight * flops +
  // transcendentals_weight * transcendentals), over the same sum of s0. The weights are the
  // paper's.
  double shaping = 0;
  double discount = 0.99;
  double flops_weight = 1;
  double transcendentals_weight = 2;

  double final_default = 0;  // at the end: (v(default order's result) - v(s')) / v(s0)
  double final_run_time = 0;  // at the end: log(t(s0) / t(s')), medians of runs on XLA:CPU
  double failure = 0;         // subtracted where a pass failed
};

inline constexpr double kLeastHeadroom = 0.02;

enum class Schedule {
  kRoundRobin,  // environment i of n begins with program i and goes on by n
  kRandom,
  kCurriculum,  // at random among the smallest; a further one every `curriculum_episodes`
};

struct EnvOptions {
  std::string actions = "simplify";  // a set's name, or passes with commas between them
  bool stop_action = false;          // a further action, the last, that ends the episode
  int traj_limit = 40;               // steps, after which the episode is truncated; at least 1
  ObservationOptions observation;
  RewardOptions reward;
  Schedule schedule = Schedule::kRoundRobin;
  int64_t curriculum_episodes = 20;  // of one environment
  // Masks, and the end of an episode where nothing can change, go by what this episode has tried in
  // the state at hand, not by all that the table knows: then they depend on nothing but the actions.
  bool episode_mask = false;
  // Answers known transitions from the table. Without it every pass runs.
  bool use_table = true;
  // Known transitions, of all programs, beyond which all are forgotten: about 0.3 KB each.
  int64_t most_transitions = 1'000'000;
};

}  // namespace hone

#endif  // HONE_ENV_OPTIONS_H_
