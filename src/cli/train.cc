// hone train: a policy learnt by acting on programs. A part of hone-learn, which links torch.
#include "jobs/train.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/cluster.h"
#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/parse.h"
#include "cli/program_set.h"
#include "cli/train_loops.h"
#include "learn/config.h"
#include "learn/learner.h"
#include "policy/features.h"
#include "report/evaluation.h"

namespace hone::cli {
namespace {

struct TrainFlags {
  CommonOptions common;
  ClusterOptions cluster;
  ProgramSet programs;
  std::string algorithm = "ppo";
  std::string preset = "hone";
  std::vector<std::string> set;
  std::string features = "hone";
  std::string objective = "op_count";
  std::string actions = "simplify";
  std::string reward = "headroom";
  double shaping = 0;
  int traj_limit = 64;
  int64_t environments = 16;
  int64_t steps = 200'000;
  double seconds = std::numeric_limits<double>::infinity();
  int64_t seed = 1;
  int threads = 1;
  bool no_table = false;
  bool act_only = false;
  double checkpoint_seconds = 120;
  std::string log;
  std::string resume;
  std::string imitate;
  int64_t imitate_epochs = learn::ImitationOptions{}.epochs;
  std::string output;
  LoopsTrainingOptions loops;
};

// What trainings of all kinds share. `presumed`: settings before those of --set.
Status FillTraining(const TrainFlags& options, std::vector<std::string> presumed,
                    jobs::TrainingOptions& job) {
  presumed.insert(presumed.end(), options.set.begin(), options.set.end());
  auto config =
      jobs::MakeConfig(options.algorithm, options.preset, options.seed, options.steps, presumed);
  if (!config) return tl::unexpected(config.error());
  if (!options.output.empty()) {
    if (Status fine = CheckWritable(options.output); !fine) return fine;
  }
  job.config = *std::move(config);
  job.algorithm = options.algorithm;
  job.preset = options.preset;
  job.seed = options.seed;
  job.environments = options.environments;
  job.seconds = options.seconds;
  job.threads = options.threads;
  job.checkpoint_seconds = options.checkpoint_seconds;
  job.log = options.log;
  job.resume = options.resume;
  job.output = options.output;
  job.write = WriteFile;
  return {};
}

StatusOr<std::vector<jobs::SequenceToImitate>> ReadSequences(const TrainFlags& options,
                                                             const jobs::TrainOptions& job) {
  constexpr size_t kMostBytes = size_t{1} << 30;
  const StatusOr<std::string> text = ReadInput(options.imitate, kMostBytes);
  if (!text) return tl::unexpected(text.error());
  const auto rows = report::EvaluationsFromJsonLines(*text);
  if (!rows) return tl::unexpected(rows.error());
  return jobs::BestSequences(*rows, job.programs, job.objective, job.actions);
}

StatusOr<jobs::TrainOptions> JobFor(const TrainFlags& options) {
  jobs::TrainOptions job;
  if (Status filled = FillTraining(options, {}, job); !filled) {
    return tl::unexpected(filled.error());
  }
  const auto chosen = ChooseInputs(options.programs, options.common.datasets);
  if (!chosen) return tl::unexpected(chosen.error().error);
  for (const std::string& file : *chosen) {
    StatusOr<std::string> bytes = ReadInput(file, options.common.MostInputBytes());
    if (!bytes) {
      bytes.error().message = file + ": " + bytes.error().message;
      return tl::unexpected(bytes.error());
    }
    job.programs.push_back({file, *std::move(bytes)});
  }
  job.features = options.features;
  job.objective = *ObjectiveFromName(options.objective);
  job.actions = options.actions;
  job.reward = options.reward;
  job.shaping = options.shaping;
  job.traj_limit = options.traj_limit;
  job.use_table = !options.no_table;
  job.imitation.epochs = options.imitate_epochs;
  if (!options.imitate.empty()) {
    StatusOr<std::vector<jobs::SequenceToImitate>> sequences = ReadSequences(options, job);
    if (!sequences) {
      sequences.error().message = options.imitate + ": " + sequences.error().message;
      return tl::unexpected(sequences.error());
    }
    job.imitate = *std::move(sequences);
  }
  return job;
}

Json TrainedJson(const TrainFlags& options, const jobs::Trained& trained,
                 const std::string& settings) {
  Json json;
  json["algorithm"] = options.algorithm;
  json["steps"] = trained.steps;
  json["seconds"] = trained.seconds;
  json["steps_per_second"] = trained.steps_per_second;
  json["episode_return"] =
      std::isnan(trained.episode_return) ? Json(nullptr) : Json(trained.episode_return);
  json["settings"] = Json::parse(settings);
  if (!options.output.empty()) json["output"] = options.output;
  if (!options.log.empty()) json["log"] = options.log;
  return json;
}

// `on`: what it was trained on.
std::string TrainedText(const TrainFlags& options, const jobs::Trained& trained,
                        const std::string& on) {
  const std::string policy = options.output.empty() ? "" : "policy in " + options.output + "\n";
  if (trained.taken == 0) return fmt::format("no steps on {}\n{}", on, policy);
  return fmt::format("{} steps on {}, {:.0f} a second; mean return of the last tenth {:.4f}\n{}{}",
                     Grouped(trained.taken), on, trained.steps_per_second, trained.episode_return,
                     policy,
                     options.log.empty() ? "" : "log and checkpoint in " + options.log + "\n");
}

int TellResult(const TrainFlags& options, const jobs::TrainResult& result,
               const std::string& settings, int code) {
  if (options.common.json) {
    Json json = TrainedJson(options, result, settings);
    if (result.imitated > 0) {
      json["imitation"] = {{"actions", result.imitated},
                           {"policy_loss", result.imitation.policy_loss},
                           {"value_loss", result.imitation.value_loss},
                           {"agreement", result.imitation.agreement}};
    }
    json["transitions"] = result.transitions;
    return Finish(json, code);
  }
  std::string imitated;
  if (result.imitated > 0) {
    imitated = fmt::format("imitated {} actions: the likeliest in {:.0f} % of the states\n",
                           Grouped(result.imitated), 100 * result.imitation.agreement);
  }
  return Finish(
      imitated + TrainedText(options, result, fmt::format("{} programs", result.programs)), code);
}

int RunTrainLoops(const TrainFlags& options) {
  const bool json = options.common.json;
  const LoopsTrainingOptions& loops = options.loops;
  auto job = LoopsJobFor(loops, options.programs.files, options.seed, !options.common.no_sandbox);
  if (!job) return Fail(job.error(), json);
  // Decisions mean something else in each state, and observations are long.
  std::vector<std::string> presumed = {"network=offers"};
  if (options.algorithm == "dqn") presumed.emplace_back("replay_size=20000");
  if (Status filled = FillTraining(options, presumed, *job); !filled) {
    return Fail(filled.error(), json);
  }
  const std::atomic<bool>* const stop = StopOnInterrupt();
  CommandEvents events(options.common.ShowProgress(), stop);
  const auto trained = jobs::TrainLoops(*job, events);
  if (!trained) return Fail(trained.error(), json);
  const int code = *stop ? kInterrupted : kFine;
  const size_t tasks = job->env.tasks.size();
  if (json) {
    Json out = TrainedJson(options, *trained, learn::ToJson(job->config));
    out["tasks"] = tasks;
    return Finish(out, code);
  }
  return Finish(TrainedText(options, *trained, fmt::format("{} tasks", tasks)), code);
}

int RunTrain(const TrainFlags& options) {
  const bool json = options.common.json;
  if (options.loops.on) return RunTrainLoops(options);
  if (options.programs.files.empty()) {
    return Fail({ErrorCode::kInvalidInput, "PROGRAM is required; see `hone train --help`"}, json);
  }
  StatusOr<jobs::TrainOptions> job = JobFor(options);
  if (!job) return Fail(job.error(), json);
  const std::atomic<bool>* const stop = StopOnInterrupt();
  auto cluster = Connect(options.cluster, options.common);  // outlives the job's workers
  if (!cluster) return Fail(cluster.error(), json);
  StatusOr<PoolOptions> pool = PoolOptionsFor(options.common);
  if (!pool) return Fail(pool.error(), json);
  job->pool = *std::move(pool);
  if (*cluster != nullptr) (*cluster)->Lend(job->pool);
  CommandEvents events(options.common.ShowProgress(), stop);
  if (options.act_only) {
    const StatusOr<jobs::ActResult> acted = jobs::ActAtRandom(*std::move(job), events);
    if (!acted) return Fail(acted.error(), json);
    const int code = *stop ? kInterrupted : kFine;
    if (json) {
      return Finish(Json{{"steps", acted->steps}, {"steps_per_second", acted->steps_per_second}},
                    code);
    }
    return Finish(fmt::format("{} steps at random, {:.0f} a second\n", Grouped(acted->steps),
                              acted->steps_per_second),
                  code);
  }
  const std::string settings = learn::ToJson(job->config);
  const auto result = jobs::Train(*std::move(job), events);
  if (!result) return Fail(result.error(), json);
  return TellResult(options, *result, settings, *stop ? kInterrupted : kFine);
}

}  // namespace

Run AddTrain(CLI::App& app) {
  auto options = std::make_shared<TrainFlags>();
  AddProgramSet(app, options->programs);
  app.get_option("PROGRAM")->required(false);  // with --drawn there need be none
  std::vector<std::string> algorithms;
  for (const learn::LearnerInfo& info : learn::Learners()) algorithms.emplace_back(info.name);
  app.add_option("--algo", options->algorithm, "the algorithm")
      ->check(CLI::IsMember(algorithms))
      ->capture_default_str();
  app.add_option("--preset", options->preset,
                 "settings: paper (XLA Gym's), sb3 (stable-baselines3's), hone (ours)")
      ->check(CLI::IsMember({"hone", "paper", "sb3"}))
      ->capture_default_str();
  app.add_option("--set", options->set, "one setting, KEY=VALUE; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_option("--steps", options->steps,
                 "environment steps, over all environments; with 0 only what --imitate teaches")
      ->check(CLI::NonNegativeNumber.description(""))
      ->capture_default_str();
  AddDuration(app, "--time", options->seconds, "and no longer than this (no limit)");
  app.add_option("--seed", options->seed, "of the networks, the actions and the programs")
      ->capture_default_str();
  app.add_option("--features", options->features, "what the policy sees: hone, counts (XLA Gym's)")
      ->check(CLI::IsMember(policy::FeatureKinds()))
      ->capture_default_str();
  AddObjectiveOption(app, options->objective);
  app.add_option("--actions", options->actions,
                 "the passes to choose from: simplify, all, or names")
      ->capture_default_str();
  app.add_option("--reward", options->reward,
                 "headroom (the change over what XLA's own order gains), change (over the initial "
                 "value), level (XLA Gym's)")
      ->check(CLI::IsMember({"headroom", "change", "level"}))
      ->capture_default_str();
  app.add_option("--shaping", options->shaping, "weight of the potential of flops (XLA Gym's)")
      ->capture_default_str();
  app.add_option("--traj-limit", options->traj_limit, "steps of an episode")
      ->check(CLI::Range(1, 100'000).description(""))
      ->capture_default_str();
  app.add_option("--environments", options->environments, "at a time")
      ->check(CLI::Range(1, 4096).description(""))
      ->capture_default_str();
  app.add_option("--threads", options->threads, "of torch; with one, equal seeds give equal bits")
      ->check(CLI::Range(1, 256).description(""))
      ->capture_default_str();
  app.add_flag("--no-table", options->no_table, "every pass runs, known or not");
  app.add_flag("--act-only", options->act_only,
               "act at random and learn nothing: the environment's own speed");
  app.add_option("--log", options->log, "metrics (JSON lines, TensorBoard), curve and checkpoint")
      ->type_name("FOLDER");
  AddDuration(app, "--checkpoint", options->checkpoint_seconds, "how often it is written (120s)");
  app.add_option("--resume", options->resume, "go on from this checkpoint, with the same settings")
      ->type_name("FILE");
  app.add_option("--imitate", options->imitate,
                 "first imitate the best sequences in this file that `hone eval -o` wrote")
      ->type_name("RESULTS");
  app.add_option("--imitate-epochs", options->imitate_epochs, "passes through them")
      ->check(CLI::Range(1, 100'000).description(""))
      ->capture_default_str();
  app.add_option("-o,--out", options->output, "write the policy here")->type_name("OUT");
  AddDatasetsOption(app, options->common.datasets);
  AddCommonOptions(app, options->common);
  AddClusterOptions(app, options->common, options->cluster);
  AddLoopsTraining(app, options->loops);
  return [options] { return RunTrain(*options); };
}

}  // namespace hone::cli
