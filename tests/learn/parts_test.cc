// The parts of learners: distributions, memories, networks.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "learn/categorical.h"
#include "learn/n_step.h"
#include "learn/network.h"
#include "learn/observation.h"
#include "learn/parameters.h"
#include "learn/reference_tasks.h"
#include "learn/replay.h"
#include "learn/seeded.h"
#include "learn/sum_tree.h"

namespace hone::learn {
namespace {

TEST(CategoricalTest, IsTheDistributionOverTheAllowed) {
  const torch::Tensor logits = torch::tensor({{1.f, 2.f, 50.f}, {0.f, 0.f, 0.f}});
  const torch::Tensor mask = torch::tensor({{true, true, false}, {false, true, false}});
  const torch::Tensor log_p = MaskedLogSoftmax(logits, mask);
  const double p = 1 / (1 + std::exp(1.0));
  EXPECT_NEAR(log_p[0][0].item<double>(), std::log(p), 1e-6);
  EXPECT_NEAR(log_p[0][1].item<double>(), std::log(1 - p), 1e-6);
  EXPECT_EQ(log_p.exp()[0][2].item<float>(), 0);
  const torch::Tensor entropy = Entropy(log_p);
  EXPECT_NEAR(entropy[0].item<double>(), -p * std::log(p) - (1 - p) * std::log(1 - p), 1e-6);
  EXPECT_EQ(entropy[1].item<float>(), 0);
  const torch::Tensor best = MaskedArgmax(logits, mask);
  EXPECT_EQ(best[0].item<int64_t>(), 1);
  EXPECT_EQ(best[1].item<int64_t>(), 1);
  EXPECT_EQ(KlDivergence(log_p, log_p).abs().max().item<float>(), 0);
}

TEST(CategoricalTest, SamplesAreOftenWhatIsLikely) {
  const torch::Tensor logits = torch::tensor({{0.f, 1.f, -1.f, 3.f}}).repeat({4000, 1});
  const torch::Tensor mask = torch::tensor({{true, true, true, false}}).repeat({4000, 1});
  const torch::Tensor log_p = MaskedLogSoftmax(logits, mask);
  Rng rng(5);
  const torch::Tensor actions = Sample(log_p, mask, rng);
  for (int64_t a = 0; a < 4; ++a) {
    const double share = (actions == a).to(torch::kFloat64).mean().item<double>();
    EXPECT_NEAR(share, log_p[0][a].exp().item<double>(), 0.03) << a;
  }
  EXPECT_EQ((actions == 3).sum().item<int64_t>(), 0);
}

TEST(CategoricalTest, ExtremeLogitsSampleWhatIsAllowed) {
  Rng rng(1);
  const torch::Tensor mask = torch::tensor({{false, true, true, false}});
  for (const float huge : {1e7f, 1e20f, 3e38f}) {
    const torch::Tensor logits = torch::tensor({{huge, -huge, -huge, huge}});
    for (int i = 0; i < 20; ++i) {
      const int64_t action = Sample(MaskedLogSoftmax(logits, mask), mask, rng).item<int64_t>();
      EXPECT_TRUE(action == 1 || action == 2);
      EXPECT_EQ(MaskedArgmax(logits, mask).item<int64_t>(), 1);
    }
  }
}

TEST(SumTreeTest, FindsWhatANaiveSumFinds) {
  Rng rng(2);
  for (const int64_t size : {1, 2, 5, 64, 100}) {
    SumTree tree(size);
    std::vector<double> weights(static_cast<size_t>(size), 0);
    for (int round = 0; round < 300; ++round) {
      const size_t item = rng.Below(static_cast<size_t>(size));
      // Whole numbers, so that sums are exact in any order.
      weights[item] = static_cast<double>(rng.Below(4));
      tree.Set(static_cast<int64_t>(item), weights[item]);
      double total = 0;
      for (const double weight : weights) total += weight;
      ASSERT_EQ(tree.total(), total);
      if (total == 0) continue;
      const double prefix = rng.Unit() * total;
      double left = prefix;
      size_t naive = 0;
      while (left >= weights[naive]) left -= weights[naive++];
      ASSERT_EQ(tree.Find(prefix), static_cast<int64_t>(naive));
    }
  }
}

TEST(SumTreeTest, NeverFindsWhatHasNoWeight) {
  SumTree tree(5);
  tree.Set(1, 0.1);
  tree.Set(3, 0.2);
  for (const double prefix : {0.0, 0.1, 0.2, 0.3, 0.30000000000000004, 1.0}) {
    const int64_t item = tree.Find(prefix);
    EXPECT_TRUE(item == 1 || item == 3) << prefix;
  }
}

Observation Numbered(const TaskShape& shape, float number) {
  Observation observation = MakeObservations(shape, 1);
  observation.features.fill_(number);
  observation.mask.fill_(true);
  return observation;
}

TEST(ReplayTest, DrawsInProportionWithWeightsThatUndoIt) {
  const TaskShape shape = {1, 1, 0, 2, false};
  Replay replay(shape, 4, true, 0.5);
  for (int i = 0; i < 6; ++i) {  // two more than there is room for
    const Observation state = Numbered(shape, static_cast<float>(i));
    replay.Add(state, 0, i % 2, i, 0.9, state, 0);
  }
  EXPECT_EQ(replay.size(), 4);
  // Rows 0 to 3 hold 4, 5, 2, 3.
  replay.SetPriorities(torch::arange(4), torch::tensor({1.f, -4.f, 9.f, 0.f}));
  Rng rng(3);
  std::map<int, int> drawn;
  std::map<int, float> weights;
  for (int i = 0; i < 500; ++i) {
    const Memories some = replay.Draw(8, 1, rng);
    for (int64_t k = 0; k < 8; ++k) {
      const int number = static_cast<int>(some.before.features[k][0].item<float>());
      EXPECT_EQ(some.reward[k].item<float>(), static_cast<float>(number));
      EXPECT_EQ(some.action[k].item<int64_t>(), number % 2);
      ++drawn[number];
      weights[number] = some.weight[k].item<float>();
    }
  }
  // Weights 1, 2, 3 and nearly 0.
  EXPECT_NEAR(drawn[4] / 4000.0, 1 / 6.0, 0.03);
  EXPECT_NEAR(drawn[5] / 4000.0, 2 / 6.0, 0.03);
  EXPECT_NEAR(drawn[2] / 4000.0, 3 / 6.0, 0.03);
  EXPECT_NEAR(weights[5] / weights[4], 0.5, 1e-4);
  EXPECT_NEAR(weights[2] / weights[4], 1 / 3.0, 1e-4);
}

TEST(NStepTest, JoinsStepsUpToTheEndOfTheEpisode) {
  const TaskShape shape = {1, 1, 0, 2, false};
  constexpr double kGamma = 0.5;
  Replay replay(shape, 16, false, 1);
  NStep n_step(shape, 3, kGamma);
  // Rewards 1, 2, 3, 4; the fourth step truncates; then 5, which terminates.
  for (int i = 1; i <= 5; ++i) {
    Transition t;
    t.reward = torch::full({1}, static_cast<float>(i));
    t.terminated = torch::full({1}, i == 5);
    t.truncated = torch::full({1}, i == 4);
    t.last = Numbered(shape, static_cast<float>(i));
    n_step.Add(Numbered(shape, static_cast<float>(i - 1)), torch::full({1}, i % 2, torch::kInt64),
               t, replay);
    EXPECT_EQ(replay.size(), (std::vector<int64_t>{0, 0, 1, 4, 5}[i - 1]));
  }
  struct Expected {
    float reward, discount, after;
  };
  const std::vector<Expected> expected = {
      {1 + 1 + 0.75, 0.125, 3}, {2 + 1.5 + 1, 0.125, 4}, {3 + 2, 0.25, 4}, {4, 0.5, 4}, {5, 0, 5}};
  Rng rng(1);
  std::vector<bool> seen(5, false);
  for (int i = 0; i < 100; ++i) {
    const Memories one = replay.Draw(1, 1, rng);
    const size_t k = static_cast<size_t>(one.index.item<int64_t>());
    seen[k] = true;
    EXPECT_EQ(one.before.features.item<float>(), static_cast<float>(k));
    EXPECT_EQ(one.reward.item<float>(), expected[k].reward);
    EXPECT_EQ(one.discount.item<float>(), expected[k].discount);
    EXPECT_EQ(one.after.features.item<float>(), expected[k].after);
  }
  EXPECT_EQ(seen, std::vector<bool>(5, true));
}

TEST(ParametersTest, AnOptimiserStepIsThatOfTorchOnEachParameter) {
  const TaskShape shape = {1, 3, 0, 2, false};
  Observation observation;
  {
    const SeededTorch seeded(3);
    observation.features = torch::randn({8, 3}, torch::kDouble);
  }
  Config config;
  config.learning_rate = 0.01;
  config.hidden = {7};
  for (const bool rms_prop : {false, true}) {
    config.rms_prop = rms_prop;
    std::vector<std::shared_ptr<Network>> networks;
    for (int i = 0; i < 2; ++i) {
      const SeededTorch seeded(4);
      networks.push_back(MakeNetwork({}, shape, 2, 1));
      networks.back()->to(torch::kDouble);  // roundings of floats grow where gradients are near zero
    }
    FlatParameters flat({networks[0]});
    const auto ours = MakeOptimizer(config, flat, 0, flat.size());
    std::unique_ptr<torch::optim::Optimizer> theirs;
    const auto parameters = networks[1]->parameters();
    if (rms_prop) {
      theirs = std::make_unique<torch::optim::RMSprop>(
          parameters, torch::optim::RMSpropOptions(0.01).alpha(0.99).eps(1e-5));
    } else {
      theirs = std::make_unique<torch::optim::Adam>(parameters,
                                                    torch::optim::AdamOptions(0.01).eps(1e-5));
    }
    for (int step = 0; step < 3; ++step) {
      flat.ClearGradients();
      theirs->zero_grad();
      for (const auto& network : networks) network->Forward(observation).pow(2).sum().backward();
      flat.ClipGradients(0.5);
      torch::nn::utils::clip_grad_norm_(parameters, 0.5);
      ours->step();
      theirs->step();
    }
    for (size_t i = 0; i < parameters.size(); ++i) {
      EXPECT_TRUE(torch::allclose(networks[0]->parameters()[i], parameters[i], 1e-9, 1e-12));
    }
  }
}

TEST(NetworkTest, ThePolicyDoesNotSeeValueFeatures) {
  const TaskShape shape = {1, 3, 2, 2, false};
  NetworkOptions options;
  Observation observation = MakeObservations(shape, 1);
  observation.features.fill_(1);
  for (const bool sees : {false, true}) {
    options.value_features = sees;
    const auto network = MakeNetwork(options, shape, 1, 1);
    observation.value_features.fill_(1);
    const float before = network->Forward(observation).item<float>();
    observation.value_features.fill_(-2);
    EXPECT_EQ(network->Forward(observation).item<float>() != before, sees);
  }
}

TEST(ReferenceTaskTest, CartPoleIsGymnasiums) {
  // Gymnasium 1.4's CartPole-v1, its state set to these numbers, and an action sequence.
  CartPole game;
  game.Restore({0.01, -0.02, 0.03, 0.04});
  Rng rng(1);
  float reward = 0;
  const auto expect_state = [&](const std::vector<double>& expected) {
    for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(game.Save()[i], expected[i], 1e-13);
  };
  for (int n = 1; n < 15; ++n) {
    ASSERT_FALSE(game.Step(n % 3 % 2, rng, reward)) << n;
    EXPECT_EQ(reward, 1);
  }
  EXPECT_TRUE(game.Step(15 % 3 % 2, rng, reward));
  EXPECT_EQ(reward, 1);
  expect_state({-0.09486383744614638, -1.0094904585777773, 0.21830326319711543, 1.846706000448215});
  game.Restore({0.01, -0.02, 0.03, 0.04});
  for (const int64_t action : {1, 0, 1}) game.Step(action, rng, reward);
  expect_state(
      {0.012676206935987267, 0.1738717748734813, 0.02712198563958817, -0.22521957255967326});
}

TEST(ReferenceTaskTest, TheGridsBestPolicyIsBetterThanOthers) {
  const double best = TrapGridValue({});
  EXPECT_GT(best, 0.2);
  EXPECT_LT(best, 1);
  std::vector<int64_t> first(TrapGrid::kCells);
  for (int cell = 0; cell < TrapGrid::kCells; ++cell) {
    while (!TrapGrid::Allowed(cell, first[cell])) ++first[cell];
  }
  EXPECT_LT(TrapGridValue(first), 0.5 * best);
}

}  // namespace
}  // namespace hone::learn
