#include "learn/n_step.h"

#include <algorithm>
#include <cmath>

#include "learn/observation.h"

namespace hone::learn {

NStep::NStep(const TaskShape& shape, int64_t n, double gamma)
    : shape_(shape),
      n_(n),
      gamma_(gamma),
      action_(static_cast<size_t>(shape.environments * n)),
      reward_(action_.size()),
      first_(static_cast<size_t>(shape.environments)),
      count_(first_.size()) {
  shape_.value_features = 0;
  states_ = MakeObservations(shape_, shape.environments * n);
  // What is saved has no places that were never written.
  states_.features.zero_();
  states_.mask.zero_();
}

void NStep::Add(const Observation& before, const torch::Tensor& action,
                const Transition& transition, Replay& replay) {
  const float* reward = transition.reward.data_ptr<float>();
  const bool* terminated = transition.terminated.data_ptr<bool>();
  const bool* truncated = transition.truncated.data_ptr<bool>();
  for (int64_t b = 0; b < shape_.environments; ++b) {
    const int64_t place = Place(b, count_[b]++);
    CopyRow(before, b, states_, place);
    action_[place] = action.data_ptr<int64_t>()[b];
    reward_[place] = reward[b];
    const bool over = terminated[b] || truncated[b];
    while (count_[b] == n_ || (over && count_[b] > 0)) {
      double sum = 0, discount = 1;
      for (int64_t k = 0; k < count_[b]; ++k, discount *= gamma_) {
        sum += discount * reward_[Place(b, k)];
      }
      const int64_t from = Place(b, 0);
      replay.Add(states_, from, action_[from], sum, terminated[b] ? 0 : discount, transition.last,
                 b);
      first_[b] = (first_[b] + 1) % n_;
      --count_[b];
    }
  }
}

void NStep::Save(CheckpointWriter& to) const {
  to.WriteObservation("n_step.states", states_);
  to.Write("n_step.action", torch::tensor(action_, torch::kInt64));
  to.Write("n_step.reward", torch::tensor(reward_, torch::kFloat32));
  to.Write("n_step.first", torch::tensor(first_, torch::kInt64));
  to.Write("n_step.count", torch::tensor(count_, torch::kInt64));
}

void NStep::Load(CheckpointReader& from) {
  const int64_t places = shape_.environments * n_;
  const Observation states = from.ReadObservation("n_step.states", shape_, places);
  const torch::Tensor action = from.Read("n_step.action", {places}, torch::kInt64);
  const torch::Tensor reward = from.Read("n_step.reward", {places}, torch::kFloat32);
  const torch::Tensor first = from.Read("n_step.first", {shape_.environments}, torch::kInt64);
  const torch::Tensor count = from.Read("n_step.count", {shape_.environments}, torch::kInt64);
  for (const torch::Tensor& numbers : {first, count}) {
    TORCH_CHECK(numbers.ge(0).logical_and(numbers.lt(n_)).all().item<bool>(), "a broken window");
  }
  TORCH_CHECK(action.ge(0).logical_and(action.lt(shape_.actions)).all().item<bool>(),
              "an action that there is not");
  states_ = states;
  std::copy_n(action.data_ptr<int64_t>(), places, action_.begin());
  std::copy_n(reward.data_ptr<float>(), places, reward_.begin());
  std::copy_n(first.data_ptr<int64_t>(), shape_.environments, first_.begin());
  std::copy_n(count.data_ptr<int64_t>(), shape_.environments, count_.begin());
}

}  // namespace hone::learn
