#include "learn/config.h"

#include <gtest/gtest.h>

#include "learn/learner.h"

namespace hone::learn {
namespace {

TEST(ConfigTest, EveryLearnerHasEveryPresetAndTheyAreValid) {
  for (const LearnerInfo& learner : Learners()) {
    for (const char* kind : {"paper", "sb3", "hone"}) {
      const StatusOr<Config> config = Preset(learner.name, kind);
      ASSERT_TRUE(config.has_value()) << config.error().message;
      EXPECT_EQ(config->algorithm, learner.name);
      EXPECT_TRUE(Validate(*config).has_value());
    }
  }
  EXPECT_NE(Preset("pppo", "sb3").error().message.find("'ppo'"), std::string::npos);
  EXPECT_FALSE(Preset("ppo", "unheard-of").has_value());
}

TEST(ConfigTest, ThePaperSettingsOfPpo) {
  const Config config = Preset("ppo", "paper").value();
  EXPECT_EQ(config.batch_size, 256);
  EXPECT_EQ(config.learning_rate, 3e-4);
  EXPECT_EQ(config.gamma, 0.99);
  EXPECT_EQ(config.gae_lambda, 0.95);
  EXPECT_EQ(config.clip_range, 0.2);
  EXPECT_EQ(config.hidden, (std::vector<int64_t>{2048, 2048}));
}

TEST(ConfigTest, JsonKeepsEverything) {
  const Config config = Preset("dqn", "hone").value();
  const StatusOr<Config> back = FromJson(ToJson(config));
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_EQ(ToJson(*back), ToJson(config));
  EXPECT_NE(ToJson(config), ToJson(Config()));
}

TEST(ConfigTest, JsonErrorsNameTheField) {
  EXPECT_NE(FromJson(R"({"gama": 1})").error().message.find("'gamma'"), std::string::npos);
  EXPECT_NE(FromJson(R"({"gamma": "x"})").error().message.find("gamma"), std::string::npos);
  EXPECT_NE(FromJson(R"({"hidden": [1, "x"]})").error().message.find("hidden"), std::string::npos);
  EXPECT_NE(FromJson(R"({"hidden": [0]})").error().message.find("hidden"), std::string::npos);
  EXPECT_FALSE(FromJson("[").has_value());
  EXPECT_FALSE(FromJson("[]").has_value());
}

TEST(ConfigTest, SetsFields) {
  Config config;
  for (const char* field :
       {"learning_rate=1e-2", "hidden=32,16", "overlap=true", "epochs=3", "activation=relu"}) {
    EXPECT_TRUE(SetField(config, field).has_value()) << field;
  }
  EXPECT_EQ(config.learning_rate, 0.01);
  EXPECT_EQ(config.hidden, (std::vector<int64_t>{32, 16}));
  EXPECT_TRUE(config.overlap);
  EXPECT_EQ(config.epochs, 3);
  EXPECT_TRUE(SetField(config, "hidden=").has_value());
  EXPECT_TRUE(config.hidden.empty());
}

TEST(ConfigTest, BadFieldsAreErrorsAndChangeNothing) {
  Config config;
  const std::string before = ToJson(config);
  for (const char* field :
       {"epochs", "epochs=", "epochs=3x", "epochs=1.5", "overlap=yes", "hidden=3,x", "gamma=2",
        "gamma=nan", "activation=gelu", "no=1", "learning_rate=-1", "batch_size=0"}) {
    EXPECT_FALSE(SetField(config, field).has_value()) << field;
  }
  EXPECT_EQ(ToJson(config), before);
  EXPECT_NE(SetField(config, "epoch=3").error().message.find("'epochs'"), std::string::npos);
}

}  // namespace
}  // namespace hone::learn
