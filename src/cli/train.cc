// hone train: a policy learnt by acting on programs, or by scheduling loop nests. A part of
// hone-learn, which links torch.
#include "jobs/train.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/options.h"
#include "jobs/train_loops.h"
#include "learn/learner.h"
#include "policy/features.h"

namespace hone::cli {
namespace {

struct TrainFlags {
  CommonOptions common;
  jobs::TrainOptions job;
  bool act_only = false;
  bool on_loops = false;
  jobs::TrainLoopsOptions loops;  // what it shares with `job` is there
};

// `on`: what it was trained on.
std::string TrainedText(const jobs::TrainingOptions& options, const jobs::Trained& trained,
                        const std::string& on) {
  const std::string policy = options.output.empty() ? "" : "policy in " + options.output + "\n";
  if (trained.taken == 0) return fmt::format("no steps on {}\n{}", on, policy);
  return fmt::format("{} steps on {}, {:.0f} a second; mean return of the last tenth {:.4f}\n{}{}",
                     Grouped(trained.taken), on, trained.steps_per_second, trained.episode_return,
                     policy,
                     options.log.empty() ? "" : "log and checkpoint in " + options.log + "\n");
}

int RunTrainLoops(TrainFlags& flags) {
  jobs::TrainLoopsOptions& job = flags.loops;
  static_cast<jobs::TrainingOptions&>(job) = flags.job;
  job.tasks = flags.job.programs.files;
  job.sandbox = !flags.common.no_sandbox;
  CommandEvents events(flags.common);
  const auto trained = jobs::TrainLoops(job, events);
  if (!trained) return Fail(trained.error(), flags.common.json);
  const int code = events.CodeOr(kFine);
  if (flags.common.json) return Finish(ToJson(*trained, job), code);
  return Finish(TrainedText(job, *trained, fmt::format("{} tasks", trained->tasks)), code);
}

int RunTrain(const TrainFlags& flags) {
  const bool json = flags.common.json;
  if (flags.job.programs.files.empty()) {
    return Fail({ErrorCode::kInvalidInput, "PROGRAM is required; see `hone train --help`"}, json);
  }
  CommandEvents events(flags.common);
  if (flags.act_only) {
    const auto acted = jobs::ActAtRandom(flags.job, flags.common, events);
    if (!acted) return Fail(acted.error(), json);
    const int code = events.CodeOr(kFine);
    if (json) {
      return Finish(Json{{"steps", acted->steps}, {"steps_per_second", acted->steps_per_second}},
                    code);
    }
    return Finish(fmt::format("{} steps at random, {:.0f} a second\n", Grouped(acted->steps),
                              acted->steps_per_second),
                  code);
  }
  const auto result = jobs::Train(flags.job, flags.common, events);
  if (!result) return Fail(result.error(), json);
  const int code = events.CodeOr(kFine);
  if (json) return Finish(ToJson(*result, flags.job), code);
  std::string imitated;
  if (result->imitated > 0) {
    imitated = fmt::format("imitated {} actions: the likeliest in {:.0f} % of the states\n",
                           Grouped(result->imitated), 100 * result->imitation.agreement);
  }
  return Finish(
      imitated + TrainedText(flags.job, *result, fmt::format("{} programs", result->programs)),
      code);
}

// To an app that has all its other options: those that make no sense with --loops are refused then.
void AddLoopsOptions(CLI::App& app, TrainFlags& flags) {
  CLI::Option* const loops =
      app.add_flag("--loops", flags.on_loops,
                   "on schedules of loop nests: PROGRAM is a task of `hone loops list`, or a file");
  app.add_option("--drawn", flags.loops.drawn,
                 "of --loops: also this many tasks of common kinds, their sizes drawn by the seed")
      ->check(CLI::Range(0, 100'000).description(""))
      ->needs(loops);
  app.add_option("--measure", flags.loops.measure,
                 "of --loops: time (kernels run), estimate (a cost that needs no hone-loops)")
      ->check(CLI::IsMember({"time", "estimate"}))
      ->capture_default_str()
      ->needs(loops);
  app.add_option("--steps-a-nest", flags.loops.steps_a_nest,
                 "of --loops: decisions, on the average")
      ->check(CLI::Range(1, 100).description(""))
      ->capture_default_str()
      ->needs(loops);
  for (const char* name :
       {"--split", "--features", "--objective", "--actions", "--reward", "--shaping",
        "--traj-limit", "--no-table", "--act-only", "--imitate", "--imitate-epochs"}) {
    loops->excludes(app.get_option(name));
  }
}

}  // namespace

Run AddTrain(CLI::App& app) {
  auto flags = std::make_shared<TrainFlags>();
  AddProgramSet(app, flags->job.programs);
  app.get_option("PROGRAM")->required(false);  // with --drawn there need be none
  std::vector<std::string> algorithms;
  for (const learn::LearnerInfo& info : learn::Learners()) algorithms.emplace_back(info.name);
  app.add_option("--algo", flags->job.algorithm, "the algorithm")
      ->check(CLI::IsMember(algorithms))
      ->capture_default_str();
  app.add_option("--preset", flags->job.preset,
                 "settings: paper (XLA Gym's), sb3 (stable-baselines3's), hone (ours)")
      ->check(CLI::IsMember({"hone", "paper", "sb3"}))
      ->capture_default_str();
  app.add_option("--set", flags->job.settings, "one setting, KEY=VALUE; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_option("--steps", flags->job.steps,
                 "environment steps, over all environments; with 0 only what --imitate teaches")
      ->check(CLI::NonNegativeNumber.description(""))
      ->capture_default_str();
  AddDuration(app, "--time", flags->job.seconds, "and no longer than this (no limit)");
  app.add_option("--seed", flags->job.seed, "of the networks, the actions and the programs")
      ->capture_default_str();
  app.add_option("--features", flags->job.features,
                 "what the policy sees: hone, counts (XLA Gym's)")
      ->check(CLI::IsMember(policy::FeatureKinds()))
      ->capture_default_str();
  AddObjectiveOption(app, flags->job.objective);
  app.add_option("--actions", flags->job.actions,
                 "the passes to choose from: simplify, all, or names")
      ->capture_default_str();
  app.add_option("--reward", flags->job.reward,
                 "headroom (the change over what XLA's own order gains), change (over the initial "
                 "value), level (XLA Gym's)")
      ->check(CLI::IsMember({"headroom", "change", "level"}))
      ->capture_default_str();
  app.add_option("--shaping", flags->job.shaping, "weight of the potential of flops (XLA Gym's)")
      ->capture_default_str();
  app.add_option("--traj-limit", flags->job.traj_limit, "steps of an episode")
      ->check(CLI::Range(1, 100'000).description(""))
      ->capture_default_str();
  app.add_option("--environments", flags->job.environments, "at a time")
      ->check(CLI::Range(1, 4096).description(""))
      ->capture_default_str();
  app.add_option("--threads", flags->job.threads, "of torch; with one, equal seeds give equal bits")
      ->check(CLI::Range(1, 256).description(""))
      ->capture_default_str();
  AddNoFlag(app, "--no-table", flags->job.use_table, "every pass runs, known or not");
  app.add_flag("--act-only", flags->act_only,
               "act at random and learn nothing: the environment's own speed");
  app.add_option("--log", flags->job.log, "metrics (JSON lines, TensorBoard), curve and checkpoint")
      ->type_name("FOLDER");
  AddDuration(app, "--checkpoint", flags->job.checkpoint_seconds, "how often it is written (120s)");
  app.add_option("--resume", flags->job.resume,
                 "go on from this checkpoint, with the same settings")
      ->type_name("FILE");
  app.add_option("--imitate", flags->job.imitate,
                 "first imitate the best sequences in this file that `hone eval -o` wrote")
      ->type_name("RESULTS");
  app.add_option("--imitate-epochs", flags->job.imitation.epochs, "passes through them")
      ->check(CLI::Range(1, 100'000).description(""))
      ->capture_default_str();
  app.add_option("-o,--output,--out", flags->job.output, "write the policy here")->type_name("OUT");
  AddProgramOptions(app, flags->common);
  AddClusterOptions(app, flags->common, flags->job.cluster);
  AddLoopsOptions(app, *flags);
  return [flags] { return flags->on_loops ? RunTrainLoops(*flags) : RunTrain(*flags); };
}

}  // namespace hone::cli
