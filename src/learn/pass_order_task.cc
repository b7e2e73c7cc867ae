#include "learn/pass_order_task.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "learn/observation.h"

namespace hone::learn {
namespace {

using Json = nlohmann::json;

// Logarithms, for the features run over many orders of magnitude.
void WriteValueFeatures(const View& view, float* out) {
  double cost[kCostFeatureCount];
  WriteCost(view, cost);
  for (const double feature : cost) {
    *out++ = static_cast<float>(std::log1p(std::max(0.0, feature)) / 20);
  }
}

// One state at a time into the rows of an observation.
class Eye {
 public:
  Eye(const policy::Features& features, const PassOrderTaskOptions& options)
      : features_(features), options_(options) {}

  Observation Room(int64_t rows, int64_t actions) const {
    Observation observation;
    observation.features = torch::empty({rows, features_.size()});
    observation.value_features = torch::zeros({rows, ValueWidth()});
    observation.mask = torch::ones({rows, actions}, torch::kBool);
    return observation;
  }

  // All but the mask. Graphs are appended, so rows are to be written in order.
  void Write(const View& view, int64_t row, Observation& to) {
    const int64_t width = features_.size();
    changes_.clear();
    for (const Link& link : view.state.links) changes_.push_back(link.pass);
    features_.Write(view.opcodes, view.initial_op_count, changes_,
                    {to.features.data_ptr<float>() + row * width, static_cast<size_t>(width)});
    if (ValueWidth() > 0) {
      WriteValueFeatures(view, to.value_features.data_ptr<float>() + row * ValueWidth());
    }
    if (options_.graphs) to.graphs.push_back(view.arrays);
  }

  static void WriteMask(const std::vector<bool>& allowed, int64_t row, Observation& to) {
    bool* mask = to.mask.data_ptr<bool>() + row * to.mask.size(1);
    for (const bool one : allowed) *mask++ = one;
  }

 private:
  int64_t ValueWidth() const { return options_.value_features ? kCostFeatureCount : 0; }

  const policy::Features& features_;
  const PassOrderTaskOptions& options_;
  std::vector<PassId> changes_;
};

class PassOrderTask final : public Task {
 public:
  PassOrderTask(std::shared_ptr<Session> session, policy::Features features,
                const PassOrderTaskOptions& options)
      : session_(std::move(session)),
        features_(std::move(features)),
        options_(options),
        env_(session_, static_cast<size_t>(options.environments), Autoreset::kSameStep) {}

  TaskShape shape() const override {
    TaskShape shape;
    shape.environments = options_.environments;
    shape.features = features_.size();
    shape.value_features = options_.value_features ? kCostFeatureCount : 0;
    shape.actions = session_->action_count();
    shape.graphs = options_.graphs;
    return shape;
  }

  StatusOr<Observation> Reset(uint64_t seed) override {
    std::vector<std::optional<uint64_t>> seeds;
    Rng rng(seed);
    for (size_t i = 0; i < env_.size(); ++i) seeds.emplace_back(rng.Next());
    if (Status reset = env_.Reset(seeds); !reset) return tl::unexpected(reset.error());
    return Look();
  }

  StatusOr<Transition> Step(const torch::Tensor& actions) override {
    const torch::Tensor flat = actions.contiguous();
    const std::vector<int64_t> chosen(flat.data_ptr<int64_t>(),
                                      flat.data_ptr<int64_t>() + flat.numel());
    if (Status stepped = env_.Step(chosen); !stepped) return tl::unexpected(stepped.error());
    const auto n = static_cast<int64_t>(env_.size());
    Transition transition;
    transition.reward = torch::empty({n});
    transition.terminated = torch::empty({n}, torch::kBool);
    transition.truncated = torch::empty({n}, torch::kBool);
    transition.next = Look();
    transition.last = transition.next;
    std::vector<const View*> last;
    bool any = false;
    for (int64_t i = 0; i < n; ++i) {
      const VectorEnv::Slot& slot = env_.slot(static_cast<size_t>(i));
      const Outcome& outcome = slot.has_final ? slot.final_outcome : slot.outcome;
      transition.reward.data_ptr<float>()[i] = static_cast<float>(outcome.reward);
      transition.terminated.data_ptr<bool>()[i] = outcome.terminated;
      transition.truncated.data_ptr<bool>()[i] = outcome.truncated;
      last.push_back(slot.has_final ? &slot.final_view : &slot.env.view());
      any |= slot.has_final;
    }
    if (any) transition.last = Look(last, /*masked=*/false);
    return transition;
  }

  // The schedule before the episode and the episode's actions: a restored environment is reset to
  // the same program and takes them again.
  std::string Save() const override {
    Json saved = Json::array();
    for (size_t i = 0; i < env_.size(); ++i) {
      const PassOrderEnv& env = env_.slot(i).env;
      const auto [random, episodes] = env.schedule_state();
      saved.push_back({{"random", random},
                       {"episodes", episodes},
                       {"program", session_->name(env.view().program)},
                       {"actions", env.view().actions}});
    }
    return saved.dump();
  }

  StatusOr<Observation> Restore(const std::string& saved) override {
    const Json all = Json::parse(saved, nullptr, /*allow_exceptions=*/false);
    if (!all.is_array() || all.size() != env_.size()) {
      return MakeError(ErrorCode::kInvalidInput,
                       "the checkpoint is of another number of environments");
    }
    for (size_t i = 0; i < env_.size(); ++i) {
      if (Status restored = RestoreOne(env_.env(i), all[i]); !restored) {
        return tl::unexpected(restored.error());
      }
    }
    return Look();
  }

 private:
  Status RestoreOne(PassOrderEnv& env, const Json& saved) {
    const auto bad = [](const std::string& why) {
      return MakeError(ErrorCode::kInvalidInput, "the checkpoint's environments: " + why);
    };
    if (!saved.is_object() || !saved.contains("random") || !saved.contains("episodes") ||
        !saved.contains("program") || !saved.contains("actions")) {
      return bad("a field is missing");
    }
    std::optional<size_t> program;
    for (size_t i = 0; i < session_->programs(); ++i) {
      if (session_->name(i) == saved["program"]) program = i;
    }
    if (!program) return bad("there is no program " + saved["program"].dump());
    if (Status reset = env.Reset({}, program); !reset) return reset;
    for (const Json& action : saved["actions"]) {
      if (!action.is_number_integer()) return bad("an action is no number");
      const StatusOr<Outcome> outcome = env.Step(action.get<int64_t>());
      if (!outcome) return tl::unexpected(outcome.error());
    }
    env.set_schedule_state(saved["random"].get<uint64_t>(), saved["episodes"].get<int64_t>());
    return {};
  }

  Observation Look() const {
    std::vector<const View*> views;
    for (size_t i = 0; i < env_.size(); ++i) views.push_back(&env_.slot(i).env.view());
    return Look(views, /*masked=*/true);
  }

  Observation Look(const std::vector<const View*>& views, bool masked) const {
    const auto n = static_cast<int64_t>(views.size());
    Eye eye(features_, options_);
    Observation observation = eye.Room(n, session_->action_count());
    for (int64_t i = 0; i < n; ++i) {
      eye.Write(*views[static_cast<size_t>(i)], i, observation);
      if (masked) {
        Eye::WriteMask(env_.slot(static_cast<size_t>(i)).env.ActionMask(), i, observation);
      }
    }
    return observation;
  }

  const std::shared_ptr<Session> session_;
  const policy::Features features_;
  const PassOrderTaskOptions options_;
  VectorEnv env_;
};

StatusOr<policy::Features> FeaturesFor(const Session& session,
                                       const PassOrderTaskOptions& options) {
  const EnvOptions& env = session.options();
  if (!env.observation.opcodes || !env.episode_mask ||
      (options.value_features && !env.observation.cost) ||
      (options.graphs && !env.observation.graph)) {
    return MakeError(
        ErrorCode::kInvalidInput,
        "the session does not show what the task needs: opcodes, masks of the episode, "
        "cost for value features, graphs");
  }
  const Pool& pool = session.pool();
  std::vector<std::string> actions;
  for (PassId action : session.actions()) actions.push_back(pool.passes()[action].name);
  return policy::Features::Make(options.features, pool.opcodes(), actions, pool.opcodes(),
                                pool.passes());
}

// What was seen before each action that changed something, and what it paid.
struct Walk {
  Observation states;
  std::vector<int64_t> actions;
  std::vector<float> returns;
};

StatusOr<Walk> WalkAlong(PassOrderEnv& env, const ActionSequence& sequence, Eye eye,
                         int64_t action_count, double gamma) {
  if (Status reset = env.Reset({}, sequence.program); !reset) {
    return tl::unexpected(reset.error());
  }
  Walk walk;
  walk.states = eye.Room(static_cast<int64_t>(sequence.actions.size()), action_count);
  for (const int64_t action : sequence.actions) {
    const std::vector<bool> allowed = env.ActionMask();
    if (!allowed[static_cast<size_t>(action)]) continue;
    const size_t links = env.view().state.links.size();
    const auto row = static_cast<int64_t>(walk.actions.size());
    // Written before it is known whether the action is of any use: the next row is written over it.
    if (!walk.states.graphs.empty()) walk.states.graphs.resize(walk.actions.size());
    eye.Write(env.view(), row, walk.states);
    Eye::WriteMask(allowed, row, walk.states);
    const StatusOr<Outcome> outcome = env.Step(action);
    if (!outcome) return tl::unexpected(outcome.error());
    if (env.view().state.links.size() > links) {
      walk.actions.push_back(action);
      walk.returns.push_back(static_cast<float>(outcome->reward));
    }
    if (outcome->terminated || outcome->truncated) break;
  }
  for (size_t i = walk.returns.size(); i-- > 1;) {
    walk.returns[i - 1] += static_cast<float>(gamma) * walk.returns[i];
  }
  return walk;
}

}  // namespace

StatusOr<std::unique_ptr<Task>> MakePassOrderTask(std::shared_ptr<Session> session,
                                                  const PassOrderTaskOptions& options) {
  StatusOr<policy::Features> features = FeaturesFor(*session, options);
  if (!features) return tl::unexpected(features.error());
  return std::make_unique<PassOrderTask>(std::move(session), *std::move(features), options);
}

StatusOr<Demonstrations> Demonstrate(std::shared_ptr<Session> session,
                                     const PassOrderTaskOptions& options,
                                     const std::vector<ActionSequence>& sequences, double gamma) {
  const StatusOr<policy::Features> features = FeaturesFor(*session, options);
  if (!features) return tl::unexpected(features.error());
  PassOrderEnv env(session);
  std::vector<Walk> walks;
  int64_t rows = 0;
  for (const ActionSequence& sequence : sequences) {
    // As a schedule would, pass over what cannot be loaded.
    if (session->WhyBad(sequence.program)) continue;
    StatusOr<Walk> walk =
        WalkAlong(env, sequence, Eye(*features, options), session->action_count(), gamma);
    if (!walk && session->WhyBad(sequence.program)) continue;
    if (!walk) return tl::unexpected(walk.error());
    rows += static_cast<int64_t>(walk->actions.size());
    walks.push_back(*std::move(walk));
  }
  if (rows == 0) {
    return MakeError(ErrorCode::kInvalidInput, "no demonstrated pass changes anything");
  }
  Demonstrations all;
  all.states = Eye(*features, options).Room(rows, session->action_count());
  all.actions = torch::empty({rows}, torch::kInt64);
  all.returns = torch::empty({rows});
  int64_t row = 0;
  for (const Walk& walk : walks) {
    const auto count = static_cast<int64_t>(walk.actions.size());
    Observation seen = Slice(walk.states, 0, count);
    if (options.graphs) all.states.graphs.resize(static_cast<size_t>(rows));
    CopyRows(seen, all.states, row);
    for (size_t i = 0; i < walk.actions.size(); ++i, ++row) {
      all.actions.data_ptr<int64_t>()[row] = walk.actions[i];
      all.returns.data_ptr<float>()[row] = walk.returns[i];
    }
  }
  return all;
}

}  // namespace hone::learn
