#include "tune/change_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

#include "core/fnv.h"

namespace hone::tune {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kFormat[] = "hone change policy";
constexpr int kVersion = 1;
// As many programs as its stage's mean counts for.
constexpr double kOfTheStage = 3;
// More than twice as fast counts as that, lest one program speak for all.
constexpr double kMostGain = 0.7;

constexpr uint64_t kFolds = 8;
constexpr size_t kFewChanges = 8;     // of a program: fewer do not tell a good order
constexpr double kNearlyBest = 0.05;  // gains are logarithms

uint64_t HashOf(const store::ChoiceRow& choice) {
  return Fnv1a(choice.stage + '\0' + choice.key + '\0' + choice.value);
}

// The measurements of one program: plans by what they choose, whatever the order.
class Measured {
 public:
  Measured() { best_known_[0] = {0, INT32_MAX}; }  // the stock compiler's

  void Add(const store::MeasuredPlan& plan) {
    uint64_t all = 0;
    for (const store::AlikeChoice& one : plan.choices) all ^= HashOf(one.choice);
    const auto [known, added] = best_known_.try_emplace(all, Value{0, -1});
    if (known->second.pairs >= plan.pairs) return;
    known->second = {std::log(std::clamp(plan.speedup, 1e-6, 1e6)), plan.pairs};
    if (added) plans_.push_back(&plan);
  }

  std::map<Change, double> Gains() const {
    std::map<Change, double> gains;
    for (const store::MeasuredPlan* plan : plans_) {
      uint64_t all = 0;
      std::map<Change, std::vector<uint64_t>> changes;
      for (const auto& [choice, like] : plan->choices) {
        all ^= HashOf(choice);
        if (like.empty()) continue;
        changes[{choice.stage, like, choice.value}].push_back(HashOf(choice));
      }
      const double with = best_known_.at(all).gain;
      for (const auto& [change, hashes] : changes) {
        uint64_t these = 0;
        for (uint64_t hash : hashes) these ^= hash;
        std::vector<uint64_t> without = {all ^ these};
        if (hashes.size() > 1) {
          for (uint64_t hash : hashes) without.push_back(all ^ hash);
        }
        for (uint64_t rest : without) {
          const auto known = best_known_.find(rest);
          if (known == best_known_.end()) continue;
          const double gain = with - known->second.gain;
          const auto [best, added] = gains.try_emplace(change, gain);
          best->second = std::max(best->second, gain);
        }
      }
    }
    return gains;
  }

 private:
  struct Value {
    double gain = 0;
    int pairs = 0;
  };
  std::unordered_map<uint64_t, Value> best_known_;
  std::vector<const store::MeasuredPlan*> plans_;
};

// That none of `some` out of `all` is good, of which `good` are.
double NoneIsGood(int some, double all, double good) {
  double none = 1;
  for (int i = 0; i < some; ++i) none *= std::max(0.0, all - i - good) / (all - i);
  return none;
}

// Adds how soon a program's best change comes, in the policy's order.
void Judge(const ChangePolicy& policy, std::vector<const ChangeExample*>& changes,
           ChangePolicyQuality& sum) {
  std::stable_sort(changes.begin(), changes.end(), [&](const auto* a, const auto* b) {
    return policy.Gain(a->change) > policy.Gain(b->change);
  });
  double best = 0;
  for (const ChangeExample* one : changes) best = std::max(best, one->gain);
  const auto is_good = [&](const ChangeExample* one) {
    return std::max(0.0, one->gain) >= best - kNearlyBest;
  };
  const auto good = std::count_if(changes.begin(), changes.end(), is_good);
  const auto first = std::find_if(changes.begin(), changes.end(), is_good) - changes.begin();
  ++sum.programs;
  for (size_t k = 0; k < std::size(ChangePolicyQuality::kFirst); ++k) {
    const int some = ChangePolicyQuality::kFirst[k];
    sum.within[k] += first < some;
    sum.by_chance[k] +=
        1 - NoneIsGood(some, static_cast<double>(changes.size()), static_cast<double>(good));
  }
}

}  // namespace

std::vector<ChangeExample> ChangeExamples(const std::vector<store::MeasuredPlan>& plans) {
  std::map<std::string, Measured> programs;
  for (const store::MeasuredPlan& plan : plans) programs[plan.program].Add(plan);
  std::vector<ChangeExample> examples;
  for (const auto& [program, measured] : programs) {
    for (const auto& [change, gain] : measured.Gains()) examples.push_back({program, change, gain});
  }
  return examples;
}

ChangePolicy::ChangePolicy(const std::vector<ChangeExample>& examples) {
  for (const ChangeExample& one : examples) {
    Known& known = known_[one.change];
    ++known.programs;
    known.gain += std::clamp(one.gain, 0.0, kMostGain);
  }
  for (auto& [change, known] : known_) known.gain /= static_cast<double>(known.programs);
  Sum();
}

void ChangePolicy::Add(const ChangePolicy& other) {
  for (const auto& [change, theirs] : other.known_) {
    Known& mine = known_[change];
    const double sum = mine.gain * static_cast<double>(mine.programs) +
                       theirs.gain * static_cast<double>(theirs.programs);
    mine.programs += theirs.programs;
    mine.gain = sum / static_cast<double>(mine.programs);
  }
  Sum();
}

void ChangePolicy::Sum() {
  of_stage_.clear();
  for (const auto& [change, known] : known_) {
    Known& stage = of_stage_[change.stage];
    stage.programs += known.programs;
    stage.gain += known.gain * static_cast<double>(known.programs);
  }
  for (auto& [stage, sum] : of_stage_) sum.gain /= static_cast<double>(sum.programs);
}

double ChangePolicy::Gain(const Change& change) const {
  const auto stage = of_stage_.find(change.stage);
  const double mean = stage == of_stage_.end() ? 0 : stage->second.gain;
  const auto found = known_.find(change);
  if (found == known_.end()) return mean;
  const auto programs = static_cast<double>(found->second.programs);
  return (programs * found->second.gain + kOfTheStage * mean) / (programs + kOfTheStage);
}

std::string ChangePolicy::ToJson() const {
  Json json{{"format", kFormat}, {"version", kVersion}, {"changes", Json::array()}};
  for (const auto& [change, known] : known_) {
    json["changes"].push_back({{"stage", change.stage},
                               {"like", change.like},
                               {"value", change.value},
                               {"programs", known.programs},
                               {"gain", std::round(1e5 * known.gain) / 1e5}});
  }
  return json.dump(1) + "\n";
}

StatusOr<ChangePolicy> ChangePolicy::FromJson(std::string_view text) {
  const auto bad = [](const std::string& what) {
    return MakeError(ErrorCode::kInvalidInput, "it is no change policy: " + what);
  };
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("format", Json()) != kFormat) {
    return bad(fmt::format("field 'format' is not '{}'", kFormat));
  }
  if (json.value("version", Json()) != kVersion) {
    return bad(fmt::format("field 'version' is not {}", kVersion));
  }
  const Json changes = json.value("changes", Json());
  if (!changes.is_array()) return bad("field 'changes' is not a list");
  ChangePolicy policy;
  for (size_t i = 0; i < changes.size(); ++i) {
    const Json& one = changes[i];
    const auto is_text = [&](const char* name) {
      return one.is_object() && one.value(name, Json()).is_string();
    };
    const bool fine = is_text("stage") && is_text("like") && is_text("value") &&
                      one.value("programs", Json()).is_number_unsigned() &&
                      one.value("programs", int64_t{0}) > 0 &&
                      one.value("gain", Json()).is_number() && one.value("gain", -1.0) >= 0;
    if (!fine) {
      return bad(
          fmt::format("field 'changes[{}]' has no texts stage, like and value, a count "
                      "programs above 0 and a gain of 0 or more",
                      i));
    }
    policy.known_[{one["stage"], one["like"], one["value"]}] = {one["programs"].get<int64_t>(),
                                                                one["gain"].get<double>()};
  }
  policy.Sum();
  return policy;
}

ChangePolicyQuality CrossValidate(const std::vector<ChangeExample>& examples) {
  std::map<std::string, std::vector<const ChangeExample*>> programs;
  for (const ChangeExample& one : examples) programs[one.program].push_back(&one);
  const auto fold_of = [](const std::string& program) { return Fnv1a(program) % kFolds; };
  ChangePolicyQuality sum;
  for (uint64_t fold = 0; fold < kFolds; ++fold) {
    std::vector<ChangeExample> others;
    for (const ChangeExample& one : examples) {
      if (fold_of(one.program) != fold) others.push_back(one);
    }
    const ChangePolicy policy(others);
    for (auto& [program, changes] : programs) {
      if (fold_of(program) == fold && changes.size() >= kFewChanges) Judge(policy, changes, sum);
    }
  }
  for (auto* shares : {&sum.within, &sum.by_chance}) {
    for (double& share : *shares) {
      share /= static_cast<double>(std::max<int64_t>(1, sum.programs));
    }
  }
  return sum;
}

const ChangePolicy& ChangePolicy::Shipped() {
  static const ChangePolicy policy =
      FromJson(ShippedPolicyFiles().at("changes.json")).value_or(ChangePolicy());
  return policy;
}

double Promise(const ChangePolicy& policy, const Space& space, const std::vector<size_t>& variables,
               uint32_t choice) {
  const Decision& decision = space.decisions[variables.front()];
  const double gain =
      policy.Gain({std::string(StageName(decision.stage)), decision.like, decision.values[choice]});
  if (decision.kind != Decision::Kind::kSite) return gain;
  double weight = 0;
  for (size_t i : variables) weight += space.variables[i].weight;
  return std::min(1.0, weight) * gain;
}

}  // namespace hone::tune
