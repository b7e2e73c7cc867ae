#include "learn/losses.h"

#include <gtest/gtest.h>

#include <functional>

#include "learn/categorical.h"
#include "learn/gae.h"
#include "learn/network.h"
#include "learn/seeded.h"

namespace hone::learn {
namespace {

constexpr int64_t kRows = 6, kFeatures = 3, kActions = 4;

// Networks in float64, and a batch for them.
class LossTest : public ::testing::Test {
 protected:
  LossTest() : seeded_(7) {
    const TaskShape shape = {1, kFeatures, 0, kActions, false};
    NetworkOptions options;
    options.hidden = {5};
    policy_ = MakeNetwork(options, shape, kActions, 1);
    value_ = MakeNetwork(options, shape, 1, 1);
    options.activation = "relu";
    q_ = MakeNetwork(options, shape, kActions + 1, 1);
    for (const auto& network : {policy_, value_, q_}) network->to(torch::kFloat64);
    observation_.features = torch::randn({kRows, kFeatures}, torch::kFloat64);
    observation_.mask = torch::rand({kRows, kActions}) < 0.7;
    batch_.action = torch::randint(kActions, {kRows}, torch::kInt64);
    observation_.mask.scatter_(1, batch_.action.unsqueeze(1), true);
    batch_.mask = observation_.mask;
    batch_.advantage = torch::randn({kRows}, torch::kFloat64);
    batch_.return_sum = torch::randn({kRows}, torch::kFloat64);
    const torch::NoGradGuard no_gradients;
    const torch::Tensor log_p = LogProbability(
        MaskedLogSoftmax(policy_->Forward(observation_), batch_.mask), batch_.action);
    // Some ratios within, some beyond the clip range.
    batch_.log_old = log_p + 0.3 * torch::randn({kRows}, torch::kFloat64);
  }

  // The largest difference between autograd's gradient and central differences.
  static double Error(const std::vector<std::shared_ptr<Network>>& networks,
                      const std::function<torch::Tensor()>& loss) {
    std::vector<torch::Tensor> parameters;
    for (const auto& network : networks) {
      for (const torch::Tensor& p : network->parameters()) parameters.push_back(p);
    }
    const torch::Tensor gradient = FlatGradient(loss(), parameters, false);
    const torch::NoGradGuard no_gradients;
    constexpr double kStep = 1e-6;
    double error = 0;
    int64_t at = 0;
    for (torch::Tensor& p : parameters) {
      double* values = p.data_ptr<double>();
      for (int64_t i = 0; i < p.numel(); ++i, ++at) {
        const double value = values[i];
        values[i] = value + kStep;
        const double above = loss().item<double>();
        values[i] = value - kStep;
        const double below = loss().item<double>();
        values[i] = value;
        const double slope = (above - below) / (2 * kStep);
        error = std::max(error, std::abs(slope - gradient[at].item<double>()));
      }
    }
    EXPECT_GT(gradient.abs().max().item<double>(), 1e-3);  // a test of zeros tests nothing
    return error;
  }
  torch::Tensor Values() { return value_->Forward(observation_).squeeze(1); }

  const SeededTorch seeded_;
  std::shared_ptr<Network> policy_, value_, q_;
  Observation observation_;
  ActorCriticBatch batch_;
};

TEST_F(LossTest, PpoGradient) {
  Config config;
  config.entropy_weight = 0.1;
  EXPECT_LT(Error({policy_, value_},
                  [&] {
                    return PpoLoss(policy_->Forward(observation_), Values(), batch_, config).total;
                  }),
            1e-8);
}

TEST_F(LossTest, PpoClipsWhatWouldGoFurther) {
  // One sample of ratio 2: with a gain it is clipped, with a loss it is not.
  const torch::Tensor logits = torch::zeros({1, 2});
  ActorCriticBatch batch;
  batch.mask = torch::ones({1, 2}, torch::kBool);
  batch.action = torch::zeros({1}, torch::kInt64);
  batch.log_old = torch::full({1}, std::log(0.25));
  batch.return_sum = torch::zeros({1});
  for (const double advantage : {1.0, -1.0}) {
    batch.advantage = torch::full({1}, advantage);
    const ActorCriticLoss loss = PpoLoss(logits, torch::zeros({1}), batch, Config());
    EXPECT_NEAR(loss.policy.item<double>(), advantage > 0 ? -1.2 : 2.0, 1e-6);
    EXPECT_NEAR(loss.entropy.item<double>(), std::log(2.0), 1e-6);
  }
}

TEST_F(LossTest, A2cGradient) {
  Config config;
  config.entropy_weight = 0.1;
  EXPECT_LT(Error({policy_, value_},
                  [&] {
                    return A2cLoss(policy_->Forward(observation_), Values(), batch_, config).total;
                  }),
            1e-8);
}

TEST_F(LossTest, TrpoGradients) {
  EXPECT_LT(Error({policy_}, [&] { return TrpoObjective(policy_->Forward(observation_), batch_); }),
            1e-8);
  // Not at its minimum, where the gradient is zero.
  const torch::Tensor log_old =
      MaskedLogSoftmax(torch::randn({kRows, kActions}, torch::kFloat64), batch_.mask);
  EXPECT_LT(Error({policy_},
                  [&] { return MeanKl(policy_->Forward(observation_), batch_.mask, log_old); }),
            1e-8);
}

TEST_F(LossTest, DqnGradient) {
  const torch::Tensor target = 2 * torch::randn({kRows}, torch::kFloat64);
  const torch::Tensor weight = torch::rand({kRows}, torch::kFloat64);
  EXPECT_LT(Error({q_},
                  [&] {
                    return DqnLoss(Duel(q_->Forward(observation_)), batch_.action, target, weight);
                  }),
            1e-8);
}

TEST_F(LossTest, HessianVectorProductIsTheDifferenceOfGradients) {
  const std::vector<torch::Tensor> parameters = policy_->parameters();
  const torch::Tensor log_old =
      MaskedLogSoftmax(policy_->Forward(observation_), batch_.mask).detach();
  const auto kl = [&] { return MeanKl(policy_->Forward(observation_), batch_.mask, log_old); };
  const torch::Tensor gradient = FlatGradient(kl(), parameters, true);
  const torch::Tensor vector = torch::randn_like(gradient);
  const torch::Tensor product = HessianVectorProduct(gradient, parameters, vector, 0);
  const torch::Tensor damped = HessianVectorProduct(gradient, parameters, vector, 0.3);
  EXPECT_TRUE(torch::allclose(damped, product + 0.3 * vector));

  constexpr double kStep = 1e-5;
  const auto gradient_at = [&](double step) {
    {
      const torch::NoGradGuard no_gradients;
      int64_t at = 0;
      for (torch::Tensor p : parameters) {
        p.add_(vector.narrow(0, at, p.numel()).view(p.sizes()), step);
        at += p.numel();
      }
    }
    return FlatGradient(kl(), parameters, false);
  };
  const torch::Tensor above = gradient_at(kStep);
  const torch::Tensor below = gradient_at(-2 * kStep);
  const torch::Tensor difference = (above - below) / (2 * kStep);
  EXPECT_GT(product.abs().max().item<double>(), 1e-2);
  EXPECT_LT((difference - product).abs().max().item<double>(), 1e-7);
}

TEST_F(LossTest, ConjugateGradientSolves) {
  const torch::Tensor root = torch::randn({6, 6}, torch::kFloat64);
  const torch::Tensor matrix = root.mm(root.t()) + 0.5 * torch::eye(6, torch::kFloat64);
  const torch::Tensor b = torch::randn({6}, torch::kFloat64);
  const torch::Tensor x =
      ConjugateGradient([&](const torch::Tensor& v) { return matrix.mv(v); }, b, 20);
  EXPECT_LT((matrix.mv(x) - b).norm().item<double>(), 1e-4);
}

TEST_F(LossTest, DqnTargetsAreMaskedAndDouble) {
  const torch::Tensor online = torch::tensor({{5.f, 1.f, 3.f}});
  const torch::Tensor target = torch::tensor({{9.f, 4.f, 2.f}});
  const torch::Tensor mask = torch::tensor({{false, true, true}});
  const torch::Tensor reward = torch::tensor({1.f});
  const torch::Tensor discount = torch::tensor({0.5f});
  EXPECT_EQ(DqnTargets({}, target, mask, reward, discount, false).item<float>(), 1 + 0.5f * 4);
  EXPECT_EQ(DqnTargets(online, target, mask, reward, discount, true).item<float>(), 1 + 0.5f * 2);
  EXPECT_EQ(DqnTargets({}, target, mask, reward, torch::zeros({1}), false).item<float>(), 1);
}

TEST(GaeTest, IsTheSumThatItIsDefinedAs) {
  const SeededTorch seeded(3);
  constexpr int64_t kSteps = 40, kCount = 3;
  constexpr double kGamma = 0.9, kLambda = 0.8;
  GaeInput in;
  in.reward = torch::randn({kSteps, kCount});
  in.value = torch::randn({kSteps, kCount});
  in.last_value = torch::randn({kCount});
  in.terminated = torch::rand({kSteps, kCount}) < 0.1;
  in.truncated = (torch::rand({kSteps, kCount}) < 0.1).logical_and(in.terminated.logical_not());
  in.cut_value = torch::randn({kSteps, kCount});
  const torch::Tensor advantages = Advantages(in, kGamma, kLambda);
  const auto at = [](const torch::Tensor& t, int64_t i, int64_t b) {
    return t[i][b].item<double>();
  };
  int64_t ends = 0;
  for (int64_t b = 0; b < kCount; ++b) {
    for (int64_t t = 0; t < kSteps; ++t) {
      double sum = 0, factor = 1;
      for (int64_t k = t; k < kSteps; ++k, factor *= kGamma * kLambda) {
        const bool terminated = in.terminated[k][b].item<bool>();
        const bool truncated = in.truncated[k][b].item<bool>();
        double next = k + 1 < kSteps ? at(in.value, k + 1, b) : in.last_value[b].item<double>();
        if (truncated) next = at(in.cut_value, k, b);
        if (terminated) next = 0;
        sum += factor * (at(in.reward, k, b) + kGamma * next - at(in.value, k, b));
        ends += terminated + truncated;
        if (terminated || truncated) break;
      }
      EXPECT_NEAR(at(advantages, t, b), sum, 1e-5);
    }
  }
  EXPECT_GT(ends, 10);
}

}  // namespace
}  // namespace hone::learn
