#include "jobs/train.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "env/session.h"
#include "jobs/evaluate.h"
#include "learn/learner.h"
#include "learn/pass_order_task.h"
#include "policy/features.h"
#include "policy/policy_file.h"
#include "report/evaluation.h"
#include "report/words.h"

namespace hone::jobs {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostResultBytes = size_t{1} << 30;

double Since(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

struct SequenceToImitate {
  std::string program;  // a source's name
  std::vector<std::string> passes;
};

// What a training needs, read and started.
struct Training {
  learn::Config config;
  std::vector<ProgramSource> programs;
  std::vector<SequenceToImitate> imitate;
  std::shared_ptr<Cluster> cluster;  // outlives the session; null where workers run here
  Clock::time_point start;           // when the session was begun with
  std::shared_ptr<Session> session;
};

// The sequences that did best on each of the programs, from rows of `hone eval -o`: of a program's
// rows with passes those of the lowest result, each sequence once. Rows of other programs are left
// out. Errors: no row is left; rows of another objective or action set.
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

StatusOr<std::vector<SequenceToImitate>> ReadSequences(const TrainOptions& options,
                                                       const std::vector<ProgramSource>& programs) {
  const StatusOr<std::string> text = ReadInput(options.imitate, kMostResultBytes);
  if (!text) return tl::unexpected(text.error());
  const auto rows = report::EvaluationsFromJsonLines(*text);
  if (!rows) return tl::unexpected(rows.error());
  return BestSequences(*rows, programs, *ObjectiveFromName(options.objective), options.actions);
}

// All but the session.
StatusOr<Training> Prepare(const TrainOptions& options, const WorkerOptions& workers) {
  auto config = MakeConfig(options);
  if (!config) return tl::unexpected(config.error());
  Training training;
  training.config = *std::move(config);
  const auto chosen = ChooseInputs(options.programs, workers.datasets);
  if (!chosen) return tl::unexpected(chosen.error().error);
  for (const std::string& file : *chosen) {
    StatusOr<std::string> bytes = ReadInput(file, workers.MostInputBytes());
    if (!bytes) return tl::unexpected(InOne({file, bytes.error()}));
    training.programs.push_back({file, *std::move(bytes)});
  }
  if (options.imitate.empty()) return training;
  auto sequences = ReadSequences(options, training.programs);
  if (!sequences) return tl::unexpected(InOne({options.imitate, sequences.error()}));
  training.imitate = *std::move(sequences);
  return training;
}

Status OpenSession(const TrainOptions& options, const WorkerOptions& workers, Events& events,
                   Training& training) {
  auto cluster = Cluster::Connect(options.cluster, workers);
  if (!cluster) return tl::unexpected(cluster.error());
  training.cluster = *std::move(cluster);
  StatusOr<PoolOptions> pool = PoolOptionsFor(workers, events);
  if (!pool) return tl::unexpected(pool.error());
  if (training.cluster != nullptr) training.cluster->Lend(*pool);
  pool->stop = events.stop();
  training.start = Clock::now();
  if (training.config.network == "offers") {
    return MakeError(ErrorCode::kInvalidInput,
                     "the network offers is for --loops; take mlp or graph");
  }
  EnvOptions env;
  env.actions = options.actions;
  env.traj_limit = options.traj_limit;
  env.observation.opcodes = true;
  env.observation.cost = training.config.value_features;
  env.observation.graph = training.config.network == "graph";
  env.reward.objective = *ObjectiveFromName(options.objective);
  env.reward.change = options.reward == "change" ? 1 : 0;
  env.reward.headroom = options.reward == "headroom" ? 1 : 0;
  env.reward.level = options.reward == "level" ? 1 : 0;
  env.reward.shaping = options.shaping;
  env.reward.discount = training.config.gamma;
  env.schedule = Schedule::kRandom;
  env.episode_mask = true;
  env.use_table = options.use_table;
  auto session = Session::Open(std::move(training.programs), env, *pool);
  if (!session) return tl::unexpected(session.error());
  training.session = *std::move(session);
  return {};
}

FileOr<Training> Begin(const TrainOptions& options, const WorkerOptions& workers, Events& events) {
  StatusOr<Training> training = Prepare(options, workers);
  if (!training) return Wrong("", training.error());
  events.HoldInterrupts();
  if (Status opened = OpenSession(options, workers, events, *training); !opened) {
    return Wrong("", opened.error());
  }
  return *std::move(training);
}

learn::PassOrderTaskOptions TaskOptions(const TrainOptions& options, const learn::Config& config) {
  learn::PassOrderTaskOptions task;
  task.environments = options.environments;
  task.features = options.features;
  task.value_features = config.value_features;
  task.graphs = config.network == "graph";
  return task;
}

StatusOr<std::unique_ptr<learn::Task>> MakeTask(const TrainOptions& options,
                                                const Training& training) {
  SetThreads(options.threads);
  return learn::MakePassOrderTask(training.session, TaskOptions(options, training.config));
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

// The vocabulary that the policy was trained with, and what it was trained on.
void WriteCard(const TrainOptions& options, const Session& session, int64_t imitated,
               policy::PolicyFile& file) {
  const Pool& pool = session.pool();
  std::vector<std::string> actions;
  for (PassId action : session.actions()) actions.push_back(pool.passes()[action].name);
  auto& metadata = file.metadata;
  metadata[policy::kMetadataFormat] = policy::kPolicyFormat;
  metadata[policy::kMetadataFeatures] = options.features;
  metadata[policy::kMetadataOpcodes] = fmt::format("{}", fmt::join(pool.opcodes(), ","));
  metadata[policy::kMetadataActions] = fmt::format("{}", fmt::join(actions, ","));
  metadata["xla"] = pool.version();
  metadata["reward"] = fmt::format("{}, shaping {:g}", options.reward, options.shaping);
  metadata["objective"] = options.objective;
  metadata["action_set"] = options.actions;
  metadata["traj_limit"] = std::to_string(options.traj_limit);
  metadata["programs"] = std::to_string(session.programs());
  if (imitated > 0) {
    metadata["imitated"] = fmt::format("{} actions, {} epochs", imitated, options.imitation.epochs);
  }
}

// Into `result`.
Status Imitate(const TrainOptions& options, const Training& training, learn::Learner& learner,
               Events& events, TrainResult& result) {
  events.Show("walking along what is imitated");
  const auto demonstrations = learn::Demonstrate(
      training.session, TaskOptions(options, training.config),
      ActionSequences(training.imitate, *training.session), training.config.gamma);
  if (!demonstrations) return tl::unexpected(demonstrations.error());
  result.imitated = demonstrations->size();
  events.Show(fmt::format("imitating {} actions", report::Grouped(result.imitated)));
  learn::ImitationOptions imitation = options.imitation;
  imitation.stopped = [&] { return events.stopped() || Since(training.start) >= options.seconds; };
  const auto imitated = learner.Imitate(*demonstrations, imitation);
  if (!imitated) return tl::unexpected(imitated.error());
  result.imitation = *imitated;
  return {};
}

}  // namespace

FileOr<TrainResult> Train(const TrainOptions& options, const WorkerOptions& workers,
                          Events& events) {
  FileOr<Training> training = Begin(options, workers, events);
  if (!training) return tl::unexpected(training.error());
  Session& session = *training->session;
  auto task = MakeTask(options, *training);
  if (!task) return Wrong("", task.error());
  const auto learner =
      learn::FindLearner(options.algorithm)->make(*std::move(task), training->config);
  TrainResult result;
  TrainingHooks hooks;
  if (!training->imitate.empty()) {
    hooks.begin = [&](learn::Learner& begun) {
      return Imitate(options, *training, begun, events, result);
    };
  }
  hooks.add_metrics = [&](learn::Report& report) {
    report["known_transitions"] = static_cast<double>(session.transitions());
  };
  hooks.write_card = [&](policy::PolicyFile& file) {
    WriteCard(options, session, result.imitated, file);
  };
  const auto trained =
      RunTraining(options, training->config, hooks, events, *learner, training->start);
  if (!trained) return tl::unexpected(trained.error());
  static_cast<Trained&>(result) = *trained;
  result.transitions = session.transitions();
  result.programs = session.programs();
  return result;
}

Json ToJson(const TrainResult& result, const TrainOptions& options) {
  Json json = ToJson(static_cast<const Trained&>(result), options);
  if (result.imitated > 0) {
    json["imitation"] = {{"actions", result.imitated},
                         {"policy_loss", result.imitation.policy_loss},
                         {"value_loss", result.imitation.value_loss},
                         {"agreement", result.imitation.agreement}};
  }
  json["transitions"] = result.transitions;
  return json;
}

FileOr<ActResult> ActAtRandom(const TrainOptions& options, const WorkerOptions& workers,
                              Events& events) {
  const ClearAtEnd clear(events);
  const FileOr<Training> training = Begin(options, workers, events);
  if (!training) return tl::unexpected(training.error());
  auto task = MakeTask(options, *training);
  if (!task) return Wrong("", task.error());
  const auto seed = static_cast<uint64_t>(options.seed);
  StatusOr<learn::Observation> seen = (*task)->Reset(seed);
  if (!seen) return Wrong("", seen.error());
  torch::manual_seed(seed);
  int64_t steps = 0;
  while (!events.stopped() && steps < options.steps && Since(training->start) < options.seconds) {
    const torch::Tensor actions = torch::multinomial(seen->mask.to(torch::kFloat), 1).squeeze(1);
    StatusOr<learn::Transition> went = (*task)->Step(actions);
    if (!went) return Wrong("", went.error());
    *seen = std::move(went->next);
    steps += options.environments;
    events.Show(fmt::format("acting at random: {} steps", report::Grouped(steps)));
  }
  return ActResult{steps, static_cast<double>(steps) / Since(training->start)};
}

}  // namespace hone::jobs
