#include "jobs/train_loops.h"

#include <chrono>
#include <utility>

#include "jobs/schedule_loops.h"
#include "learn/loops_task.h"
#include "loops/estimate.h"
#include "loops/policy.h"
#include "loops/tasks.h"

namespace hone::jobs {
namespace {

// The environment, with all its tasks.
FileOr<loops::LoopsEnvOptions> MakeEnvironment(const TrainLoopsOptions& options) {
  loops::LoopsEnvOptions env;
  for (const std::string& given : options.tasks) {
    StatusOr<std::string> text = ReadTaskText(given);
    if (!text) return Wrong(given, text.error());
    if (const auto task = loops::ParseTask(*text); !task) return Wrong(given, task.error());
    env.tasks.push_back(*std::move(text));
  }
  for (const loops::KnownTask& task :
       loops::DrawTasks(options.drawn, static_cast<uint64_t>(options.seed))) {
    env.tasks.push_back(task.text);
  }
  if (env.tasks.empty()) {
    return Wrong("", {ErrorCode::kInvalidInput,
                      "--loops is without tasks; name some of `hone loops list`, or have some "
                      "drawn: --drawn 100"});
  }
  env.estimate = options.measure == "estimate";
  env.machine = env.estimate ? loops::kEstimatedMachine : loops::ThisMachine();
  env.steps_a_nest = options.steps_a_nest;
  env.sandbox = options.sandbox;
  return env;
}

}  // namespace

FileOr<LoopsTrained> TrainLoops(const TrainLoopsOptions& options, Events& events) {
  const FileOr<loops::LoopsEnvOptions> env = MakeEnvironment(options);
  if (!env) return tl::unexpected(env.error());
  // Decisions mean something else in each state, and observations are long.
  std::vector<std::string> presumed = {"network=offers"};
  if (options.algorithm == "dqn") presumed.emplace_back("replay_size=20000");
  const StatusOr<learn::Config> config = MakeConfig(options, presumed);
  if (!config) return Wrong("", config.error());
  events.HoldInterrupts();
  const auto start = std::chrono::steady_clock::now();
  if (config->network != "offers") {
    return Wrong("",
                 {ErrorCode::kInvalidInput,
                  "with --loops the network is offers, which is what `hone loops tune` can use"});
  }
  SetThreads(options.threads);
  auto task = learn::MakeLoopsTask({options.environments, *env, events.stop()});
  if (!task) return Wrong("", task.error());
  const auto learner = learn::FindLearner(options.algorithm)->make(*std::move(task), *config);
  TrainingHooks hooks;
  hooks.write_card = [&](policy::PolicyFile& file) {
    auto& metadata = file.metadata;
    metadata[policy::kMetadataFormat] = loops::kLoopsPolicyFormat;
    metadata["measure"] = options.measure;
    metadata["reward"] = env->immediate ? "immediate" : "final";
    metadata["steps_a_nest"] = std::to_string(env->steps_a_nest);
    metadata["tasks"] = std::to_string(env->tasks.size());
    metadata["drawn"] = std::to_string(options.drawn);
    metadata["drawn_seed"] = std::to_string(static_cast<uint64_t>(options.seed));
  };
  auto trained = RunTraining(options, *config, hooks, events, *learner, start);
  if (!trained) return tl::unexpected(trained.error());
  return LoopsTrained{*std::move(trained), env->tasks.size()};
}

Json ToJson(const LoopsTrained& trained, const TrainLoopsOptions& options) {
  Json json = ToJson(static_cast<const Trained&>(trained), options);
  json["tasks"] = trained.tasks;
  return json;
}

}  // namespace hone::jobs
