#include "jobs/train.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "jobs/evaluate.h"
#include "jobs/version.h"
#include "learn/learner.h"
#include "learn/metrics_log.h"
#include "learn/pass_order_task.h"
#include "policy/features.h"
#include "policy/policy_file.h"
#include "report/curve_svg.h"
#include "report/words.h"

namespace hone::jobs {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double SecondsSinceEpoch() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

double Since(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

// torch's threads and, behind its back, those of its BLAS.
void SetThreads(int threads) {
  at::set_num_threads(threads);
  using SetBlasThreads = void (*)(int);
  if (void* set = dlsym(RTLD_DEFAULT, "openblas_set_num_threads")) {
    reinterpret_cast<SetBlasThreads>(set)(threads);
  }
}

StatusOr<std::shared_ptr<Session>> OpenSession(TrainOptions& options, Events& events) {
  EnvOptions env;
  env.actions = options.actions;
  env.traj_limit = options.traj_limit;
  env.observation.opcodes = true;
  env.observation.cost = options.config.value_features;
  env.observation.graph = options.config.network == "graph";
  env.reward.objective = options.objective;
  env.reward.change = options.reward == "change" ? 1 : 0;
  env.reward.headroom = options.reward == "headroom" ? 1 : 0;
  env.reward.level = options.reward == "level" ? 1 : 0;
  env.reward.shaping = options.shaping;
  env.reward.discount = options.config.gamma;
  env.schedule = Schedule::kRandom;
  env.episode_mask = true;
  env.use_table = options.use_table;
  options.pool.stop = events.stop();
  return Session::Open(std::move(options.programs), env, options.pool);
}

learn::PassOrderTaskOptions TaskOptions(const TrainOptions& options) {
  learn::PassOrderTaskOptions task;
  task.environments = options.environments;
  task.features = options.features;
  task.value_features = options.config.value_features;
  task.graphs = options.config.network == "graph";
  return task;
}

StatusOr<std::unique_ptr<learn::Task>> MakeTask(const TrainOptions& options,
                                                const std::shared_ptr<Session>& session) {
  SetThreads(options.threads);
  return learn::MakePassOrderTask(session, TaskOptions(options));
}

// By their places in the session. A pass that it has no action for is left out.
std::vector<learn::ActionSequence> ActionSequences(const std::vector<SequenceToImitate>& named,
                                                   const Session& session) {
  std::map<std::string, size_t> programs;
  for (size_t i = 0; i < session.programs(); ++i) programs.emplace(session.name(i), i);
  std::map<std::string, int64_t> actions;
  for (size_t i = 0; i < session.actions().size(); ++i) {
    actions.emplace(session.pool().passes()[session.actions()[i]].name, static_cast<int64_t>(i));
  }
  std::vector<learn::ActionSequence> sequences;
  for (const SequenceToImitate& one : named) {
    const auto program = programs.find(one.program);
    if (program == programs.end()) continue;
    learn::ActionSequence sequence{program->second, {}};
    for (const std::string& pass : one.passes) {
      if (const auto action = actions.find(pass); action != actions.end()) {
        sequence.actions.push_back(action->second);
      }
    }
    sequences.push_back(std::move(sequence));
  }
  return sequences;
}

class Training {
 public:
  Training(const TrainOptions& options, Events& events, std::shared_ptr<Session> session,
           std::unique_ptr<learn::Learner> learner, Clock::time_point start)
      : options_(options),
        events_(events),
        session_(std::move(session)),
        learner_(std::move(learner)),
        start_(start) {}

  tl::expected<TrainResult, FileError> Run() {
    if (!options_.resume.empty()) {
      if (Status loaded = learner_->Load(options_.resume); !loaded) {
        return Failed(loaded, options_.resume);
      }
    } else if (!options_.imitate.empty()) {
      if (Status imitated = Imitate(); !imitated) return Failed(imitated, "");
    }
    if (Status opened = OpenLog(); !opened) return Failed(opened, options_.log);
    const ClearAtEnd clear(events_);
    const int64_t first = learner_->steps();
    Clock::time_point saved = Clock::now();
    while (!events_.stopped() && learner_->steps() < options_.config.total_steps &&
           Since(start_) < options_.seconds) {
      const StatusOr<learn::Report> report = learner_->Update();
      if (events_.stopped()) break;
      if (!report) return tl::unexpected(FileError{"", report.error()});
      const double rate = static_cast<double>(learner_->steps() - first) / Since(start_);
      Note(*report, rate);
      if (log_) {
        learn::Report all = *report;
        all["steps_per_second"] = rate;
        all["known_transitions"] = static_cast<double>(session_->transitions());
        if (Status wrote = log_->Write(learner_->steps(), all, SecondsSinceEpoch()); !wrote) {
          return Failed(wrote, options_.log);
        }
      }
      if (events_.Due()) {
        events_.Show(fmt::format("{}: {} of {} steps, {:.0f} a second; mean return {:.4f}",
                                 options_.algorithm, report::Grouped(learner_->steps()),
                                 report::Grouped(options_.config.total_steps), rate, LastReturn()));
      }
      if (Since(saved) > options_.checkpoint_seconds) {
        if (Status kept = Keep(); !kept) return Failed(kept, "");
        saved = Clock::now();
      }
    }
    events_.Clear();
    if (Status kept = Keep(); !kept) return Failed(kept, "");
    TrainResult result;
    result.steps = learner_->steps();
    result.taken = learner_->steps() - first;
    result.imitated = demonstrated_;
    result.imitation = imitated_;
    result.seconds = Since(start_);
    result.steps_per_second = rate_;
    result.episode_return = LastReturn();
    result.transitions = session_->transitions();
    result.programs = session_->programs();
    return result;
  }

 private:
  static tl::unexpected<FileError> Failed(const Status& status, const std::string& file) {
    return tl::unexpected(FileError{file, status.error()});
  }

  Status Imitate() {
    events_.Show("walking along what is imitated");
    const auto demonstrations =
        learn::Demonstrate(session_, TaskOptions(options_),
                           ActionSequences(options_.imitate, *session_), options_.config.gamma);
    if (!demonstrations) return tl::unexpected(demonstrations.error());
    demonstrated_ = demonstrations->size();
    events_.Show(fmt::format("imitating {} actions", report::Grouped(demonstrated_)));
    const auto imitated = learner_->Imitate(*demonstrations, options_.imitation);
    if (!imitated) return tl::unexpected(imitated.error());
    imitated_ = *imitated;
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

  // Writes the policy, the checkpoint and the curve, as of now.
  Status Keep() {
    if (!options_.output.empty()) {
      if (Status wrote = options_.write(options_.output, policy::WritePolicyFile(File())); !wrote) {
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
    return options_.write((folder / "curve.svg").string(), report::CurveSvg(plot));
  }

  // The policy with its card in the metadata.
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
    metadata["settings"] = learn::ToJson(options_.config);
    metadata["reward"] = fmt::format("{}, shaping {:g}", options_.reward, options_.shaping);
    metadata["objective"] = ObjectiveName(options_.objective);
    metadata["action_set"] = options_.actions;
    metadata["traj_limit"] = std::to_string(options_.traj_limit);
    metadata["programs"] = std::to_string(session_->programs());
    metadata["steps"] = std::to_string(learner_->steps());
    metadata["seed"] = std::to_string(options_.seed);
    if (demonstrated_ > 0) {
      metadata["imitated"] =
          fmt::format("{} actions, {} epochs", demonstrated_, options_.imitation.epochs);
    }
    return file;
  }

  const TrainOptions& options_;
  Events& events_;
  const std::shared_ptr<Session> session_;
  const std::unique_ptr<learn::Learner> learner_;
  std::optional<learn::MetricsLog> log_;
  const Clock::time_point start_;
  int64_t demonstrated_ = 0;
  learn::Imitated imitated_;
  report::CurveSeries curve_;
  double rate_ = 0;
};

}  // namespace

StatusOr<learn::Config> MakeConfig(const std::string& algorithm, const std::string& preset,
                                   int64_t seed, int64_t steps,
                                   const std::vector<std::string>& settings) {
  StatusOr<learn::Config> config = learn::Preset(algorithm, preset);
  if (!config) return config;
  config->seed = seed;
  config->total_steps = steps;
  for (const std::string& assignment : settings) {
    if (Status set = learn::SetField(*config, assignment); !set) return tl::unexpected(set.error());
  }
  if (Status valid = learn::Validate(*config); !valid) return tl::unexpected(valid.error());
  return config;
}

StatusOr<std::vector<SequenceToImitate>> BestSequences(const std::vector<report::Evaluation>& rows,
                                                       const std::vector<ProgramSource>& programs,
                                                       Objective objective,
                                                       const std::string& actions) {
  std::map<std::string, std::string> names;  // of results, to those of sources
  for (const ProgramSource& program : programs) {
    names.emplace(ProgramName(program.name), program.name);
  }
  std::map<std::string, double> best;
  for (const report::Evaluation& row : rows) {
    if (row.objective != ObjectiveName(objective) || row.actions != actions) {
      return MakeError(
          ErrorCode::kInvalidInput,
          fmt::format("a result is of objective {}, actions {}, and what is trained of "
                      "{}, {}",
                      row.objective, row.actions, ObjectiveName(objective), actions));
    }
    if (row.passes.empty()) continue;
    const auto [at, is_new] = best.emplace(row.program, row.value);
    if (!is_new) at->second = std::min(at->second, row.value);
  }
  std::set<std::pair<std::string, std::vector<std::string>>> seen;
  std::vector<SequenceToImitate> sequences;
  for (const report::Evaluation& row : rows) {
    const auto name = names.find(row.program);
    if (name == names.end() || row.passes.empty() || row.value > best.at(row.program)) continue;
    if (seen.emplace(row.program, row.passes).second) {
      sequences.push_back({name->second, row.passes});
    }
  }
  if (sequences.empty()) {
    return MakeError(ErrorCode::kInvalidInput,
                     "no result has passes for one of the programs; give what `hone eval -o` wrote "
                     "of these programs");
  }
  return sequences;
}

tl::expected<TrainResult, FileError> Train(TrainOptions options, Events& events) {
  const Clock::time_point start = Clock::now();
  auto session = OpenSession(options, events);
  if (!session) return tl::unexpected(FileError{"", session.error()});
  auto task = MakeTask(options, *session);
  if (!task) return tl::unexpected(FileError{"", task.error()});
  const learn::LearnerInfo* info = learn::FindLearner(options.algorithm);
  return Training(options, events, *session, info->make(*std::move(task), options.config), start)
      .Run();
}

StatusOr<ActResult> ActAtRandom(TrainOptions options, Events& events) {
  const ClearAtEnd clear(events);
  const Clock::time_point start = Clock::now();
  auto session = OpenSession(options, events);
  if (!session) return tl::unexpected(session.error());
  auto task = MakeTask(options, *session);
  if (!task) return tl::unexpected(task.error());
  const auto seed = static_cast<uint64_t>(options.seed);
  StatusOr<learn::Observation> seen = (*task)->Reset(seed);
  if (!seen) return tl::unexpected(seen.error());
  torch::manual_seed(seed);
  int64_t steps = 0;
  while (!events.stopped() && steps < options.config.total_steps &&
         Since(start) < options.seconds) {
    const torch::Tensor actions = torch::multinomial(seen->mask.to(torch::kFloat), 1).squeeze(1);
    StatusOr<learn::Transition> went = (*task)->Step(actions);
    if (!went) return tl::unexpected(went.error());
    *seen = std::move(went->next);
    steps += options.environments;
    events.Show(fmt::format("acting at random: {} steps", report::Grouped(steps)));
  }
  return ActResult{steps, static_cast<double>(steps) / Since(start)};
}

}  // namespace hone::jobs
