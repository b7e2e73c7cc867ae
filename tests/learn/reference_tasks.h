// Small tasks with a known optimum, for learners to be measured on.
#ifndef HONE_TESTS_LEARN_REFERENCE_TASKS_H_
#define HONE_TESTS_LEARN_REFERENCE_TASKS_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/rng.h"
#include "learn/task.h"

namespace hone::learn {

// One environment, without tensors.
class Game {
 public:
  struct Shape {
    int64_t features = 0;
    int64_t value_features = 0;
    int64_t actions = 0;
    int64_t step_limit = 0;  // then the episode is truncated
  };
  virtual ~Game() = default;
  virtual Shape shape() const = 0;
  virtual void Reset(Rng& rng) = 0;
  // True where the episode ends with it.
  virtual bool Step(int64_t action, Rng& rng, float& reward) = 0;
  virtual void Look(float* features, float* value_features) const = 0;
  virtual bool Allowed(int64_t action) const = 0;
  virtual std::vector<double> Save() const = 0;
  virtual void Restore(const std::vector<double>& saved) = 0;
};

// Many games of a kind, each with its random numbers. Counts actions that were not allowed, and
// takes none of them.
class GameTask : public Task {
 public:
  using MakeGame = std::function<std::unique_ptr<Game>()>;
  GameTask(int64_t environments, const MakeGame& make);

  TaskShape shape() const override;
  StatusOr<Observation> Reset(uint64_t seed) override;
  StatusOr<Transition> Step(const torch::Tensor& actions) override;
  std::string Save() const override;
  StatusOr<Observation> Restore(const std::string& saved) override;

  int64_t masked_actions_taken() const { return masked_actions_taken_; }
  const Game& game(size_t i) const { return *games_[i]; }

 private:
  Observation Look() const;

  std::vector<std::unique_ptr<Game>> games_;
  std::vector<Rng> rngs_;
  std::vector<int64_t> lengths_;  // steps so far in the episode
  int64_t masked_actions_taken_ = 0;
};

// CartPole-v1 of Gymnasium (classic_control/cartpole.py): Euler's method, 500 steps.
class CartPole : public Game {
 public:
  Shape shape() const override { return {4, 0, 2, 500}; }
  void Reset(Rng& rng) override;
  bool Step(int64_t action, Rng& rng, float& reward) override;
  void Look(float* features, float* value_features) const override;
  bool Allowed(int64_t) const override { return true; }
  std::vector<double> Save() const override { return {state_.begin(), state_.end()}; }
  void Restore(const std::vector<double>& saved) override;

 private:
  std::array<double, 4> state_ = {};  // x, its speed, the angle, its speed
};

// A grid of 5 x 5 with traps: a step costs 0.02, a trap ends with -1, the goal with +1; moves out
// of the grid are masked; a tenth of the moves slip to another allowed direction. Value features:
// the distance to the goal.
class TrapGrid : public Game {
 public:
  static constexpr int kSide = 5;
  static constexpr int kCells = kSide * kSide;
  static constexpr double kSlip = 0.1;
  static constexpr double kGamma = 0.95;

  Shape shape() const override { return {kCells, 1, 4, 60}; }
  void Reset(Rng& rng) override;
  bool Step(int64_t action, Rng& rng, float& reward) override;
  void Look(float* features, float* value_features) const override;
  bool Allowed(int64_t action) const override { return Allowed(cell_, action); }
  std::vector<double> Save() const override { return {static_cast<double>(cell_)}; }
  void Restore(const std::vector<double>& saved) override { cell_ = static_cast<int>(saved[0]); }

  static bool Allowed(int cell, int64_t action);
  // What moving (without slip) earns, and whether it ends.
  static int Move(int cell, int64_t action, double& reward, bool& over);
  static bool Starts(int cell);  // an episode may start here

 private:
  int cell_ = 0;
};

// The mean value over starts, at kGamma: of the best policy (value iteration) where there is no
// `policy`, else of the policy (cell -> action), by iterated evaluation.
double TrapGridValue(const std::optional<std::vector<int64_t>>& policy);

// A contextual Bernoulli bandit: one step an episode; the context tells the arms' chances apart.
class Bandit : public Game {
 public:
  static constexpr int kContexts = 4;
  static constexpr int kArms = 6;

  Shape shape() const override { return {kContexts, 0, kArms, 1}; }
  void Reset(Rng& rng) override { context_ = static_cast<int>(rng.Below(kContexts)); }
  bool Step(int64_t action, Rng& rng, float& reward) override;
  void Look(float* features, float* value_features) const override;
  bool Allowed(int64_t action) const override { return Allowed(context_, action); }
  std::vector<double> Save() const override { return {static_cast<double>(context_)}; }
  void Restore(const std::vector<double>& saved) override { context_ = static_cast<int>(saved[0]); }

  static bool Allowed(int context, int64_t arm) { return arm != (context + 1) % kArms; }
  static double Chance(int context, int64_t arm);  // the best of all is masked

 private:
  int context_ = 0;
};

// Masks and rewards at random, of no use but to see which actions are taken.
class RandomMasks : public Game {
 public:
  static constexpr int kActions = 7;

  Shape shape() const override { return {3, 2, kActions, 9}; }
  void Reset(Rng& rng) override { Draw(rng); }
  bool Step(int64_t action, Rng& rng, float& reward) override;
  void Look(float* features, float* value_features) const override;
  bool Allowed(int64_t action) const override { return (mask_ >> action) & 1; }
  std::vector<double> Save() const override;
  void Restore(const std::vector<double>& saved) override;

 private:
  void Draw(Rng& rng);
  uint32_t mask_ = 1;
  std::array<float, 5> features_ = {};
};

template <class G>
std::shared_ptr<GameTask> MakeGameTask(int64_t environments) {
  return std::make_shared<GameTask>(environments, [] { return std::make_unique<G>(); });
}

}  // namespace hone::learn

#endif  // HONE_TESTS_LEARN_REFERENCE_TASKS_H_
