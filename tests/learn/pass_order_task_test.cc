#include "learn/pass_order_task.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "learn/learner.h"
#include "policy/policy.h"
#include "support/programs.h"

namespace hone::learn {
namespace {

using hone::testing::ReadData;

constexpr const char* kPrograms[] = {"kmeans/jax010_kmeans_while.hlo",
                                     "misc/jax010_int8_mlp_fwd.hlo"};

std::shared_ptr<Session> MustOpen(EnvOptions options) {
  options.observation.opcodes = true;
  options.episode_mask = true;
  options.traj_limit = 10;
  options.schedule = Schedule::kRandom;
  std::vector<ProgramSource> sources;
  for (const char* program : kPrograms) sources.push_back({program, ReadData(program)});
  auto session = Session::Open(std::move(sources), options, {});
  EXPECT_TRUE(session) << session.error().message;
  return *session;
}

std::unique_ptr<Task> MustMake(const EnvOptions& env, const PassOrderTaskOptions& options) {
  auto task = MakePassOrderTask(MustOpen(env), options);
  EXPECT_TRUE(task) << task.error().message;
  return *std::move(task);
}

// The first action allowed from `from` on.
torch::Tensor FirstAllowed(const Observation& seen, int64_t from) {
  const torch::Tensor late = torch::arange(seen.mask.size(1)) >= from;
  const torch::Tensor both = seen.mask.logical_and(late);
  const torch::Tensor mask = torch::where(both.any(1, true), both, seen.mask);
  return mask.to(torch::kFloat).argmax(1);
}

bool Same(const Observation& a, const Observation& b) {
  return a.features.equal(b.features) && a.mask.equal(b.mask) &&
         a.value_features.equal(b.value_features);
}

// Sequences of every action once; `programs` in turn.
std::vector<ActionSequence> Everything(const Session& session) {
  std::vector<ActionSequence> sequences;
  for (int64_t first = 0; first < session.action_count(); first += 8) {
    ActionSequence sequence{sequences.size() % 2, {}};
    for (int64_t i = first; i < std::min(first + 8, session.action_count()); ++i) {
      sequence.actions.push_back(i);
    }
    sequences.push_back(sequence);
  }
  return sequences;
}

TEST(Demonstrate, TellsOfTheActionsThatChangeSomething) {
  EnvOptions env;
  env.reward.change = 1;
  const auto session = MustOpen(env);
  const PassOrderTaskOptions options;
  const std::vector<ActionSequence> sequences = Everything(*session);
  const auto found = Demonstrate(session, options, sequences, 0.9);
  ASSERT_TRUE(found) << found.error().message;
  const int64_t size = found->size();
  EXPECT_GT(size, 5);
  EXPECT_LT(size, session->action_count());  // many change nothing
  EXPECT_EQ(found->states.size(), size);
  EXPECT_TRUE(found->states.graphs.empty());
  EXPECT_EQ(found->returns.size(0), size);
  EXPECT_GT(found->returns.max().item<float>(), 0);
  EXPECT_TRUE(found->states.mask.gather(1, found->actions.unsqueeze(1)).all().item<bool>());
  // Taken again, the same.
  const auto again = Demonstrate(session, options, sequences, 0.9);
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->actions.equal(found->actions));
  EXPECT_TRUE(again->states.features.equal(found->states.features));
  EXPECT_TRUE(again->returns.equal(found->returns));
}

TEST(Demonstrate, NothingThatChangesIsAnError) {
  const auto session = MustOpen({});
  const auto found = Demonstrate(session, {}, {{0, {}}}, 0.9);
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("no demonstrated pass"), std::string::npos);
}

// In a state in which several actions were shown, only one can be the likeliest.
double BestAgreement(const Demonstrations& shown) {
  std::set<int64_t> counted;
  int64_t same = 0;
  for (int64_t i = 0; i < shown.size(); ++i) {
    std::map<int64_t, int64_t> actions;
    for (int64_t j = 0; j < shown.size(); ++j) {
      if (!shown.states.features[i].equal(shown.states.features[j]) || counted.count(j)) continue;
      counted.insert(j);
      ++actions[shown.actions[j].item<int64_t>()];
    }
    int64_t most = 0;
    for (const auto& [action, count] : actions) most = std::max(most, count);
    same += most;
  }
  return static_cast<double>(same) / static_cast<double>(shown.size());
}

TEST(Imitate, ALearnerComesToDoWhatItWasShown) {
  EnvOptions env;
  env.reward.change = 1;
  const auto session = MustOpen(env);
  PassOrderTaskOptions options;
  options.environments = 2;
  auto config = Preset("ppo", "hone");
  ASSERT_TRUE(config);
  config->hidden = {64};
  const auto shown = Demonstrate(session, options, Everything(*session), config->gamma);
  ASSERT_TRUE(shown);
  std::vector<torch::Tensor> acts;
  for (int i = 0; i < 2; ++i) {
    auto task = MakePassOrderTask(session, options);
    ASSERT_TRUE(task);
    const auto learner = FindLearner("ppo")->make(*std::move(task), *config);
    ImitationOptions one;
    one.epochs = 1;
    const auto before = learner->Imitate(*shown, one);
    ASSERT_TRUE(before);
    ImitationOptions many;
    many.epochs = 400;
    many.learning_rate = 3e-3;
    const auto after = learner->Imitate(*shown, many);
    ASSERT_TRUE(after);
    EXPECT_LT(after->policy_loss, 0.2 * before->policy_loss);
    EXPECT_LT(after->value_loss, before->value_loss);
    EXPECT_GE(after->agreement, BestAgreement(*shown) - 1e-9);
    acts.push_back(learner->Act(shown->states));
  }
  EXPECT_TRUE(acts[0].equal(acts[1]));  // the same seed, the same bits
}

TEST(Imitate, EndsWhereItIsStopped) {
  const auto session = MustOpen({});
  auto task = MakePassOrderTask(session, {});
  auto config = Preset("ppo", "hone");
  ASSERT_TRUE(task && config);
  config->hidden = {8};
  const auto shown = Demonstrate(session, {}, Everything(*session), config->gamma);
  ASSERT_TRUE(shown);
  ImitationOptions options;
  options.epochs = 1'000'000;
  int asked = 0;
  options.stopped = [&] { return ++asked > 10; };
  const auto imitated =
      FindLearner("ppo")->make(*std::move(task), *config)->Imitate(*shown, options);
  ASSERT_TRUE(imitated) << imitated.error().message;
  EXPECT_LT(asked, 20);
}

TEST(Imitate, IsNotForEveryAlgorithm) {
  auto task = MakePassOrderTask(MustOpen({}), {});
  ASSERT_TRUE(task);
  const auto config = Preset("dqn", "hone");
  const auto imitated = FindLearner("dqn")->make(*std::move(task), *config)->Imitate({}, {});
  ASSERT_FALSE(imitated);
  EXPECT_NE(imitated.error().message.find("does not imitate"), std::string::npos);
}

TEST(PassOrderTask, ShowsWhatItSaysAndEndsEpisodesAtTheLimit) {
  PassOrderTaskOptions options;
  options.environments = 3;
  options.value_features = true;
  EnvOptions env;
  env.observation.cost = true;
  const auto task = MustMake(env, options);
  const TaskShape shape = task->shape();
  EXPECT_EQ(shape.value_features, kCostFeatureCount);
  auto seen = task->Reset(1);
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(seen->features.sizes(), (std::vector<int64_t>{3, shape.features}));
  EXPECT_EQ(seen->mask.sizes(), (std::vector<int64_t>{3, shape.actions}));
  EXPECT_GT(seen->value_features.abs().sum().item<float>(), 0);
  for (int i = 1; i <= 10; ++i) {
    const torch::Tensor actions = FirstAllowed(*seen, 7 * i % 80);
    auto went = task->Step(actions);
    ASSERT_TRUE(went) << went.error().message;
    const bool over = went->truncated.logical_or(went->terminated).any().item<bool>();
    EXPECT_EQ(went->truncated.all().item<bool>(), i == 10);
    // What bootstraps is the state before the reset.
    EXPECT_EQ(went->last.features.equal(went->next.features), !over);
    *seen = went->next;
  }
}

TEST(PassOrderTask, GoesOnFromWhereItWasSaved) {
  PassOrderTaskOptions options;
  options.environments = 2;
  const auto task = MustMake({}, options);
  auto seen = task->Reset(5);
  ASSERT_TRUE(seen);
  const auto step = [](Task& on, Observation& now, int64_t i) {
    auto went = on.Step(FirstAllowed(now, 13 * i % 80));
    EXPECT_TRUE(went) << went.error().message;
    now = went->next;
    return went->reward;
  };
  for (int i = 0; i < 14; ++i) step(*task, *seen, i);
  const auto other = MustMake({}, options);  // with a table that knows nothing
  auto restored = other->Restore(task->Save());
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_TRUE(Same(*restored, *seen));
  for (int i = 14; i < 40; ++i) {
    EXPECT_TRUE(step(*task, *seen, i).equal(step(*other, *restored, i))) << i;
    EXPECT_TRUE(Same(*restored, *seen)) << i;
  }
}

TEST(PassOrderTask, ABrokenSaveIsAnError) {
  const auto task = MustMake({}, {});
  for (const char* saved : {"", "[]", "{}", "[1,2]", "not JSON"}) {
    const auto restored = task->Restore(saved);
    ASSERT_FALSE(restored) << saved;
    EXPECT_EQ(restored.error().code, ErrorCode::kInvalidInput);
  }
}

TEST(PassOrderTask, ASessionThatDoesNotShowEnoughIsAnError) {
  EnvOptions env;
  PassOrderTaskOptions options;
  options.value_features = true;
  const auto without_cost = MakePassOrderTask(MustOpen(env), options);
  ASSERT_FALSE(without_cost);
  options = {};
  options.features = "houne";
  const auto unknown = MakePassOrderTask(MustOpen(env), options);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("hone"), std::string::npos);
}

class EveryLearner : public ::testing::TestWithParam<std::string> {
 protected:
  Config Small() const {
    Config config = *Preset(GetParam(), "hone");
    config.hidden = {16};
    config.total_steps = 400;
    config.rollout_steps = 8;
    config.batch_size = 16;
    config.epochs = 2;
    config.learning_starts = 16;
    config.trainings_per_update = 8;
    config.replay_size = 256;
    return config;
  }
  static std::unique_ptr<Learner> Make(const Config& config) {
    PassOrderTaskOptions options;
    options.environments = 2;
    return FindLearner(config.algorithm)->make(MustMake({}, options), config);
  }
  static std::map<std::string, policy::Tensor> Tensors(const Learner& learner) {
    return learner.Export().tensors;
  }
  static void ExpectSame(const Learner& a, const Learner& b) {
    const auto of_a = Tensors(a);
    const auto of_b = Tensors(b);
    ASSERT_EQ(of_a.size(), of_b.size());
    for (const auto& [name, tensor] : of_a) EXPECT_EQ(tensor.values, of_b.at(name).values) << name;
  }
};

TEST_P(EveryLearner, ResumesOnRealProgramsToTheSameBits) {
  torch::set_num_threads(1);
  const std::string path = ::testing::TempDir() + "/task_" + GetParam() + ".pt";
  const auto straight = Make(Small());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(straight->Update());
  ASSERT_TRUE(straight->Save(path));
  const auto resumed = Make(Small());
  ASSERT_TRUE(resumed->Load(path));
  EXPECT_EQ(resumed->steps(), straight->steps());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(straight->Update());
    ASSERT_TRUE(resumed->Update());
  }
  ExpectSame(*straight, *resumed);
  std::remove(path.c_str());
}

TEST_P(EveryLearner, TheGraphNetworkLearnsToo) {
  Config config = Small();
  config.network = "graph";
  config.rollout_steps = 4;
  config.trainings_per_update = 2;
  EnvOptions env;
  env.observation.graph = true;
  PassOrderTaskOptions options;
  options.environments = 2;
  options.graphs = true;
  const auto learner = FindLearner(config.algorithm)->make(MustMake(env, options), config);
  const auto before = Tensors(*learner);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(learner->Update());
  EXPECT_NE(before.at("policy.graph.embed_opcode").values,
            Tensors(*learner).at("policy.graph.embed_opcode").values);
}

INSTANTIATE_TEST_SUITE_P(Learners, EveryLearner, ::testing::Values("a2c", "dqn", "ppo", "trpo"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hone::learn
