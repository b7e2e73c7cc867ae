#include "learn/loops_task.h"

#include <gtest/gtest.h>

#include "learn/learner.h"
#include "learn/network.h"
#include "loops/estimate.h"
#include "loops/policy.h"
#include "loops/site_view.h"
#include "loops/tasks.h"
#include "policy/offer_network.h"

namespace hone::learn {
namespace {

LoopsTaskOptions Options(int64_t environments = 3) {
  LoopsTaskOptions options;
  options.environments = environments;
  for (const loops::KnownTask& task : loops::DrawTasks(10, 1)) {
    options.env.tasks.push_back(task.text);
  }
  options.env.estimate = true;
  options.env.machine = loops::kEstimatedMachine;
  return options;
}

std::unique_ptr<Task> MustMake(const LoopsTaskOptions& options) {
  auto task = MakeLoopsTask(options);
  EXPECT_TRUE(task) << task.error().message;
  return *std::move(task);
}

bool Same(const Observation& a, const Observation& b) {
  return a.features.equal(b.features) && a.mask.equal(b.mask);
}

// An action that is offered, in each environment.
torch::Tensor SomeOffered(const Observation& seen, Rng& rng) {
  torch::Tensor actions = torch::empty({seen.size()}, torch::kInt64);
  for (int64_t i = 0; i < seen.size(); ++i) {
    const torch::Tensor offered = seen.mask[i].nonzero().squeeze(1);
    const auto pick = static_cast<int64_t>(rng.Below(static_cast<size_t>(offered.size(0))));
    actions.data_ptr<int64_t>()[i] = offered[pick].item<int64_t>();
  }
  return actions;
}

TEST(LoopsTask, EpisodesEndAndPayTheLogarithmOfTheSpeedup) {
  const auto task = MustMake(Options(1));
  auto seen = task->Reset(1);
  ASSERT_TRUE(seen) << seen.error().message;
  const TaskShape shape = task->shape();
  EXPECT_EQ(seen->features.size(1), shape.features);
  EXPECT_EQ(seen->mask.size(1), shape.actions);
  Rng rng(2);
  int ended = 0;
  double paid = 0;
  for (int step = 0; step < 400; ++step) {
    const auto went = task->Step(SomeOffered(*seen, rng));
    ASSERT_TRUE(went) << went.error().message;
    paid += went->reward.item<float>();
    if (went->terminated.item<bool>() || went->truncated.item<bool>()) {
      ++ended;
      EXPECT_LT(std::abs(paid), 20);
      paid = 0;
    } else {
      EXPECT_TRUE(Same(went->next, went->last));
    }
    *seen = went->next;
    EXPECT_TRUE(seen->mask.any(1).all().item<bool>());
  }
  EXPECT_GT(ended, 5);
}

TEST(LoopsTask, PassingOnFromEveryNestStops) {
  const auto task = MustMake(Options(1));
  ASSERT_TRUE(task->Reset(1));
  const torch::Tensor on = torch::full({1}, int64_t{loops::kSiteDecisions});
  for (int turn = 0; turn < 30; ++turn) {
    const auto went = task->Step(on);
    ASSERT_TRUE(went) << went.error().message;
    EXPECT_EQ(went->reward.item<float>(), 0);
    if (went->terminated.item<bool>()) return;
    EXPECT_FALSE(went->truncated.item<bool>());
  }
  FAIL() << "it goes on for ever";
}

TEST(LoopsTask, ARestoredOneGoesOnTheSame) {
  const auto task = MustMake(Options()), other = MustMake(Options());
  auto seen = task->Reset(5);
  ASSERT_TRUE(seen);
  Rng rng(3);
  for (int step = 0; step < 40; ++step) {
    auto went = task->Step(SomeOffered(*seen, rng));
    ASSERT_TRUE(went);
    *seen = went->next;
    if (step % 13 != 0) continue;
    const auto restored = other->Restore(task->Save());
    ASSERT_TRUE(restored) << restored.error().message;
    EXPECT_TRUE(Same(*restored, *seen));
  }
  ASSERT_TRUE(other->Restore(task->Save()));
  for (int step = 0; step < 60; ++step) {
    const torch::Tensor actions = SomeOffered(*seen, rng);
    const auto a = task->Step(actions), b = other->Step(actions);
    ASSERT_TRUE(a && b);
    EXPECT_TRUE(a->reward.equal(b->reward));
    EXPECT_TRUE(Same(a->next, b->next));
    EXPECT_TRUE(Same(a->last, b->last));
    *seen = a->next;
  }
}

TEST(LoopsTask, ABrokenSaveIsRefused) {
  const auto task = MustMake(Options(1));
  ASSERT_TRUE(task->Reset(1));
  const std::string saved = task->Save();
  EXPECT_TRUE(task->Restore(saved));
  EXPECT_FALSE(task->Restore(""));
  EXPECT_FALSE(task->Restore("[]"));
  EXPECT_FALSE(task->Restore("[{}]"));
  std::string wrong = saved;
  wrong.replace(wrong.find("\"task\":"), 7, "\"tusk\":");
  EXPECT_FALSE(task->Restore(wrong));
  EXPECT_FALSE(MustMake(Options(2))->Restore(saved));
}

TEST(LoopsTask, AStepIsNotMadeOnceItIsInterrupted) {
  const std::atomic<bool> stop = true;
  LoopsTaskOptions options = Options(1);
  options.stop = &stop;
  const auto task = MustMake(options);
  ASSERT_TRUE(task->Reset(1));
  const auto went = task->Step(torch::full({1}, int64_t{loops::kSiteDecisions}));
  ASSERT_FALSE(went);
  EXPECT_EQ(went.error().code, ErrorCode::kInterrupted);
}

TEST(LoopsTask, WithoutTasksThereIsNone) {
  LoopsTaskOptions options = Options();
  options.env.tasks.clear();
  EXPECT_FALSE(MakeLoopsTask(options));
}

// The scores that are learnt by torch are those that are used without it.
TEST(OfferNetwork, IsTheSameWithoutTorch) {
  const auto task = MustMake(Options());
  const auto seen = task->Reset(1);
  ASSERT_TRUE(seen);
  torch::manual_seed(1);
  const NetworkOptions options = {"offers", {32, 16}, "tanh", false, true};
  const auto network = MakeNetwork(options, task->shape(), task->shape().actions, 1.0);
  const torch::NoGradGuard no_gradients;
  const torch::Tensor scores = network->Forward(*seen);
  std::map<std::string, policy::Tensor> tensors;
  network->Export("policy", tensors);
  const auto read = policy::OfferNetwork::Read(tensors, "policy", "tanh");
  ASSERT_TRUE(read) << read.error().message;
  const auto width = static_cast<size_t>(seen->features.size(1));
  double largest = 0;
  for (int64_t row = 0; row < seen->size(); ++row) {
    const float* features = seen->features[row].data_ptr<float>();
    const bool* mask = seen->mask[row].data_ptr<bool>();
    const std::vector<float> forward =
        read->Forward({features, loops::kSiteFeatures},
                      {features + loops::kSiteFeatures, width - loops::kSiteFeatures},
                      std::vector<bool>(mask, mask + seen->mask.size(1)));
    for (int64_t i = 0; i < scores.size(1); ++i) {
      EXPECT_NEAR(forward[static_cast<size_t>(i)], scores[row][i].item<float>(), 1e-4);
      largest = std::max<double>(largest, std::abs(scores[row][i].item<float>()));
    }
  }
  EXPECT_GT(largest, 0.01);
}

// A few thousand steps are enough to do much better than by chance.
TEST(LoopsTask, PpoLearnsIt) {
  auto config = Preset("ppo", "hone");
  ASSERT_TRUE(config);
  for (const char* setting : {"network=offers", "hidden=32", "rollout_steps=64", "batch_size=64",
                              "learning_rate=0.001", "total_steps=4096"}) {
    ASSERT_TRUE(SetField(*config, setting));
  }
  const std::shared_ptr<Task> task = MustMake(Options(4));
  const auto learner = FindLearner("ppo")->make(task, *config);
  double first = 0, last = 0;
  while (learner->steps() < config->total_steps) {
    const auto report = learner->Update();
    ASSERT_TRUE(report) << report.error().message;
    last = report->at("episode_return");
    if (learner->steps() <= 256) first = last;
  }
  EXPECT_GT(last, first + 0.5);
}

class LoopsLearning : public ::testing::TestWithParam<const char*> {};

// Every algorithm acts in it, learns something, and hands out a policy that loops/ reads.
TEST_P(LoopsLearning, LearnsAndExports) {
  auto config = Preset(GetParam(), "hone");
  ASSERT_TRUE(config);
  for (const char* setting : {"network=offers", "hidden=16", "rollout_steps=16", "batch_size=32",
                              "replay_size=200", "learning_starts=32", "total_steps=200"}) {
    ASSERT_TRUE(SetField(*config, setting));
  }
  const std::shared_ptr<Task> task = MustMake(Options());
  const auto learner = FindLearner(GetParam())->make(task, *config);
  const auto before = learner->Export().tensors;
  for (int update = 0; update < 3; ++update) {
    const auto report = learner->Update();
    ASSERT_TRUE(report) << report.error().message;
  }
  policy::PolicyFile file = learner->Export();
  EXPECT_NE(file.tensors.at("policy.offer.0.weight").values,
            before.at("policy.offer.0.weight").values);
  file.metadata[policy::kMetadataFormat] = loops::kLoopsPolicyFormat;
  const auto read = loops::LoopsPolicy::Read(policy::WritePolicyFile(file));
  EXPECT_TRUE(read) << read.error().message;
}

INSTANTIATE_TEST_SUITE_P(All, LoopsLearning, ::testing::Values("ppo", "a2c", "trpo", "dqn"),
                         [](const auto& parameter) { return std::string(parameter.param); });

}  // namespace
}  // namespace hone::learn
