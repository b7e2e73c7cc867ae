#include "learn/actor.h"

#include <utility>

namespace hone::learn {

Status Actor::Begin(uint64_t seed) {
  if (begun_) return {};
  StatusOr<Observation> seen = task_->Reset(seed);
  if (!seen) return tl::unexpected(std::move(seen).error());
  seen_ = *std::move(seen);
  returns_.assign(static_cast<size_t>(shape_.environments), 0);
  lengths_.assign(static_cast<size_t>(shape_.environments), 0);
  begun_ = true;
  return {};
}

StatusOr<Transition> Actor::Step(const torch::Tensor& actions) {
  StatusOr<Transition> transition = task_->Step(actions);
  if (!transition) return transition;
  transition->reward = transition->reward.contiguous();
  transition->terminated = transition->terminated.contiguous();
  transition->truncated = transition->truncated.contiguous();
  steps_ += shape_.environments;
  const float* reward = transition->reward.data_ptr<float>();
  const bool* terminated = transition->terminated.data_ptr<bool>();
  const bool* truncated = transition->truncated.data_ptr<bool>();
  for (size_t b = 0; b < returns_.size(); ++b) {
    returns_[b] += reward[b];
    ++lengths_[b];
    if (!terminated[b] && !truncated[b]) continue;
    ended_return_ += std::exchange(returns_[b], 0);
    ended_length_ += std::exchange(lengths_[b], 0);
    ++ended_;
  }
  seen_ = transition->next;
  return transition;
}

void Actor::TakeEpisodes(Report& report) {
  report["episodes"] = static_cast<double>(ended_);
  if (ended_ > 0) {
    report["episode_return"] = ended_return_ / static_cast<double>(ended_);
    report["episode_length"] = static_cast<double>(ended_length_) / static_cast<double>(ended_);
  }
  ended_return_ = 0;
  ended_length_ = ended_ = 0;
}

void Actor::Save(CheckpointWriter& to) const {
  to.WriteCount("actor.begun", begun_);
  if (!begun_) return;
  to.WriteText("actor.task", task_->Save());
  to.WriteCount("actor.steps", steps_);
  to.Write("actor.returns", torch::tensor(returns_, torch::kFloat64));
  to.Write("actor.lengths", torch::tensor(lengths_, torch::kInt64));
}

void Actor::Load(CheckpointReader& from) {
  if (from.ReadCount("actor.begun") == 0) {
    begun_ = false;
    steps_ = 0;
    return;
  }
  const int64_t count = shape_.environments;
  const torch::Tensor returns = from.Read("actor.returns", {count}, torch::kFloat64);
  const torch::Tensor lengths = from.Read("actor.lengths", {count}, torch::kInt64);
  const int64_t steps = from.ReadCount("actor.steps");
  StatusOr<Observation> seen = task_->Restore(from.ReadText("actor.task"));
  TORCH_CHECK(seen.has_value(), seen.error().message);
  seen_ = *std::move(seen);
  const double* sums = returns.data_ptr<double>();
  const int64_t* counts = lengths.data_ptr<int64_t>();
  returns_.assign(sums, sums + count);
  lengths_.assign(counts, counts + count);
  steps_ = steps;
  ended_return_ = 0;
  ended_length_ = ended_ = 0;
  begun_ = true;
}

}  // namespace hone::learn
