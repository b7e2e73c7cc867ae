#include "learn/replay.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "learn/observation.h"

namespace hone::learn {

Replay::Replay(const TaskShape& shape, int64_t capacity, bool prioritised, double exponent)
    : shape_(shape), capacity_(capacity), exponent_(exponent) {
  shape_.value_features = 0;
  before_ = MakeObservations(shape_, capacity);
  after_ = MakeObservations(shape_, capacity);
  action_ = torch::empty({capacity}, torch::kInt64);
  reward_ = torch::empty({capacity});
  discount_ = torch::empty({capacity});
  if (prioritised) weights_.emplace(capacity);
}

void Replay::Add(const Observation& before, int64_t before_row, int64_t action, double reward,
                 double discount, const Observation& after, int64_t after_row) {
  CopyRow(before, before_row, before_, next_);
  CopyRow(after, after_row, after_, next_);
  action_.data_ptr<int64_t>()[next_] = action;
  reward_.data_ptr<float>()[next_] = static_cast<float>(reward);
  discount_.data_ptr<float>()[next_] = static_cast<float>(discount);
  if (weights_) weights_->Set(next_, highest_);
  next_ = (next_ + 1) % capacity_;
  size_ = std::min(size_ + 1, capacity_);
}

Memories Replay::Draw(int64_t count, double beta, Rng& rng) const {
  Memories drawn;
  drawn.index = torch::empty({count}, torch::kInt64);
  drawn.weight = torch::ones({count});
  int64_t* index = drawn.index.data_ptr<int64_t>();
  float* weight = drawn.weight.data_ptr<float>();
  if (!weights_) {
    for (int64_t i = 0; i < count; ++i) {
      index[i] = static_cast<int64_t>(rng.Below(static_cast<size_t>(size_)));
    }
  } else {
    const double part = weights_->total() / static_cast<double>(count);
    float largest = 0;
    for (int64_t i = 0; i < count; ++i) {
      index[i] = weights_->Find((static_cast<double>(i) + rng.Unit()) * part);
      const double probability = weights_->weight(index[i]) / weights_->total();
      weight[i] = static_cast<float>(std::pow(static_cast<double>(size_) * probability, -beta));
      largest = std::max(largest, weight[i]);
    }
    for (int64_t i = 0; i < count; ++i) weight[i] /= largest;
  }
  drawn.before = Select(before_, drawn.index);
  drawn.after = Select(after_, drawn.index);
  drawn.action = action_.index_select(0, drawn.index);
  drawn.reward = reward_.index_select(0, drawn.index);
  drawn.discount = discount_.index_select(0, drawn.index);
  return drawn;
}

void Replay::SetPriorities(const torch::Tensor& index, const torch::Tensor& error) {
  if (!weights_) return;
  constexpr double kLeast = 1e-6;
  const torch::Tensor plain = error.detach().contiguous();
  for (int64_t i = 0; i < index.size(0); ++i) {
    const double weight =
        std::pow(std::abs(static_cast<double>(plain.data_ptr<float>()[i])) + kLeast, exponent_);
    TORCH_CHECK(std::isfinite(weight), "the error of an action value is not finite");
    weights_->Set(index.data_ptr<int64_t>()[i], weight);
    highest_ = std::max(highest_, weight);
  }
}

void Replay::Save(CheckpointWriter& to) const {
  to.WriteCount("replay.size", size_);
  to.WriteCount("replay.next", next_);
  to.WriteObservation("replay.before", Slice(before_, 0, size_));
  to.WriteObservation("replay.after", Slice(after_, 0, size_));
  to.Write("replay.action", action_.slice(0, 0, size_));
  to.Write("replay.reward", reward_.slice(0, 0, size_));
  to.Write("replay.discount", discount_.slice(0, 0, size_));
  if (!weights_) return;
  torch::Tensor weights = torch::empty({size_ + 1}, torch::kFloat64);
  for (int64_t i = 0; i < size_; ++i) weights.data_ptr<double>()[i] = weights_->weight(i);
  weights.data_ptr<double>()[size_] = highest_;
  to.Write("replay.weights", weights);
}

void Replay::Load(CheckpointReader& from) {
  const int64_t size = from.ReadCount("replay.size"), next = from.ReadCount("replay.next");
  TORCH_CHECK(size >= 0 && size <= capacity_ && next >= 0 && next < capacity_ &&
                  (size == capacity_ || next == size),
              "a replay memory of another size");
  const Observation before = from.ReadObservation("replay.before", shape_, size);
  const Observation after = from.ReadObservation("replay.after", shape_, size);
  const torch::Tensor action = from.Read("replay.action", {size}, torch::kInt64);
  TORCH_CHECK(action.ge(0).logical_and(action.lt(shape_.actions)).all().item<bool>(),
              "an action that there is not");
  const torch::Tensor reward = from.Read("replay.reward", {size}, torch::kFloat32);
  const torch::Tensor discount = from.Read("replay.discount", {size}, torch::kFloat32);
  torch::Tensor weights;
  if (weights_) {
    weights = from.Read("replay.weights", {size + 1}, torch::kFloat64);
    TORCH_CHECK(weights.gt(0).logical_and(weights.isfinite()).all().item<bool>(),
                "a broken weight");
  }
  CopyRows(before, before_, 0);
  CopyRows(after, after_, 0);
  action_.slice(0, 0, size).copy_(action);
  reward_.slice(0, 0, size).copy_(reward);
  discount_.slice(0, 0, size).copy_(discount);
  size_ = size;
  next_ = next;
  if (weights_) {
    weights_.emplace(capacity_);
    for (int64_t i = 0; i < size; ++i) weights_->Set(i, weights.data_ptr<double>()[i]);
    highest_ = weights.data_ptr<double>()[size];
  }
}

}  // namespace hone::learn
