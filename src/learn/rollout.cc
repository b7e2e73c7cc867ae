#include "learn/rollout.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "learn/categorical.h"
#include "learn/gae.h"
#include "learn/observation.h"

namespace hone::learn {
namespace {

// In parts, so that wide layers over a long rollout do not fill the memory.
torch::Tensor Values(Network& network, const Observation& observation) {
  constexpr int64_t kRows = 4096;
  const int64_t rows = observation.size();
  if (rows <= kRows) return network.Forward(observation).flatten();
  std::vector<torch::Tensor> parts;
  for (int64_t at = 0; at < rows; at += kRows) {
    const Observation part = Slice(observation, at, std::min(rows, at + kRows));
    parts.push_back(network.Forward(part).flatten());
  }
  return torch::cat(parts);
}

}  // namespace

StatusOr<Rollout> Collect(const Config& config, Actor& actor, Network& policy, Network& value,
                          Rng& rng) {
  const torch::NoGradGuard no_gradients;
  const TaskShape& shape = actor.shape();
  const int64_t steps = config.rollout_steps, count = shape.environments, rows = steps * count;
  Rollout rollout;
  rollout.observation = MakeObservations(shape, rows);
  rollout.action = torch::empty({rows}, torch::kInt64);
  rollout.log_old = torch::empty({rows});
  GaeInput gae;
  gae.reward = torch::empty({steps, count});
  gae.terminated = torch::empty({steps, count}, torch::kBool);
  gae.truncated = torch::empty({steps, count}, torch::kBool);
  gae.cut_value = torch::zeros({steps, count});
  std::vector<int64_t> cut;        // rows whose episode was truncated
  std::vector<Observation> left;   // and the states it was left in, a batch for each step
  std::vector<int64_t> left_rows;  // their rows in it
  for (int64_t t = 0; t < steps; ++t) {
    CopyRows(actor.seen(), rollout.observation, t * count);
    const Observation seen = Slice(rollout.observation, t * count, (t + 1) * count);
    const torch::Tensor log_all = MaskedLogSoftmax(policy.Forward(seen), seen.mask);
    const torch::Tensor action = Sample(log_all, seen.mask, rng);
    rollout.action.narrow(0, t * count, count).copy_(action);
    rollout.log_old.narrow(0, t * count, count).copy_(LogProbability(log_all, action));
    const StatusOr<Transition> transition = actor.Step(action);
    if (!transition) return tl::unexpected(transition.error());
    gae.reward[t].copy_(transition->reward);
    gae.terminated[t].copy_(transition->terminated);
    gae.truncated[t].copy_(transition->truncated);
    const bool* truncated = transition->truncated.data_ptr<bool>();
    const bool* terminated = transition->terminated.data_ptr<bool>();
    for (int64_t b = 0; b < count; ++b) {
      if (!truncated[b] || terminated[b]) continue;
      cut.push_back(t * count + b);
      left.push_back(transition->last);
      left_rows.push_back(b);
    }
  }
  rollout.steps = actor.steps();
  rollout.value = Values(value, rollout.observation);
  gae.value = rollout.value.view({steps, count});
  gae.last_value = value.Forward(actor.seen()).flatten();
  if (!cut.empty()) {
    Observation states = MakeObservations(shape, static_cast<int64_t>(cut.size()));
    for (size_t i = 0; i < cut.size(); ++i) {
      CopyRow(left[i], left_rows[i], states, static_cast<int64_t>(i));
    }
    const torch::Tensor worth = Values(value, states);
    for (size_t i = 0; i < cut.size(); ++i) {
      gae.cut_value.data_ptr<float>()[cut[i]] = worth.data_ptr<float>()[i];
    }
  }
  rollout.advantage = Advantages(gae, config.gamma, config.gae_lambda).flatten();
  rollout.return_sum = rollout.advantage + rollout.value;
  return rollout;
}

Batch MakeBatch(const Rollout& rollout, const torch::Tensor& index) {
  Batch batch;
  batch.observation = Select(rollout.observation, index);
  batch.samples.mask = batch.observation.mask;
  batch.samples.action = rollout.action.index_select(0, index);
  batch.samples.log_old = rollout.log_old.index_select(0, index);
  batch.samples.advantage = rollout.advantage.index_select(0, index);
  batch.samples.return_sum = rollout.return_sum.index_select(0, index);
  return batch;
}

Batch WholeBatch(const Rollout& rollout) {
  return {rollout.observation,
          {rollout.observation.mask, rollout.action, rollout.log_old, rollout.advantage,
           rollout.return_sum}};
}

torch::Tensor Permutation(int64_t count, Rng& rng) {
  torch::Tensor order = torch::empty({count}, torch::kInt64);
  int64_t* data = order.data_ptr<int64_t>();
  std::iota(data, data + count, 0);
  for (int64_t i = count - 1; i > 0; --i) {
    std::swap(data[i], data[rng.Below(static_cast<size_t>(i) + 1)]);
  }
  return order;
}

void WriteRollout(const Rollout& rollout, CheckpointWriter& to) {
  to.WriteObservation("rollout.observation", rollout.observation);
  to.Write("rollout.action", rollout.action);
  to.Write("rollout.log_old", rollout.log_old);
  to.Write("rollout.value", rollout.value);
  to.Write("rollout.advantage", rollout.advantage);
  to.Write("rollout.return_sum", rollout.return_sum);
  to.WriteCount("rollout.steps", rollout.steps);
}

Rollout ReadRollout(CheckpointReader& from, const TaskShape& shape, int64_t rows) {
  Rollout rollout;
  rollout.observation = from.ReadObservation("rollout.observation", shape, rows);
  rollout.action = from.Read("rollout.action", {rows}, torch::kInt64);
  TORCH_CHECK(rollout.action.ge(0).logical_and(rollout.action.lt(shape.actions)).all().item<bool>(),
              "an action that there is not");
  rollout.log_old = from.Read("rollout.log_old", {rows}, torch::kFloat32);
  rollout.value = from.Read("rollout.value", {rows}, torch::kFloat32);
  rollout.advantage = from.Read("rollout.advantage", {rows}, torch::kFloat32);
  rollout.return_sum = from.Read("rollout.return_sum", {rows}, torch::kFloat32);
  rollout.steps = from.ReadCount("rollout.steps");
  return rollout;
}

}  // namespace hone::learn
