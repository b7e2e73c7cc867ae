// hone train: a policy learnt by acting on programs. A part of hone-learn, which links torch.
#include <dlfcn.h>
#include <fmt/format.h>
#include <torch/torch.h>

#include <CLI/App.hpp>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/cluster.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/parse.h"
#include "cli/program_set.h"
#include "cli/progress.h"
#include "env/session.h"
#include "learn/config.h"
#include "learn/learner.h"
#include "learn/metrics_log.h"
#include "learn/pass_order_task.h"
#include "policy/features.h"
#include "policy/policy_file.h"
#include "report/curve_svg.h"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Options {
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
  std::string output;
};

double SecondsSinceEpoch() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// torch's threads and, behind its back, those of its BLAS.
void SetThreads(int threads) {
  at::set_num_threads(threads);
  using SetBlasThreads = void (*)(int);
  if (void* set = dlsym(RTLD_DEFAULT, "openblas_set_num_threads")) {
    reinterpret_cast<SetBlasThreads>(set)(threads);
  }
}

class Training {
 public:
  explicit Training(Options& options) : options_(options) {}

  int Run() {
    if (Status set = MakeConfig(); !set) return Fail(set.error(), options_.common.json);
    if (Status opened = OpenSession(); !opened) return Fail(opened.error(), options_.common.json);
    SetThreads(options_.threads);
    learn::PassOrderTaskOptions task_options;
    task_options.environments = options_.environments;
    task_options.features = options_.features;
    task_options.value_features = config_.value_features;
    task_options.graphs = config_.network == "graph";
    auto task = learn::MakePassOrderTask(session_, task_options);
    if (!task) return Fail(task.error(), options_.common.json);
    if (options_.act_only) return ActOnly(**task);
    const learn::LearnerInfo* info = learn::FindLearner(options_.algorithm);
    learner_ = info->make(*std::move(task), config_);
    if (!options_.resume.empty()) {
      if (Status loaded = learner_->Load(options_.resume); !loaded) {
        return Fail(loaded.error(), options_.resume, options_.common.json);
      }
    }
    if (Status opened = OpenLog(); !opened) {
      return Fail(opened.error(), options_.log, options_.common.json);
    }
    return Train();
  }

 private:
  Status MakeConfig() {
    StatusOr<learn::Config> config = learn::Preset(options_.algorithm, options_.preset);
    if (!config) return tl::unexpected(config.error());
    config_ = *std::move(config);
    config_.seed = options_.seed;
    config_.total_steps = options_.steps;
    for (const std::string& assignment : options_.set) {
      if (Status set = learn::SetField(config_, assignment); !set) return set;
    }
    options_.steps = config_.total_steps;
    return learn::Validate(config_);
  }

  Status OpenSession() {
    const auto chosen = ChooseInputs(options_.programs, options_.common.datasets);
    if (!chosen) return tl::unexpected(chosen.error().error);
    if (!options_.output.empty()) {
      if (Status fine = CheckWritable(options_.output); !fine) return fine;
    }
    std::vector<ProgramSource> programs;
    for (const std::string& file : *chosen) {
      StatusOr<std::string> bytes = ReadInput(file, options_.common.MostInputBytes());
      if (!bytes) {
        bytes.error().message = file + ": " + bytes.error().message;
        return tl::unexpected(bytes.error());
      }
      programs.push_back({file, *std::move(bytes)});
    }
    EnvOptions env;
    env.actions = options_.actions;
    env.traj_limit = options_.traj_limit;
    env.observation.opcodes = true;
    env.observation.cost = config_.value_features;
    env.observation.graph = config_.network == "graph";
    env.reward.objective = *ObjectiveFromName(options_.objective);
    env.reward.change = options_.reward == "change" ? 1 : 0;
    env.reward.headroom = options_.reward == "headroom" ? 1 : 0;
    env.reward.level = options_.reward == "level" ? 1 : 0;
    env.reward.shaping = options_.shaping;
    env.reward.discount = config_.gamma;
    env.schedule = Schedule::kRandom;
    env.episode_mask = true;
    env.use_table = !options_.no_table;
    stop_ = StopOnInterrupt();
    auto cluster = Cluster::Connect(options_.cluster, options_.common);
    if (!cluster) return tl::unexpected(cluster.error());
    cluster_ = *std::move(cluster);
    StatusOr<PoolOptions> pool = PoolOptionsFor(options_.common);
    if (!pool) return tl::unexpected(pool.error());
    pool->stop = stop_;
    if (cluster_ != nullptr) cluster_->Lend(*pool);
    auto session = Session::Open(std::move(programs), env, *pool);
    if (!session) return tl::unexpected(session.error());
    session_ = *std::move(session);
    return {};
  }

  Status OpenLog() {
    if (options_.log.empty()) return {};
    std::error_code error;
    fs::create_directories(options_.log, error);
    auto log = learn::MetricsLog::Open(options_.log, learner_->steps(), SecondsSinceEpoch());
    if (!log) return tl::unexpected(log.error());
    log_.emplace(*std::move(log));
    return {};
  }

  int Train() {
    Progress progress(options_.common.ShowProgress());
    const int64_t first = learner_->steps();
    Clock::time_point saved = Clock::now();
    while (!*stop_ && learner_->steps() < options_.steps && Since(start_) < options_.seconds) {
      const StatusOr<learn::Report> report = learner_->Update();
      if (*stop_) break;
      if (!report) return Fail(report.error(), options_.common.json);
      const double rate = static_cast<double>(learner_->steps() - first) / Since(start_);
      Note(*report, rate);
      if (log_) {
        learn::Report all = *report;
        all["steps_per_second"] = rate;
        all["known_transitions"] = static_cast<double>(session_->transitions());
        if (Status wrote = log_->Write(learner_->steps(), all, SecondsSinceEpoch()); !wrote) {
          return Fail(wrote.error(), options_.log, options_.common.json);
        }
      }
      if (progress.Due()) {
        progress.Show(fmt::format("{}: {} of {} steps, {:.0f} a second; mean return {:.4f}",
                                  options_.algorithm, Grouped(learner_->steps()),
                                  Grouped(options_.steps), rate, LastReturn()));
      }
      if (Since(saved) > options_.checkpoint_seconds) {
        if (Status kept = Keep(); !kept) return Fail(kept.error(), options_.common.json);
        saved = Clock::now();
      }
    }
    progress.Clear();
    if (Status kept = Keep(); !kept) return Fail(kept.error(), options_.common.json);
    return Conclude(first);
  }

  static double Since(Clock::time_point then) {
    return std::chrono::duration<double>(Clock::now() - then).count();
  }

  void Note(const learn::Report& report, double rate) {
    const auto found = report.find("episode_return");
    rate_ = rate;
    if (found == report.end()) return;
    curve_.x.push_back(static_cast<double>(learner_->steps()));
    curve_.y.push_back(found->second);
  }

  // Of the last tenth of the updates: one update's episodes are few.
  double LastReturn() const {
    if (curve_.y.empty()) return std::nan("");
    const size_t count = std::max<size_t>(1, curve_.y.size() / 10);
    double sum = 0;
    for (size_t i = curve_.y.size() - count; i < curve_.y.size(); ++i) sum += curve_.y[i];
    return sum / static_cast<double>(count);
  }

  // The policy, the checkpoint and the curve, as of now.
  Status Keep() {
    if (!options_.output.empty()) {
      if (Status wrote = WriteFile(options_.output, policy::WritePolicyFile(File())); !wrote) {
        return wrote;
      }
    }
    if (options_.log.empty()) return {};
    const fs::path folder(options_.log);
    if (Status saved = learner_->Save((folder / "checkpoint.pt").string()); !saved) return saved;
    report::CurvePlot plot;
    plot.title =
        fmt::format("{} ({}), seed {}", options_.algorithm, options_.preset, options_.seed);
    plot.x_label = "steps";
    plot.y_label = "episode return";
    plot.series.push_back(curve_);
    plot.series.back().name = options_.algorithm;
    return WriteFile((folder / "curve.svg").string(), report::CurveSvg(plot));
  }

  // With its card in the metadata.
  policy::PolicyFile File() const {
    policy::PolicyFile file = learner_->Export();
    // A value network tells of rewards; what a searcher wants of it is another scale.
    std::erase_if(file.tensors,
                  [](const auto& tensor) { return tensor.first.starts_with("value."); });
    const Pool& pool = session_->pool();
    std::vector<std::string> actions;
    for (PassId action : session_->actions()) actions.push_back(pool.passes()[action].name);
    auto& metadata = file.metadata;
    metadata[policy::kMetadataFormat] = policy::kPolicyFormat;
    metadata[policy::kMetadataFeatures] = options_.features;
    metadata[policy::kMetadataOpcodes] = fmt::format("{}", fmt::join(pool.opcodes(), ","));
    metadata[policy::kMetadataActions] = fmt::format("{}", fmt::join(actions, ","));
    metadata["hone"] = HoneVersion();
    metadata["xla"] = pool.version();
    metadata["algorithm"] = options_.algorithm;
    metadata["settings"] = learn::ToJson(config_);
    metadata["reward"] = fmt::format("{}, shaping {:g}", options_.reward, options_.shaping);
    metadata["objective"] = options_.objective;
    metadata["action_set"] = options_.actions;
    metadata["traj_limit"] = std::to_string(options_.traj_limit);
    metadata["programs"] = std::to_string(session_->programs());
    metadata["steps"] = std::to_string(learner_->steps());
    metadata["seed"] = std::to_string(options_.seed);
    return file;
  }

  int Conclude(int64_t first) const {
    const int code = *stop_ ? kInterrupted : kFine;
    if (options_.common.json) {
      Json json;
      json["algorithm"] = options_.algorithm;
      json["steps"] = learner_->steps();
      json["seconds"] = Since(start_);
      json["steps_per_second"] = rate_;
      json["episode_return"] = std::isnan(LastReturn()) ? Json(nullptr) : Json(LastReturn());
      json["transitions"] = session_->transitions();
      json["settings"] = Json::parse(learn::ToJson(config_));
      if (!options_.output.empty()) json["output"] = options_.output;
      if (!options_.log.empty()) json["log"] = options_.log;
      return Finish(json, code);
    }
    return Finish(
        fmt::format("{} steps on {} programs, {:.0f} a second; mean return of the last "
                    "tenth {:.4f}\n{}{}",
                    Grouped(learner_->steps() - first), session_->programs(), rate_, LastReturn(),
                    options_.output.empty() ? "" : "policy in " + options_.output + "\n",
                    options_.log.empty() ? "" : "log and checkpoint in " + options_.log + "\n"),
        code);
  }

  // The environment's own speed: uniformly random actions, nothing learnt.
  int ActOnly(learn::Task& task) {
    Progress progress(options_.common.ShowProgress());
    StatusOr<learn::Observation> seen = task.Reset(static_cast<uint64_t>(options_.seed));
    if (!seen) return Fail(seen.error(), options_.common.json);
    torch::manual_seed(static_cast<uint64_t>(options_.seed));
    int64_t steps = 0;
    while (!*stop_ && steps < options_.steps && Since(start_) < options_.seconds) {
      const torch::Tensor actions = torch::multinomial(seen->mask.to(torch::kFloat), 1).squeeze(1);
      StatusOr<learn::Transition> went = task.Step(actions);
      if (!went) return Fail(went.error(), options_.common.json);
      *seen = std::move(went->next);
      steps += options_.environments;
      progress.Show(fmt::format("acting at random: {} steps", Grouped(steps)));
    }
    const double rate = static_cast<double>(steps) / Since(start_);
    const int code = *stop_ ? kInterrupted : kFine;
    if (options_.common.json)
      return Finish(Json{{"steps", steps}, {"steps_per_second", rate}}, code);
    return Finish(fmt::format("{} steps at random, {:.0f} a second\n", Grouped(steps), rate), code);
  }

  Options& options_;
  learn::Config config_;
  std::shared_ptr<Cluster> cluster_;  // null where workers run here; outlives the session's
  std::shared_ptr<Session> session_;
  std::unique_ptr<learn::Learner> learner_;
  std::optional<learn::MetricsLog> log_;
  const std::atomic<bool>* stop_ = nullptr;
  const Clock::time_point start_ = Clock::now();
  report::CurveSeries curve_;
  double rate_ = 0;
};

}  // namespace

Run AddTrain(CLI::App& app) {
  auto options = std::make_shared<Options>();
  AddProgramSet(app, options->programs);
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
  app.add_option("--steps", options->steps, "environment steps, over all environments")
      ->check(CLI::PositiveNumber.description(""))
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
  app.add_option("-o,--out", options->output, "write the policy here")->type_name("OUT");
  AddDatasetsOption(app, options->common.datasets);
  AddCommonOptions(app, options->common);
  AddClusterOptions(app, options->common, options->cluster);
  return [options] { return Training(*options).Run(); };
}

}  // namespace hone::cli
