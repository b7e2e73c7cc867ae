// What every learner must do, whatever it learns: the same bits, checkpoints, masks, policy files.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "learn/learner.h"
#include "learn/reference_tasks.h"

namespace hone::learn {
namespace {

struct Variant {
  std::string name;
  std::string algorithm;
  std::vector<std::string> fields;
};

Config SmallSettings(const Variant& c) {
  Config config = Preset(c.algorithm, "sb3").value();
  config.hidden = {16, 16};
  config.rollout_steps = 24;
  config.batch_size = 16;
  config.epochs = 2;
  config.value_epochs = 2;
  config.replay_size = 150;
  config.learning_starts = 20;
  config.trainings_per_update = 20;
  config.target_every = 50;
  config.total_steps = 2000;
  for (const std::string& field : c.fields) {
    EXPECT_TRUE(SetField(config, field).has_value()) << field;
  }
  return config;
}

std::unique_ptr<Learner> Make(const Config& config, std::shared_ptr<GameTask> task) {
  return FindLearner(config.algorithm)->make(std::move(task), config);
}

// The bits of what was learnt, and of what was told.
std::string Bits(const Learner& learner, const Report& report) {
  std::string bits;
  for (const auto& [name, tensor] : learner.Export().tensors) {
    bits += name;
    bits.append(reinterpret_cast<const char*>(tensor.values.data()),
                tensor.values.size() * sizeof(float));
  }
  for (const auto& [name, value] : report) {
    bits += name;
    bits.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return bits;
}

class EveryLearner : public ::testing::TestWithParam<Variant> {
 protected:
  EveryLearner() {
    torch::set_num_threads(1);
    std::string name = "/tmp/hone-learn-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~EveryLearner() override { std::filesystem::remove_all(folder_); }
  std::string File() const { return folder_ / "checkpoint"; }

  std::filesystem::path folder_;
};

std::string BitsAfter(const Config& config, int updates) {
  const auto learner = Make(config, MakeGameTask<RandomMasks>(3));
  Report report;
  for (int i = 0; i < updates; ++i) report = learner->Update().value();
  return Bits(*learner, report);
}

TEST_P(EveryLearner, SameSeedSameBits) {
  Config config = SmallSettings(GetParam());
  const std::string bits = BitsAfter(config, 3);
  torch::manual_seed(99);  // of no matter
  EXPECT_EQ(BitsAfter(config, 3), bits);
  config.seed = 2;
  EXPECT_NE(BitsAfter(config, 3), bits);
}

TEST_P(EveryLearner, GoesOnFromACheckpointToTheSameBits) {
  const Config config = SmallSettings(GetParam());
  for (const int before : {0, 1, 3}) {
    const auto whole = Make(config, MakeGameTask<RandomMasks>(3));
    for (int i = 0; i < before; ++i) ASSERT_TRUE(whole->Update().has_value());
    const Status saved = whole->Save(File());
    ASSERT_TRUE(saved.has_value()) << saved.error().message;
    const auto resumed = Make(config, MakeGameTask<RandomMasks>(3));
    ASSERT_TRUE(resumed->Update().has_value());  // to be forgotten
    const Status loaded = resumed->Load(File());
    ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
    EXPECT_EQ(resumed->steps(), whole->steps());
    for (int i = 0; i < 3; ++i) {
      const Report one = whole->Update().value(), other = resumed->Update().value();
      ASSERT_EQ(Bits(*whole, one), Bits(*resumed, other)) << before << " + " << i;
    }
    EXPECT_EQ(resumed->steps(), whole->steps());
  }
}

TEST_P(EveryLearner, ABrokenCheckpointIsAnErrorAndChangesNothing) {
  const Config config = SmallSettings(GetParam());
  const auto learner = Make(config, MakeGameTask<RandomMasks>(3));
  ASSERT_TRUE(learner->Update().has_value());
  ASSERT_TRUE(learner->Save(File()).has_value());
  std::ifstream file(File(), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  const std::string before = Bits(*learner, {});
  std::vector<std::string> broken = {"", "no archive", whole.substr(0, whole.size() / 2),
                                     whole.substr(0, whole.size() - 1)};
  for (const std::string& bytes : broken) {
    std::ofstream(File(), std::ios::binary) << bytes;
    EXPECT_FALSE(learner->Load(File()).has_value());
  }
  EXPECT_FALSE(learner->Load(File() + "-not-there").has_value());
  EXPECT_FALSE(learner->Save(folder_ / "no-folder" / "x").has_value());

  std::ofstream(File(), std::ios::binary) << whole;
  Config other = config;
  other.hidden = {8};
  EXPECT_FALSE(Make(other, MakeGameTask<RandomMasks>(3))->Load(File()).has_value());
  EXPECT_FALSE(Make(config, MakeGameTask<RandomMasks>(4))->Load(File()).has_value());
  other = config;
  other.algorithm = config.algorithm == "ppo" ? "a2c" : "ppo";
  EXPECT_FALSE(Make(other, MakeGameTask<RandomMasks>(3))->Load(File()).has_value());
  EXPECT_EQ(Bits(*learner, {}), before);
  EXPECT_TRUE(learner->Load(File()).has_value());
}

TEST_P(EveryLearner, TakesNoMaskedAction) {
  const Config config = SmallSettings(GetParam());
  const auto task = MakeGameTask<RandomMasks>(5);
  const auto learner = Make(config, task);
  for (int i = 0; i < 10; ++i) {
    const StatusOr<Report> report = learner->Update();
    ASSERT_TRUE(report.has_value()) << report.error().message;
  }
  EXPECT_EQ(task->masked_actions_taken(), 0);
  EXPECT_GT(learner->steps(), 500);
  // Nor does the greedy policy.
  const auto other = MakeGameTask<RandomMasks>(64);
  Observation seen = other->Reset(1).value();
  for (int i = 0; i < 50; ++i) seen = other->Step(learner->Act(seen)).value().next;
  EXPECT_EQ(other->masked_actions_taken(), 0);
}

// Dense layers without torch, as policy/ evaluates them.
std::vector<double> Evaluate(const policy::PolicyFile& file, std::vector<double> x) {
  const bool relu = file.metadata.at(policy::kMetadataActivation) == "relu";
  for (int layer = 0;; ++layer) {
    const std::string name = "policy." + std::to_string(layer);
    const auto weight = file.tensors.find(name + ".weight");
    if (weight == file.tensors.end()) return x;
    const policy::Tensor& bias = file.tensors.at(name + ".bias");
    if (layer > 0) {
      for (double& value : x) value = relu ? std::max(value, 0.0) : std::tanh(value);
    }
    std::vector<double> y(bias.values.begin(), bias.values.end());
    EXPECT_EQ(weight->second.shape, (std::vector<int64_t>{static_cast<int64_t>(y.size()),
                                                          static_cast<int64_t>(x.size())}));
    for (size_t i = 0; i < y.size(); ++i) {
      for (size_t j = 0; j < x.size(); ++j) y[i] += weight->second.values[i * x.size() + j] * x[j];
    }
    x = std::move(y);
  }
}

TEST_P(EveryLearner, TheExportedPolicyActsAsTheLearner) {
  const Config config = SmallSettings(GetParam());
  const auto learner = Make(config, MakeGameTask<RandomMasks>(3));
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(learner->Update().has_value());
  const policy::PolicyFile file = learner->Export();
  EXPECT_EQ(file.metadata.at(policy::kMetadataHead), config.algorithm == "dqn" ? "q" : "logits");
  EXPECT_EQ(file.tensors.count("value.0.weight"), config.algorithm == "dqn" ? 0 : 1);
  const auto other = MakeGameTask<RandomMasks>(200);
  const Observation seen = other->Reset(8).value();
  const torch::Tensor actions = learner->Act(seen);
  for (int64_t b = 0; b < seen.size(); ++b) {
    const float* row = seen.features.data_ptr<float>() + 3 * b;
    const std::vector<double> outputs = Evaluate(file, {row, row + 3});
    ASSERT_EQ(outputs.size(), static_cast<size_t>(RandomMasks::kActions));
    const bool* mask = seen.mask.data_ptr<bool>() + RandomMasks::kActions * b;
    const int64_t action = actions.data_ptr<int64_t>()[b];
    for (size_t a = 0; a < outputs.size(); ++a) {
      if (mask[a]) {
        EXPECT_LE(outputs[a], outputs[action] + 1e-5);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, EveryLearner,
    ::testing::Values(Variant{"ppo", "ppo", {"entropy_weight=0.01", "value_features=true"}},
                      Variant{"ppo_overlap",
                              "ppo",
                              {"overlap=true", "decay_learning_rate=true", "target_kl=0.01"}},
                      Variant{"a2c", "a2c", {}},
                      Variant{"a2c_overlap", "a2c", {"overlap=true", "rms_prop=false"}},
                      Variant{"trpo", "trpo", {"value_features=true"}},
                      Variant{"trpo_overlap", "trpo", {"overlap=true"}}, Variant{"dqn", "dqn", {}},
                      Variant{"dqn_all",
                              "dqn",
                              {"double_q=true", "duelling=true", "prioritised=true", "n_step=3",
                               "gradient_steps=2"}}),
    [](const auto& info) { return info.param.name; });

TEST(OverlapTest, TheFirstUpdateIsThatWithoutAndTheLagIsOne) {
  torch::set_num_threads(1);
  Config config = SmallSettings({"", "ppo", {}});
  const auto plain = Make(config, MakeGameTask<RandomMasks>(3));
  config.overlap = true;
  const auto overlapping = Make(config, MakeGameTask<RandomMasks>(3));
  ASSERT_TRUE(plain->Update().has_value());
  ASSERT_TRUE(overlapping->Update().has_value());
  EXPECT_EQ(Bits(*plain, {}), Bits(*overlapping, {}));
  EXPECT_EQ(overlapping->steps(), 2 * plain->steps());
  ASSERT_TRUE(plain->Update().has_value());
  ASSERT_TRUE(overlapping->Update().has_value());
  EXPECT_NE(Bits(*plain, {}), Bits(*overlapping, {}));
  EXPECT_EQ(overlapping->steps(), 3 * plain->steps() / 2);
}

}  // namespace
}  // namespace hone::learn
