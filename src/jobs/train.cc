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

#include "jobs/evaluate.h"
#include "learn/learner.h"
#include "learn/pass_order_task.h"
#include "policy/features.h"
#include "policy/policy_file.h"
#include "report/words.h"

namespace hone::jobs {
namespace {

using Clock = std::chrono::steady_clock;

double Since(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

StatusOr<std::shared_ptr<Session>> OpenSession(TrainOptions& options, Events& events) {
  if (options.config.network == "offers") {
    return MakeError(ErrorCode::kInvalidInput,
                     "the network offers is for --loops; take mlp or graph");
  }
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
  metadata["objective"] = ObjectiveName(options.objective);
  metadata["action_set"] = options.actions;
  metadata["traj_limit"] = std::to_string(options.traj_limit);
  metadata["programs"] = std::to_string(session.programs());
  if (imitated > 0) {
    metadata["imitated"] = fmt::format("{} actions, {} epochs", imitated, options.imitation.epochs);
  }
}

// Into `result`.
Status Imitate(const TrainOptions& options, const std::shared_ptr<Session>& session,
               learn::Learner& learner, Events& events, TrainResult& result) {
  events.Show("walking along what is imitated");
  const auto demonstrations =
      learn::Demonstrate(session, TaskOptions(options), ActionSequences(options.imitate, *session),
                         options.config.gamma);
  if (!demonstrations) return tl::unexpected(demonstrations.error());
  result.imitated = demonstrations->size();
  events.Show(fmt::format("imitating {} actions", report::Grouped(result.imitated)));
  const auto imitated = learner.Imitate(*demonstrations, options.imitation);
  if (!imitated) return tl::unexpected(imitated.error());
  result.imitation = *imitated;
  return {};
}

}  // namespace

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
  const auto learner =
      learn::FindLearner(options.algorithm)->make(*std::move(task), options.config);
  TrainResult result;
  TrainingHooks hooks;
  if (!options.imitate.empty()) {
    hooks.begin = [&](learn::Learner& begun) {
      return Imitate(options, *session, begun, events, result);
    };
  }
  hooks.add_metrics = [&](learn::Report& report) {
    report["known_transitions"] = static_cast<double>((*session)->transitions());
  };
  hooks.write_card = [&](policy::PolicyFile& file) {
    WriteCard(options, **session, result.imitated, file);
  };
  const auto trained = RunTraining(options, hooks, events, *learner, start);
  if (!trained) return tl::unexpected(trained.error());
  static_cast<Trained&>(result) = *trained;
  result.transitions = (*session)->transitions();
  result.programs = (*session)->programs();
  return result;
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
