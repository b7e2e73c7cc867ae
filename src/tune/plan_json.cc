#include "tune/plan_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace hone {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

const Json& FieldOf(const Json& json, const char* name) {
  static const Json none;
  const auto found = json.find(name);
  return found == json.end() ? none : *found;
}

std::optional<SiteKey> KeyFromText(std::string_view text) {
  SiteKey key = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), key, 16);
  const bool fine = error == std::errc() && end == text.data() + text.size();
  return fine && KeyText(key) == text ? std::optional(key) : std::nullopt;
}

void AddPass(const Plan& plan, Json& json) {
  json["pass"] = plan.pass;
  json["otherwise"] = OtherwiseName(plan.decisions.otherwise);
  json["seed"] = plan.decisions.seed;
  json["choices"] = Json::object();
  for (const SiteChoice& choice : plan.decisions.choices) {
    json["choices"][KeyText(choice.key)] = choice.accept;
  }
}

Json PassToJson(const Plan& plan) {
  if (plan.decisions.AcceptAll()) return plan.pass;
  Json json;
  AddPass(plan, json);
  return json;
}

StatusOr<Plan> PassFromJson(const Json& json, const std::string& where) {
  const auto bad = [&](const std::string& name, const std::string& what) {
    const std::string dot = where.empty() || name.empty() ? "" : ".";
    return MakeError(ErrorCode::kInvalidInput,
                     fmt::format("field '{}{}{}' {}", where, dot, name, what));
  };
  Plan plan;
  if (json.is_string()) {
    plan.pass = json.get<std::string>();
    return plan;
  }
  if (!json.is_object()) return bad("", "is neither a pass's name nor an object");
  if (!FieldOf(json, "pass").is_string()) return bad("pass", "is not a text");
  plan.pass = FieldOf(json, "pass").get<std::string>();
  if (json.contains("otherwise")) {
    const Json& name = FieldOf(json, "otherwise");
    const auto known =
        OtherwiseFromName(name.is_string() ? name.get<std::string>() : std::string());
    if (!known) {
      return bad("otherwise", fmt::format("is not one of {}", fmt::join(kOtherwiseNames, ", ")));
    }
    plan.decisions.otherwise = *known;
  }
  if (json.contains("seed")) {
    const Json& seed = FieldOf(json, "seed");
    if (!seed.is_number_unsigned()) return bad("seed", "is not a whole number, zero or more");
    plan.decisions.seed = seed.get<uint64_t>();
  }
  const Json& choices = FieldOf(json, "choices");
  if (json.contains("choices") && !choices.is_object()) return bad("choices", "is not an object");
  for (const auto& [text, accept] : choices.items()) {
    const std::optional<SiteKey> key = KeyFromText(text);
    if (!key || !accept.is_boolean()) {
      return bad(
          "choices",
          fmt::format("has '{}', which is not 16 hexadecimal digits and true or false", text));
    }
    plan.decisions.choices.push_back({*key, accept.get<bool>()});
  }
  std::sort(plan.decisions.choices.begin(), plan.decisions.choices.end(),
            [](const SiteChoice& a, const SiteChoice& b) { return a.key < b.key; });
  return plan;
}

}  // namespace hone
