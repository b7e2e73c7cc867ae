#include "learn/loops_task.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/rng.h"
#include "learn/observation.h"
#include "loops/site_view.h"

namespace hone::learn {
namespace {

using Json = nlohmann::json;

struct Came {
  double reward = 0;
  bool terminated = false;
  bool truncated = false;
};

// Whether all that Turns::Save writes is there.
bool Complete(const Json& saved) {
  const auto has = [&](const char* key, bool (Json::*is)() const noexcept) {
    return saved.contains(key) && (saved[key].*is)();
  };
  if (!saved.is_object() || !has("random", &Json::is_number_unsigned) ||
      !has("place", &Json::is_number_unsigned) || !has("next", &Json::is_number_unsigned) ||
      !has("task", &Json::is_number_unsigned) || !has("running", &Json::is_boolean) ||
      !has("schedule", &Json::is_string) || !has("history", &Json::is_array) ||
      !has("initial", &Json::is_number) || !has("value", &Json::is_number)) {
    return false;
  }
  return std::all_of(saved["history"].begin(), saved["history"].end(),
                     [](const Json& action) { return action.is_number_integer(); });
}

// An environment whose nests have their turns.
class Turns {
 public:
  explicit Turns(loops::LoopsEnv env) : env_(std::move(env)), rng_(0) {}

  void set_rng(const Rng& rng) { rng_ = rng; }

  // Of a task drawn at random.
  Status Reset() {
    if (Status reset = env_.Reset({}, rng_.Below(env_.tasks())); !reset) return reset;
    order_ = loops::SiteOrder(env_.catalogue());
    Go(0);
    return {};
  }

  StatusOr<Came> Step(int64_t action) {
    if (action == static_cast<int64_t>(loops::kSiteDecisions)) {
      Go(place_ + 1);
      return over() ? Stop(0) : Came{};
    }
    const auto first = static_cast<int64_t>(order_[place_] * loops::kSiteDecisions);
    const StatusOr<loops::LoopsOutcome> outcome = env_.Step(first + action);
    if (!outcome) return tl::unexpected(outcome.error());
    if (outcome->terminated || outcome->truncated) {
      return Came{outcome->reward, outcome->terminated, outcome->truncated};
    }
    Go(place_);
    return over() ? Stop(outcome->reward) : Came{outcome->reward, false, false};
  }

  // Where it is over there is nothing to see but what was decided last.
  void Write(int64_t row, Observation& to) const {
    const size_t place = std::min(place_, order_.size() - 1);
    float* const out = to.features.data_ptr<float>() + row * to.features.size(1);
    bool* const mask = to.mask.data_ptr<bool>() + row * to.mask.size(1);
    const int nest = env_.scheduled().program().FindSite(env_.catalogue().sites()[order_[place]]);
    if (nest < 0) {  // the last copy of a nest that was not packed
      std::fill_n(out, to.features.size(1), 0.0f);
      std::fill_n(mask, to.mask.size(1), false);
      mask[loops::kSiteDecisions] = true;
      return;
    }
    const loops::SiteView view =
        loops::LookAtSite(env_.catalogue(), env_.scheduled(), order_[place]);
    std::copy(view.offers.begin(), view.offers.end(),
              std::copy(view.features.begin(), view.features.end(), out));
    std::copy(view.mask.begin(), view.mask.end(), mask);
  }

  Json Save() const {
    const loops::LoopsEpisode at = env_.episode();
    return {{"random", rng_.state()}, {"place", place_},       {"next", at.next},
            {"task", at.task},        {"running", at.running}, {"schedule", at.schedule},
            {"history", at.history},  {"initial", at.initial}, {"value", at.value}};
  }

  Status Restore(const Json& saved) {
    if (!Complete(saved)) {
      return MakeError(ErrorCode::kInvalidInput,
                       "the checkpoint's environments: a field is missing or of another type");
    }
    loops::LoopsEpisode at;
    at.next = saved.at("next").get<size_t>();
    at.task = saved.at("task").get<size_t>();
    at.running = saved.at("running").get<bool>();
    at.schedule = saved.at("schedule").get<std::string>();
    at.history = saved.at("history").get<std::vector<int64_t>>();
    at.initial = saved.at("initial").get<double>();
    at.value = saved.at("value").get<double>();
    if (Status resumed = env_.Resume(at); !resumed) return resumed;
    rng_ = Rng(saved.at("random").get<uint64_t>());
    order_ = loops::SiteOrder(env_.catalogue());
    Go(saved.at("place").get<size_t>());
    return {};
  }

 private:
  bool over() const { return place_ == order_.size(); }

  void Go(size_t place) {
    place_ = loops::NextPlace(env_.catalogue(), env_.scheduled(), order_, place);
  }

  StatusOr<Came> Stop(double reward) {
    const auto outcome = env_.Step(static_cast<int64_t>(env_.actions()) - 1);
    if (!outcome) return tl::unexpected(outcome.error());
    return Came{reward + outcome->reward, true, false};
  }

  loops::LoopsEnv env_;
  Rng rng_;
  std::vector<size_t> order_;
  size_t place_ = 0;
};

class LoopsTask final : public Task {
 public:
  LoopsTask(const std::shared_ptr<loops::LoopsSession>& session, const LoopsTaskOptions& options)
      : stop_(options.stop) {
    for (int64_t i = 0; i < options.environments; ++i) {
      turns_.emplace_back(loops::LoopsEnv(session, static_cast<size_t>(i)));
    }
  }

  TaskShape shape() const override {
    TaskShape shape;
    shape.environments = static_cast<int64_t>(turns_.size());
    shape.actions = loops::kSiteActions;
    shape.offer_features = loops::kOfferFeatures;
    shape.features = loops::kSiteFeatures + loops::kSiteActions * loops::kOfferFeatures;
    return shape;
  }

  StatusOr<Observation> Reset(uint64_t seed) override {
    Rng rng(seed);
    for (Turns& turns : turns_) {
      turns.set_rng(Rng(rng.Next()));
      if (Status reset = turns.Reset(); !reset) return tl::unexpected(reset.error());
    }
    return Look();
  }

  StatusOr<Transition> Step(const torch::Tensor& actions) override {
    const torch::Tensor flat = actions.contiguous();
    const auto n = static_cast<int64_t>(turns_.size());
    Transition transition;
    transition.reward = torch::empty({n});
    transition.terminated = torch::empty({n}, torch::kBool);
    transition.truncated = torch::empty({n}, torch::kBool);
    transition.last = MakeObservations(shape(), n);
    std::vector<int64_t> ended;
    for (int64_t i = 0; i < n; ++i) {
      if (stop_ != nullptr && *stop_) return MakeError(ErrorCode::kInterrupted, "interrupted");
      Turns& turns = turns_[static_cast<size_t>(i)];
      const StatusOr<Came> came = turns.Step(flat.data_ptr<int64_t>()[i]);
      if (!came) return tl::unexpected(came.error());
      transition.reward.data_ptr<float>()[i] = static_cast<float>(came->reward);
      transition.terminated.data_ptr<bool>()[i] = came->terminated;
      transition.truncated.data_ptr<bool>()[i] = came->truncated;
      turns.Write(i, transition.last);
      if (came->terminated || came->truncated) ended.push_back(i);
    }
    transition.next = transition.last;
    if (ended.empty()) return transition;
    transition.next = MakeObservations(shape(), n);
    CopyRows(transition.last, transition.next, 0);
    for (const int64_t i : ended) {
      Turns& turns = turns_[static_cast<size_t>(i)];
      if (Status reset = turns.Reset(); !reset) return tl::unexpected(reset.error());
      turns.Write(i, transition.next);
    }
    return transition;
  }

  std::string Save() const override {
    Json saved = Json::array();
    for (const Turns& turns : turns_) saved.push_back(turns.Save());
    return saved.dump();
  }

  StatusOr<Observation> Restore(const std::string& saved) override {
    const Json all = Json::parse(saved, nullptr, /*allow_exceptions=*/false);
    if (!all.is_array() || all.size() != turns_.size()) {
      return MakeError(ErrorCode::kInvalidInput,
                       "the checkpoint is of another number of environments");
    }
    for (size_t i = 0; i < turns_.size(); ++i) {
      if (Status restored = turns_[i].Restore(all[i]); !restored) {
        return tl::unexpected(restored.error());
      }
    }
    return Look();
  }

 private:
  Observation Look() const {
    Observation observation = MakeObservations(shape(), static_cast<int64_t>(turns_.size()));
    for (size_t i = 0; i < turns_.size(); ++i) {
      turns_[i].Write(static_cast<int64_t>(i), observation);
    }
    return observation;
  }

  const std::atomic<bool>* const stop_;
  std::vector<Turns> turns_;
};

}  // namespace

StatusOr<std::unique_ptr<Task>> MakeLoopsTask(const LoopsTaskOptions& options) {
  const auto session = loops::LoopsSession::Open(options.env);
  if (!session) return tl::unexpected(session.error());
  return std::make_unique<LoopsTask>(*session, options);
}

}  // namespace hone::learn
