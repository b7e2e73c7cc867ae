// hone-learning-curves: trains on CartPole-v1 and prints the learning curve, for comparison with
// other implementations at the same settings. A line an ended batch of episodes:
// {"steps":…,"episode_return":…,"episodes":…}; the last has the greedy policy's mean return.
#include <torch/torch.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "learn/greedy_return.h"
#include "learn/learner.h"
#include "learn/reference_tasks.h"

namespace {

int Fail(const hone::Error& error) {
  std::fprintf(stderr, "hone-learning-curves: %s\n", error.message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace hone;         // NOLINT
  using namespace hone::learn;  // NOLINT
  std::string algorithm = "ppo", preset = "sb3";
  int64_t seed = 1, steps = 50'000, environments = 1, evaluated = 20;
  std::vector<std::string> fields;
  CLI::App app("Trains on CartPole-v1 and prints the learning curve as JSON lines.");
  app.add_option("--algo", algorithm, "a2c, dqn, ppo or trpo");
  app.add_option("--preset", preset, "sb3, paper or hone");
  app.add_option("--seed", seed);
  app.add_option("--steps", steps, "over all environments");
  app.add_option("--environments", environments)->check(CLI::Range(1, 1024));
  app.add_option("--evaluate", evaluated, "greedy episodes at the end");
  app.add_option("--set", fields, "key=value, of the settings");
  CLI11_PARSE(app, argc, argv);
  torch::set_num_threads(1);

  StatusOr<Config> config = Preset(algorithm, preset);
  if (!config) return Fail(config.error());
  config->seed = seed;
  config->total_steps = steps;
  for (const std::string& field : fields) {
    if (Status set = SetField(*config, field); !set) return Fail(set.error());
  }
  if (Status valid = Validate(*config); !valid) return Fail(valid.error());
  const auto learner =
      FindLearner(config->algorithm)->make(MakeGameTask<CartPole>(environments), *config);
  while (learner->steps() < config->total_steps) {
    const StatusOr<Report> report = learner->Update();
    if (!report) return Fail(report.error());
    if (!report->contains("episode_return")) continue;
    nlohmann::ordered_json line = {{"steps", learner->steps()},
                                   {"episode_return", report->at("episode_return")},
                                   {"episodes", report->at("episodes")}};
    std::printf("%s\n", line.dump().c_str());
    std::fflush(stdout);
  }
  if (evaluated > 0) {
    const auto task = MakeGameTask<CartPole>(evaluated);
    const nlohmann::ordered_json line = {
        {"steps", learner->steps()},
        {"greedy_return", GreedyReturn(*learner, *task, static_cast<uint64_t>(seed) + 1000)}};
    std::printf("%s\n", line.dump().c_str());
  }
}
