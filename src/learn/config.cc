#include "learn/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <sstream>
#include <type_traits>

#include "core/lines.h"
#include "core/nearest.h"
#include "learn/learner.h"

namespace hone::learn {
namespace {

using Json = nlohmann::ordered_json;

// Every field once: what JSON, SetField and its errors know.
template <class C, class Visit>
void VisitFields(C& c, Visit visit) {
  visit("algorithm", c.algorithm);
  visit("seed", c.seed);
  visit("total_steps", c.total_steps);
  visit("network", c.network);
  visit("hidden", c.hidden);
  visit("activation", c.activation);
  visit("orthogonal", c.orthogonal);
  visit("value_features", c.value_features);
  visit("learning_rate", c.learning_rate);
  visit("decay_learning_rate", c.decay_learning_rate);
  visit("adam_epsilon", c.adam_epsilon);
  visit("max_gradient_norm", c.max_gradient_norm);
  visit("gamma", c.gamma);
  visit("rollout_steps", c.rollout_steps);
  visit("batch_size", c.batch_size);
  visit("epochs", c.epochs);
  visit("gae_lambda", c.gae_lambda);
  visit("clip_range", c.clip_range);
  visit("target_kl", c.target_kl);
  visit("entropy_weight", c.entropy_weight);
  visit("value_weight", c.value_weight);
  visit("normalize_advantage", c.normalize_advantage);
  visit("overlap", c.overlap);
  visit("rms_prop", c.rms_prop);
  visit("cg_steps", c.cg_steps);
  visit("cg_damping", c.cg_damping);
  visit("line_search_steps", c.line_search_steps);
  visit("line_search_shrink", c.line_search_shrink);
  visit("value_epochs", c.value_epochs);
  visit("replay_size", c.replay_size);
  visit("learning_starts", c.learning_starts);
  visit("train_every", c.train_every);
  visit("gradient_steps", c.gradient_steps);
  visit("trainings_per_update", c.trainings_per_update);
  visit("target_every", c.target_every);
  visit("exploration_fraction", c.exploration_fraction);
  visit("initial_epsilon", c.initial_epsilon);
  visit("final_epsilon", c.final_epsilon);
  visit("n_step", c.n_step);
  visit("double_q", c.double_q);
  visit("duelling", c.duelling);
  visit("prioritised", c.prioritised);
  visit("priority_exponent", c.priority_exponent);
  visit("priority_beta", c.priority_beta);
  visit("temperature", c.temperature);
}

std::vector<std::string> FieldNames() {
  std::vector<std::string> names;
  const Config config;
  VisitFields(config, [&](const char* name, const auto&) { names.emplace_back(name); });
  return names;
}

template <class Number>
bool Parse(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}
bool Parse(std::string_view text, std::string& value) {
  value = text;
  return true;
}
bool Parse(std::string_view text, bool& value) {
  value = text == "true" || text == "1";
  return value || text == "false" || text == "0";
}
bool Parse(std::string_view text, std::vector<int64_t>& value) {
  value.clear();
  while (!text.empty()) {
    int64_t number = 0;
    if (!Parse(TakePart(text, ','), number)) return false;
    value.push_back(number);
  }
  return true;
}

template <class T>
const char* KindOf() {
  if (std::is_same_v<T, bool>) return "true or false";
  if (std::is_same_v<T, int64_t>) return "a whole number";
  if (std::is_same_v<T, double>) return "a number";
  if (std::is_same_v<T, std::string>) return "a string";
  return "whole numbers with commas between them";
}

template <class T>
bool Holds(const Json& json) {
  if (std::is_same_v<T, bool>) return json.is_boolean();
  if (std::is_same_v<T, int64_t>) return json.is_number_integer();
  if (std::is_same_v<T, double>) return json.is_number();
  if (std::is_same_v<T, std::string>) return json.is_string();
  if (!json.is_array()) return false;
  for (const Json& item : json) {
    if (!item.is_number_integer()) return false;
  }
  return true;
}

auto Unknown(std::string_view key) {
  return MakeError(ErrorCode::kInvalidInput,
                   fmt::format("no setting is named '{}'{}", key, DidYouMean(key, FieldNames())));
}

}  // namespace

StatusOr<Config> Preset(std::string_view algorithm, std::string_view kind) {
  const LearnerInfo* const learner = FindLearner(algorithm);
  if (learner == nullptr) {
    std::vector<std::string> known;
    for (const LearnerInfo& info : Learners()) known.emplace_back(info.name);
    return MakeError(
        ErrorCode::kInvalidInput,
        fmt::format("no algorithm is named '{}'{}", algorithm, DidYouMean(algorithm, known)));
  }
  Config config;
  config.algorithm = algorithm;
  learner->set(PresetKind::kSb3, config);
  if (kind == "sb3") return config;
  if (kind == "paper") {
    config.hidden = {2048, 2048};
    learner->set(PresetKind::kPaper, config);
    return config;
  }
  if (kind == "hone") {
    config.hidden = {256, 256};
    config.gamma = 0.995;
    config.decay_learning_rate = true;
    config.adam_epsilon = 1e-5;
    learner->set(PresetKind::kHone, config);
    return config;
  }
  return MakeError(ErrorCode::kInvalidInput,
                   fmt::format("no preset is named '{}'; there are paper, sb3 and hone", kind));
}

std::string ToJson(const Config& config) {
  Json json = Json::object();
  VisitFields(config, [&](const char* name, const auto& value) { json[name] = value; });
  // Strings that are no UTF-8 would throw.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

StatusOr<Config> FromJson(std::string_view text, const Config& base) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return MakeError(ErrorCode::kInvalidInput, "settings are no JSON object");
  Config config = base;
  const std::vector<std::string> names = FieldNames();
  for (const auto& [key, value] : json.items()) {
    if (std::find(names.begin(), names.end(), key) == names.end()) return Unknown(key);
  }
  std::string wrong;
  VisitFields(config, [&](const char* name, auto& value) {
    using T = std::remove_reference_t<decltype(value)>;
    const auto found = json.find(name);
    if (found == json.end()) return;
    if (Holds<T>(*found)) {
      value = found->template get<T>();
    } else if (wrong.empty()) {
      wrong = fmt::format("the setting '{}' is not {}", name, KindOf<T>());
    }
  });
  if (!wrong.empty()) return MakeError(ErrorCode::kInvalidInput, wrong);
  if (Status status = Validate(config); !status) return tl::unexpected(status.error());
  return config;
}

Status SetField(Config& config, std::string_view assignment) {
  const size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    return MakeError(ErrorCode::kInvalidInput,
                     fmt::format("'{}' is not of the form key=value", assignment));
  }
  const std::string_view key = assignment.substr(0, equals), text = assignment.substr(equals + 1);
  bool known = false;
  std::string wrong;
  Config changed = config;
  VisitFields(changed, [&](const char* name, auto& value) {
    if (key != name) return;
    known = true;
    if (!Parse(text, value)) {
      wrong = fmt::format("{}={}: not {}", key, text,
                          KindOf<std::remove_reference_t<decltype(value)>>());
    }
  });
  if (!known) return Unknown(key);
  if (!wrong.empty()) return MakeError(ErrorCode::kInvalidInput, wrong);
  if (Status status = Validate(changed); !status) return status;
  config = std::move(changed);
  return {};
}

Status Validate(const Config& c) {
  const auto wrong = [](std::string what) {
    return MakeError(ErrorCode::kInvalidInput, std::move(what));
  };
  if (c.network != "mlp" && c.network != "graph" && c.network != "offers") {
    return wrong("network: not mlp, graph or offers");
  }
  if (c.activation != "tanh" && c.activation != "relu")
    return wrong("activation: not tanh or relu");
  for (const int64_t width : c.hidden) {
    if (width < 1 || width > 65536) return wrong("hidden: a width is not in 1 to 65536");
  }
  std::string broken;
  const auto at_least = [&](const char* name, auto value, auto least) {
    // Written so that a NaN is caught.
    if (!(value >= least) && broken.empty()) broken = fmt::format("{}: less than {}", name, least);
  };
  const auto unit = [&](const char* name, double value) {
    if (!(value >= 0 && value <= 1) && broken.empty())
      broken = fmt::format("{}: not in 0 to 1", name);
  };
  at_least("total_steps", c.total_steps, 0);
  at_least("learning_rate", c.learning_rate, 0.0);
  at_least("adam_epsilon", c.adam_epsilon, 0.0);
  at_least("max_gradient_norm", c.max_gradient_norm, 0.0);
  at_least("rollout_steps", c.rollout_steps, 1);
  at_least("batch_size", c.batch_size, 1);
  at_least("epochs", c.epochs, 1);
  at_least("clip_range", c.clip_range, 0.0);
  at_least("target_kl", c.target_kl, 0.0);
  at_least("cg_steps", c.cg_steps, 1);
  at_least("cg_damping", c.cg_damping, 0.0);
  at_least("line_search_steps", c.line_search_steps, 1);
  at_least("value_epochs", c.value_epochs, 0);
  at_least("replay_size", c.replay_size, 1);
  at_least("learning_starts", c.learning_starts, 0);
  at_least("train_every", c.train_every, 1);
  at_least("gradient_steps", c.gradient_steps, 1);
  at_least("trainings_per_update", c.trainings_per_update, 1);
  at_least("target_every", c.target_every, 1);
  at_least("n_step", c.n_step, 1);
  at_least("priority_exponent", c.priority_exponent, 0.0);
  at_least("temperature", c.temperature, 1e-9);
  unit("gamma", c.gamma);
  unit("gae_lambda", c.gae_lambda);
  unit("line_search_shrink", c.line_search_shrink);
  unit("exploration_fraction", c.exploration_fraction);
  unit("initial_epsilon", c.initial_epsilon);
  unit("final_epsilon", c.final_epsilon);
  unit("priority_beta", c.priority_beta);
  if (!broken.empty()) return wrong(broken);
  return {};
}

}  // namespace hone::learn
