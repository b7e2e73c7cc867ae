#include "learn/reference_tasks.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

namespace hone::learn {
namespace {

void Append(std::string& to, const void* data, size_t size) {
  to.append(static_cast<const char*>(data), size);
}

template <class T>
bool Take(const std::string& from, size_t& at, T* to, size_t count = 1) {
  if (from.size() < at + sizeof(T) * count) return false;
  std::memcpy(to, from.data() + at, sizeof(T) * count);
  at += sizeof(T) * count;
  return true;
}

Observation Room(int64_t environments, const Game::Shape& shape) {
  Observation room;
  room.features = torch::empty({environments, shape.features});
  room.value_features = torch::empty({environments, shape.value_features});
  room.mask = torch::empty({environments, shape.actions}, torch::kBool);
  return room;
}

void LookAt(const Game& game, int64_t row, Observation& observation) {
  const int64_t features = observation.features.size(1);
  const int64_t value_features = observation.value_features.size(1);
  const int64_t actions = observation.mask.size(1);
  game.Look(observation.features.data_ptr<float>() + row * features,
            observation.value_features.data_ptr<float>() + row * value_features);
  bool* mask = observation.mask.data_ptr<bool>() + row * actions;
  for (int64_t a = 0; a < actions; ++a) mask[a] = game.Allowed(a);
}

}  // namespace

GameTask::GameTask(int64_t environments, const MakeGame& make) {
  for (int64_t i = 0; i < environments; ++i) games_.push_back(make());
}

TaskShape GameTask::shape() const {
  const Game::Shape shape = games_[0]->shape();
  return {static_cast<int64_t>(games_.size()), shape.features, shape.value_features, shape.actions,
          false};
}

StatusOr<Observation> GameTask::Reset(uint64_t seed) {
  Rng seeds(seed);
  rngs_.clear();
  lengths_.assign(games_.size(), 0);
  for (const auto& game : games_) {
    rngs_.emplace_back(seeds.Next());
    game->Reset(rngs_.back());
  }
  return Look();
}

Observation GameTask::Look() const {
  Observation seen = Room(static_cast<int64_t>(games_.size()), games_[0]->shape());
  for (size_t i = 0; i < games_.size(); ++i) LookAt(*games_[i], static_cast<int64_t>(i), seen);
  return seen;
}

StatusOr<Transition> GameTask::Step(const torch::Tensor& actions) {
  const int64_t count = static_cast<int64_t>(games_.size());
  const Game::Shape shape = games_[0]->shape();
  const int64_t* action = actions.data_ptr<int64_t>();
  Transition t;
  t.reward = torch::empty({count});
  t.terminated = torch::empty({count}, torch::kBool);
  t.truncated = torch::empty({count}, torch::kBool);
  t.next = Room(count, shape);
  t.last = Room(count, shape);
  for (int64_t i = 0; i < count; ++i) {
    Game& game = *games_[i];
    if (action[i] < 0 || action[i] >= shape.actions || !game.Allowed(action[i])) {
      ++masked_actions_taken_;
      return MakeError(ErrorCode::kInvalidInput, "an action that is not allowed");
    }
    const bool over = game.Step(action[i], rngs_[i], t.reward.data_ptr<float>()[i]);
    const bool cut = ++lengths_[i] >= shape.step_limit && !over;
    t.terminated.data_ptr<bool>()[i] = over;
    t.truncated.data_ptr<bool>()[i] = cut;
    LookAt(game, i, t.last);
    if (over || cut) {
      game.Reset(rngs_[i]);
      lengths_[i] = 0;
    }
    LookAt(game, i, t.next);
  }
  return t;
}

std::string GameTask::Save() const {
  std::string saved;
  for (size_t i = 0; i < games_.size(); ++i) {
    const uint64_t rng = rngs_[i].state();
    const std::vector<double> game = games_[i]->Save();
    const uint64_t size = game.size();
    Append(saved, &rng, sizeof rng);
    Append(saved, &lengths_[i], sizeof lengths_[i]);
    Append(saved, &size, sizeof size);
    Append(saved, game.data(), size * sizeof(double));
  }
  return saved;
}

StatusOr<Observation> GameTask::Restore(const std::string& saved) {
  const auto broken = MakeError(ErrorCode::kInvalidInput, "a broken state of a task");
  std::vector<Rng> rngs;
  std::vector<int64_t> lengths(games_.size());
  size_t at = 0;
  for (size_t i = 0; i < games_.size(); ++i) {
    uint64_t rng = 0, size = 0;
    if (!Take(saved, at, &rng) || !Take(saved, at, &lengths[i]) || !Take(saved, at, &size)) {
      return broken;
    }
    if (size > (saved.size() - at) / sizeof(double)) return broken;
    std::vector<double> game(size);
    Take(saved, at, game.data(), size);
    games_[i]->Restore(game);
    rngs.emplace_back(rng);
  }
  if (at != saved.size()) return broken;
  rngs_ = std::move(rngs);
  lengths_ = std::move(lengths);
  return Look();
}

void CartPole::Reset(Rng& rng) {
  for (double& value : state_) value = -0.05 + 0.1 * rng.Unit();
}

bool CartPole::Step(int64_t action, Rng&, float& reward) {
  constexpr double kGravity = 9.8, kMassPole = 0.1, kTotalMass = 1.1, kHalfLength = 0.5;
  constexpr double kPoleMassLength = kMassPole * kHalfLength, kForce = 10, kSeconds = 0.02;
  constexpr double kMostAngle = 12 * 2 * std::numbers::pi / 360, kMostX = 2.4;
  auto& [x, x_speed, angle, angle_speed] = state_;
  const double force = action == 1 ? kForce : -kForce;
  const double cosine = std::cos(angle), sine = std::sin(angle);
  const double pushed = (force + kPoleMassLength * angle_speed * angle_speed * sine) / kTotalMass;
  const double angle_acceleration =
      (kGravity * sine - cosine * pushed) /
      (kHalfLength * (4.0 / 3.0 - kMassPole * cosine * cosine / kTotalMass));
  const double x_acceleration = pushed - kPoleMassLength * angle_acceleration * cosine / kTotalMass;
  x += kSeconds * x_speed;
  x_speed += kSeconds * x_acceleration;
  angle += kSeconds * angle_speed;
  angle_speed += kSeconds * angle_acceleration;
  reward = 1;
  return x < -kMostX || x > kMostX || angle < -kMostAngle || angle > kMostAngle;
}

void CartPole::Look(float* features, float*) const {
  for (size_t i = 0; i < 4; ++i) features[i] = static_cast<float>(state_[i]);
}

void CartPole::Restore(const std::vector<double>& saved) {
  for (size_t i = 0; i < 4; ++i) state_[i] = saved[i];
}

namespace {

// From the upper left; S: starts, T: traps, G: the goal.
constexpr char kGrid[] =
    "S..T."
    ".T..."
    "..T.."
    "ST.T."
    "S...G";
constexpr double kStepCost = -0.02;

// As many actions as may be slipped to.
int Others(int cell, int64_t action) {
  int others = 0;
  for (int64_t a = 0; a < 4; ++a) others += a != action && TrapGrid::Allowed(cell, a);
  return others;
}

}  // namespace

bool TrapGrid::Starts(int cell) { return kGrid[cell] == 'S'; }

void TrapGrid::Reset(Rng& rng) {
  do {
    cell_ = static_cast<int>(rng.Below(kCells));
  } while (!Starts(cell_));
}

bool TrapGrid::Allowed(int cell, int64_t action) {  // up, right, down, left
  const int row = cell / kSide, column = cell % kSide;
  switch (action) {
    case 0:
      return row > 0;
    case 1:
      return column < kSide - 1;
    case 2:
      return row < kSide - 1;
    default:
      return column > 0;
  }
}

int TrapGrid::Move(int cell, int64_t action, double& reward, bool& over) {
  constexpr int kStep[] = {-kSide, 1, kSide, -1};
  const int to = cell + kStep[action];
  over = kGrid[to] == 'T' || kGrid[to] == 'G';
  reward = kGrid[to] == 'G' ? 1 : kGrid[to] == 'T' ? -1 : kStepCost;
  return to;
}

bool TrapGrid::Step(int64_t action, Rng& rng, float& reward) {
  if (rng.Unit() < kSlip) {
    size_t left = rng.Below(static_cast<size_t>(Others(cell_, action)));
    for (int64_t a = 0; a < 4; ++a) {
      if (a == action || !Allowed(cell_, a)) continue;
      if (left-- == 0) {
        action = a;
        break;
      }
    }
  }
  double earned = 0;
  bool over = false;
  cell_ = Move(cell_, action, earned, over);
  reward = static_cast<float>(earned);
  return over;
}

void TrapGrid::Look(float* features, float* value_features) const {
  std::fill_n(features, kCells, 0.f);
  features[cell_] = 1;
  const int right = kSide - 1 - cell_ % kSide, down = kSide - 1 - cell_ / kSide;
  value_features[0] = static_cast<float>(right + down) / (2 * kSide);
}

double TrapGridValue(const std::optional<std::vector<int64_t>>& policy) {
  constexpr int kCells = TrapGrid::kCells;
  std::vector<double> value(kCells, 0);
  const auto direct = [&](int cell, int64_t action) {
    double reward = 0;
    bool over = false;
    const int to = TrapGrid::Move(cell, action, reward, over);
    return reward + (over ? 0 : TrapGrid::kGamma * value[to]);
  };
  const auto with_slips = [&](int cell, int64_t action) {
    double slipped = 0;
    for (int64_t a = 0; a < 4; ++a) {
      if (a != action && TrapGrid::Allowed(cell, a)) slipped += direct(cell, a);
    }
    return (1 - TrapGrid::kSlip) * direct(cell, action) +
           TrapGrid::kSlip * slipped / Others(cell, action);
  };
  for (int sweep = 0; sweep < 1000; ++sweep) {
    for (int cell = 0; cell < kCells; ++cell) {
      if (kGrid[cell] == 'T' || kGrid[cell] == 'G') continue;
      if (policy) {
        value[cell] = with_slips(cell, (*policy)[cell]);
        continue;
      }
      double best = -1e9;
      for (int64_t a = 0; a < 4; ++a) {
        if (TrapGrid::Allowed(cell, a)) best = std::max(best, with_slips(cell, a));
      }
      value[cell] = best;
    }
  }
  double sum = 0;
  int starts = 0;
  for (int cell = 0; cell < kCells; ++cell) {
    if (!TrapGrid::Starts(cell)) continue;
    sum += value[cell];
    ++starts;
  }
  return sum / starts;
}

double Bandit::Chance(int context, int64_t arm) {
  if (!Allowed(context, arm)) return 0.95;
  const int64_t best = (context * 2 + 3 + (context == 2)) % kArms;
  return arm == best ? 0.8 : 0.1 + 0.08 * static_cast<double>((arm + context) % kArms);
}

bool Bandit::Step(int64_t action, Rng& rng, float& reward) {
  reward = rng.Unit() < Chance(context_, action) ? 1.f : 0.f;
  return true;
}

void Bandit::Look(float* features, float*) const {
  std::fill_n(features, kContexts, 0.f);
  features[context_] = 1;
}

void RandomMasks::Draw(Rng& rng) {
  mask_ = 1 + static_cast<uint32_t>(rng.Below((1 << kActions) - 1));
  for (float& value : features_) value = static_cast<float>(2 * rng.Unit() - 1);
}

bool RandomMasks::Step(int64_t, Rng& rng, float& reward) {
  reward = static_cast<float>(2 * rng.Unit() - 1);
  Draw(rng);
  return rng.Unit() < 0.1;
}

void RandomMasks::Look(float* features, float* value_features) const {
  std::copy_n(features_.begin(), 3, features);
  std::copy_n(features_.begin() + 3, 2, value_features);
}

std::vector<double> RandomMasks::Save() const {
  std::vector<double> saved(features_.begin(), features_.end());
  saved.push_back(mask_);
  return saved;
}

void RandomMasks::Restore(const std::vector<double>& saved) {
  for (size_t i = 0; i < features_.size(); ++i) features_[i] = static_cast<float>(saved[i]);
  mask_ = static_cast<uint32_t>(saved[5]);
}

}  // namespace hone::learn
