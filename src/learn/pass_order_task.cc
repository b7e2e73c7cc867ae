#include "learn/pass_order_task.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

namespace hone::learn {
namespace {

using Json = nlohmann::json;

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
    const int64_t width = features_.size();
    const int64_t value_width = options_.value_features ? kCostFeatureCount : 0;
    Observation observation;
    observation.features = torch::empty({n, width});
    observation.value_features = torch::zeros({n, value_width});
    observation.mask = torch::ones({n, session_->action_count()}, torch::kBool);
    std::vector<PassId> changes;
    for (int64_t i = 0; i < n; ++i) {
      const View& view = *views[static_cast<size_t>(i)];
      changes.clear();
      for (const Link& link : view.state.links) changes.push_back(link.pass);
      features_.Write(
          view.opcodes, view.initial_op_count, changes,
          {observation.features.data_ptr<float>() + i * width, static_cast<size_t>(width)});
      if (value_width > 0) {
        WriteValueFeatures(view, observation.value_features.data_ptr<float>() + i * value_width);
      }
      if (masked) {
        bool* mask = observation.mask.data_ptr<bool>() + i * session_->action_count();
        for (const bool allowed : env_.slot(static_cast<size_t>(i)).env.ActionMask()) {
          *mask++ = allowed;
        }
      }
      if (options_.graphs) observation.graphs.push_back(view.arrays);
    }
    return observation;
  }

  // Logarithms, for the features run over many orders of magnitude.
  static void WriteValueFeatures(const View& view, float* out) {
    double cost[kCostFeatureCount];
    WriteCost(view, cost);
    for (const double feature : cost) {
      *out++ = static_cast<float>(std::log1p(std::max(0.0, feature)) / 20);
    }
  }

  const std::shared_ptr<Session> session_;
  const policy::Features features_;
  const PassOrderTaskOptions options_;
  VectorEnv env_;
};

}  // namespace

StatusOr<std::unique_ptr<Task>> MakePassOrderTask(std::shared_ptr<Session> session,
                                                  const PassOrderTaskOptions& options) {
  const EnvOptions& env = session->options();
  if (!env.observation.opcodes || !env.episode_mask ||
      (options.value_features && !env.observation.cost) ||
      (options.graphs && !env.observation.graph)) {
    return MakeError(
        ErrorCode::kInvalidInput,
        "the session does not show what the task needs: opcodes, masks of the episode, "
        "cost for value features, graphs");
  }
  const Pool& pool = session->pool();
  std::vector<std::string> actions;
  for (PassId action : session->actions()) actions.push_back(pool.passes()[action].name);
  StatusOr<policy::Features> features = policy::Features::Make(
      options.features, pool.opcodes(), actions, pool.opcodes(), pool.passes());
  if (!features) return tl::unexpected(features.error());
  return std::make_unique<PassOrderTask>(std::move(session), *std::move(features), options);
}

}  // namespace hone::learn
