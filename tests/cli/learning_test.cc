// hone train, eval, leaderboard and coreset, as they follow one another.
#include <gtest/gtest.h>

#include <filesystem>

#include "hone_process.h"
#include "support/programs.h"

namespace hone {
namespace {

using hone::testing::ReadData;

class LearningCommands : public HoneTest {
 protected:
  LearningCommands() {
    for (const char* name : {"kmeans/jax010_kmeans_while.hlo", "misc/jax010_int8_mlp_fwd.hlo"}) {
      Write(std::string("set/") + name, ReadData(name));
    }
  }

  static bool CanTrain() {
    return std::filesystem::exists(std::filesystem::path(HONE_BINARY).parent_path() / "hone-learn");
  }
  // Trains a small policy into policy.safetensors.
  Ran Train(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {
        "train", "set",   "--environments",  "2",       "--set", "hidden=16", "--traj-limit",
        "8",     "--set", "rollout_steps=8", "--steps", "64",    "-o",        "policy.safetensors",
        "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Hone(std::move(arguments));
  }
};

TEST_F(LearningCommands, APolicyIsTrainedEvaluatedAndUsed) {
  if (!CanTrain()) GTEST_SKIP() << "built without libtorch";
  const Ran trained = Train({"--log", "log"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_GE(trained.Json()["steps"], 64);
  EXPECT_EQ(trained.Json()["settings"]["hidden"], nlohmann::json({16}));
  EXPECT_NE(Read("log/metrics.jsonl").find("episode_return"), std::string::npos);
  EXPECT_NE(Read("log/curve.svg").find("<svg"), std::string::npos);

  const Ran evaluated = Hone({"eval", "set", "--policy", "policy.safetensors", "--seeds", "1",
                              "--verify", "--json", "-o", "results.jsonl"});
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  ASSERT_EQ(evaluated.Json()["results"].size(), 2u);
  const nlohmann::json evaluated_json = evaluated.Json();  // must outlive the loop
  for (const auto& row : evaluated_json["results"]) {
    EXPECT_EQ(row["method"], "policy_greedy");
    EXPECT_EQ(row["verified"], "true");
    EXPECT_LE(row["result"], row["initial"]);
    EXPECT_EQ(row["stop_reason"], "exhausted");
  }

  const Ran optimized =
      Hone({"optimize", "set/kmeans/jax010_kmeans_while.hlo", "--search", "policy", "--policy",
            "policy.safetensors", "--budget", "300steps", "--no-verify", "--json"});
  ASSERT_EQ(optimized.code, 0) << optimized.err;
  EXPECT_LE(optimized.Json()["result"], optimized.Json()["default"]);
}

TEST_F(LearningCommands, TheSameSeedTrainsTheSamePolicy) {
  if (!CanTrain()) GTEST_SKIP() << "built without libtorch";
  ASSERT_EQ(Train().code, 0);
  const std::string first = Read("policy.safetensors");
  ASSERT_EQ(Train().code, 0);
  EXPECT_EQ(Read("policy.safetensors"), first);
  ASSERT_EQ(Train({"--seed", "2"}).code, 0);
  EXPECT_NE(Read("policy.safetensors"), first);
}

TEST_F(LearningCommands, TrainingGoesOnFromItsCheckpoint) {
  if (!CanTrain()) GTEST_SKIP() << "built without libtorch";
  // The rate of learning must not fall with the steps planned, for those differ.
  const std::vector<std::string> steady = {"--set", "decay_learning_rate=false"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), steady.begin(), steady.end());
    return more;
  };
  ASSERT_EQ(Train(with({"--set", "total_steps=128"})).code, 0);
  const std::string straight = Read("policy.safetensors");
  ASSERT_EQ(Train(with({"--log", "log"})).code, 0);
  const Ran resumed =
      Train(with({"--log", "log", "--resume", "log/checkpoint.pt", "--set", "total_steps=128"}));
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(Read("policy.safetensors"), straight);
}

TEST_F(LearningCommands, BadSettingsAreOneMessage) {
  if (!CanTrain()) GTEST_SKIP() << "built without libtorch";
  Write("broken.pt", "no checkpoint");
  for (const std::vector<std::string>& bad :
       std::vector<std::vector<std::string>>{{"--set", "hiden=16"},
                                             {"--set", "gamma=much"},
                                             {"--algo", "pppo"},
                                             {"--actions", "algsimpp"},
                                             {"--resume", "missing.pt"},
                                             {"--resume", "broken.pt"},
                                             {"--split", "tset"},
                                             {"-o", "no/such/folder/policy.safetensors"}}) {
    std::vector<std::string> arguments = {"train", "set", "--steps", "16"};
    arguments.insert(arguments.end(), bad.begin(), bad.end());
    const Ran ran = Hone(arguments);
    EXPECT_EQ(ran.code, 2) << bad[0] << " " << bad[1] << ": " << ran.err;
    EXPECT_TRUE(IsOneMessage(ran.err)) << ran.err;
  }
}

class LoopsTraining : public LearningCommands {
 protected:
  Ran TrainLoops(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"train",
                                          "--loops",
                                          "--drawn",
                                          "10",
                                          "--measure",
                                          "estimate",
                                          "--environments",
                                          "2",
                                          "--set",
                                          "hidden=16",
                                          "--set",
                                          "rollout_steps=8",
                                          "--steps",
                                          "64",
                                          "-o",
                                          "loops.safetensors",
                                          "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Hone(std::move(arguments));
  }
};

TEST_F(LoopsTraining, TheSameSeedTrainsTheSamePolicy) {
  if (!CanTrain()) GTEST_SKIP() << "built without libtorch";
  const Ran trained = TrainLoops({"softmax_64_128", "--log", "log"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(trained.Json()["tasks"], 11);
  EXPECT_GE(trained.Json()["steps"], 64);
  EXPECT_EQ(trained.Json()["settings"]["network"], "offers");
  EXPECT_NE(Read("log/metrics.jsonl").find("episode_return"), std::string::npos);
  const std::string first = Read("loops.safetensors");
  ASSERT_EQ(TrainLoops({"softmax_64_128"}).code, 0);
  EXPECT_EQ(Read("loops.safetensors"), first);
  ASSERT_EQ(TrainLoops({"softmax_64_128", "--seed", "2"}).code, 0);
  EXPECT_NE(Read("loops.safetensors"), first);
}

TEST_F(LoopsTraining, GoesOnFromItsCheckpoint) {
  if (!CanTrain()) GTEST_SKIP() << "built without libtorch";
  const std::vector<std::string> settings = {"--set", "decay_learning_rate=false", "--set",
                                             "total_steps=128"};
  ASSERT_EQ(TrainLoops(settings).code, 0);
  const std::string straight = Read("loops.safetensors");
  ASSERT_EQ(TrainLoops({"--set", "decay_learning_rate=false", "--log", "log"}).code, 0);
  std::vector<std::string> more = {"--log", "log", "--resume", "log/checkpoint.pt"};
  more.insert(more.end(), settings.begin(), settings.end());
  const Ran resumed = TrainLoops(more);
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(Read("loops.safetensors"), straight);
}

TEST_F(LoopsTraining, BadInputIsOneMessage) {
  if (!CanTrain()) GTEST_SKIP() << "built without libtorch";
  Write("bad.task", "task t\ninput x f32[2]\ny = relu z\noutput y\n");
  for (const std::vector<std::string>& bad : std::vector<std::vector<std::string>>{
           {"train", "--loops", "--measure", "estimate"},
           {"train", "--loops", "no_such_task", "--measure", "estimate"},
           {"train", "--loops", "bad.task", "--measure", "estimate"},
           {"train", "--loops", "matmul_64_64_64", "--measure", "guess"},
           {"train", "--loops", "matmul_64_64_64", "--actions", "all"},
           {"train", "--loops", "matmul_64_64_64", "--measure", "estimate", "--set",
            "network=mlp"},
           {"train", "set", "--drawn", "3"},
           {"train", "set", "--set", "network=offers"},
           {"train"}}) {
    const Ran ran = Hone(bad);
    EXPECT_EQ(ran.code, 2) << bad.back() << ": " << ran.err;
    EXPECT_TRUE(IsOneMessage(ran.err)) << ran.err;
  }
}

TEST_F(LearningCommands, WhatWasFoundIsImitated) {
  if (!CanTrain()) GTEST_SKIP() << "built without libtorch";
  const Ran found = Hone({"eval", "set", "--search", "local", "--seeds", "2", "--budget",
                          "300steps", "-o", "found.jsonl", "--json"});
  ASSERT_EQ(found.code, 0) << found.err;
  const nlohmann::json found_json = found.Json();  // must outlive the loop
  for (const auto& row : found_json["results"]) EXPECT_FALSE(row["passes"].empty());
  const Ran trained =
      Train({"--imitate", "found.jsonl", "--imitate-epochs", "300", "--set", "total_steps=0"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(trained.Json()["steps"], 0);
  EXPECT_GT(trained.Json()["imitation"]["actions"], 5);
  EXPECT_GT(trained.Json()["imitation"]["agreement"], 0);
  EXPECT_NE(Read("policy.safetensors").find("imitated"), std::string::npos);
  // Then it goes on by acting.
  const Ran both = Train({"--imitate", "found.jsonl"});
  ASSERT_EQ(both.code, 0) << both.err;
  EXPECT_GE(both.Json()["steps"], 64);

  Write(
      "other.jsonl",
      "{\"method\":\"m\",\"program\":\"none\",\"objective\":\"op_count\",\"actions\":\"simplify\","
      "\"seed\":1,\"initial\":9,\"default\":8,\"result\":7,\"evaluated\":1,\"seconds\":1,"
      "\"curve\":[],\"passes\":[\"cse\"]}\n");
  for (const std::vector<std::string>& bad :
       std::vector<std::vector<std::string>>{{"--imitate", "other.jsonl"},
                                             {"--imitate", "missing.jsonl"},
                                             {"--imitate", "found.jsonl", "--objective", "flops"},
                                             {"--imitate", "found.jsonl", "--algo", "dqn"}}) {
    const Ran ran = Train(bad);
    EXPECT_EQ(ran.code, 2) << bad.back() << ": " << ran.err;
    EXPECT_TRUE(IsOneMessage(ran.err)) << ran.err;
  }
}

TEST_F(LearningCommands, WithoutTheLearnersTrainSaysHowToGetThem) {
  if (CanTrain()) GTEST_SKIP() << "built with libtorch";
  const Ran ran = Hone({"train", "set"});
  EXPECT_NE(ran.code, 0);
  EXPECT_TRUE(IsOneMessage(ran.err)) << ran.err;
  EXPECT_NE(ran.err.find("libtorch"), std::string::npos) << ran.err;
}

TEST_F(LearningCommands, TheShippedPolicyAndCoresetDoWellAtOnce) {
  for (const char* search : {"policy_greedy", "coreset"}) {
    const Ran ran = Hone({"eval", "set", "--search", search, "--seeds", "1", "--json"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    const nlohmann::json ran_json = ran.Json();  // must outlive the loop
    for (const auto& row : ran_json["results"]) {
      EXPECT_LT(row["result"], row["initial"]) << search;
      EXPECT_LT(row["evaluated"], 400);
    }
  }
}

TEST_F(LearningCommands, ACoresetIsMadeAndUsed) {
  const Ran made = Hone({"coreset", "set", "--budget", "1s", "-o", "coreset.json", "--json"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.Json()["programs"], 2);
  EXPECT_GT(made.Json()["coverage"][0], 0);
  const Ran evaluated = Hone({"eval", "set", "--search", "coreset", "--coreset", "coreset.json",
                              "--seeds", "1", "--json"});
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  // On what it was made of it does at least as well as XLA's own order.
  const nlohmann::json evaluated_json = evaluated.Json();  // must outlive the loop
  for (const auto& row : evaluated_json["results"]) EXPECT_LE(row["result"], row["default"]);
}

TEST_F(LearningCommands, AnInterruptLeavesTheCoresetOfWhatWasSearched) {
  const Ran made =
      RunProcess({HONE_BINARY, "coreset", "set", "--budget", "3s", "-o", "coreset.json", "--json"},
                 folder(), /*interrupt_at=*/"searching: 1 of 2");
  EXPECT_EQ(made.code, 130) << made.err;
  EXPECT_GE(made.Json()["programs"], 1);
  EXPECT_FALSE(Read("coreset.json").empty());
}

TEST_F(LearningCommands, ResultsOfSeveralMethodsMakeALeaderboard) {
  for (const char* search : {"random", "mcts"}) {
    const Ran ran = Hone({"eval", "set", "--search", search, "--seeds", "2", "--budget", "200steps",
                          "-o", "results.jsonl", "-q"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_NE(ran.out.find("geometric mean"), std::string::npos);
  }
  const Ran board = Hone({"leaderboard", "results.jsonl", "-o", "board.md", "--steps", "50,200",
                          "--seconds", "5", "--curves", "curves.svg", "--over", "seconds"});
  ASSERT_EQ(board.code, 0) << board.err;
  const std::string page = Read("board.md");
  for (const char* part :
       {"| mcts |", "| random |", "| default order | 1.0000", "50 steps", "5 s", "## Pairs"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part << "\n" << page;
  }
  EXPECT_TRUE(Read("curves.svg").starts_with("<svg"));
  const Ran json = Hone({"leaderboard", "results.jsonl", "--steps", "50", "--seed", "3", "--json"});
  ASSERT_EQ(json.code, 0) << json.err;
  EXPECT_EQ(json.out,
            Hone({"leaderboard", "results.jsonl", "--steps", "50", "--seed", "3", "--json"}).out);
  const nlohmann::json pairs = json.Json()["pairs"];
  ASSERT_EQ(pairs.size(), 6u);  // three methods, in the end and at 50 steps
  EXPECT_EQ(pairs[0]["steps"], nullptr);
  EXPECT_EQ(pairs[3]["steps"], 50);
  for (const auto& pair : pairs) EXPECT_EQ(pair["a_is"], "unclear");  // of so few programs
}

TEST_F(LearningCommands, TheBudgetInStepsGivesTheSameWhateverTheWorkers) {
  const auto results = [&](const char* workers) {
    const Ran ran = Hone({"eval", "set", "--search", "anneal", "--seeds", "1", "--budget",
                          "150steps", "--workers", workers, "--json"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    std::vector<double> values;
    const nlohmann::json ran_json = ran.Json();  // must outlive the loop
    for (const auto& row : ran_json["results"]) {
      values.push_back(row["result"]);
      values.push_back(row["evaluated"]);
    }
    return values;
  };
  EXPECT_EQ(results("1"), results("2"));
}

TEST_F(LearningCommands, BadInputIsOneMessage) {
  Write("broken.safetensors", "no policy");
  Write("broken.json", "{}");
  Write("results.jsonl", "{\"method\": 1}\n");
  for (const std::vector<std::string>& bad : std::vector<std::vector<std::string>>{
           {"eval", "set", "--policy", "missing.safetensors"},
           {"eval", "set", "--policy", "broken.safetensors"},
           {"eval", "set", "--search", "coreset", "--coreset", "broken.json"},
           {"eval", "set", "--split", "test"},
           {"eval", "set", "-o", "results.jsonl"},
           {"eval", "nothing-there"},
           {"leaderboard", "results.jsonl"},
           {"leaderboard", "missing.jsonl"},
           {"coreset", "set", "-o", "no/such/folder/coreset.json"}}) {
    const Ran ran = Hone(bad);
    EXPECT_EQ(ran.code, 2) << bad[0] << " " << bad.back() << ": " << ran.err;
    EXPECT_TRUE(IsOneMessage(ran.err)) << ran.err;
  }
  EXPECT_EQ(Read("results.jsonl"), "{\"method\": 1}\n");
}

}  // namespace
}  // namespace hone
