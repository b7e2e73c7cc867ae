#include "tune/tune_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "tune/plan.h"

namespace hone::tune {
namespace {

using Json = nlohmann::ordered_json;

tl::unexpected<Error> Bad(const std::string& what) {
  return MakeError(ErrorCode::kInvalidInput,
                   "the plan is broken: " + what + "; give a file that `hone tune --plan` wrote");
}

const Json& Field(const Json& json, const char* name) {
  static const Json none;
  const auto found = json.find(name);
  return found == json.end() ? none : *found;
}

std::optional<SiteKey> KeyFromText(const std::string& text) {
  SiteKey key = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), key, 16);
  const bool fine = error == std::errc() && end == text.data() + text.size();
  return fine && KeyText(key) == text ? std::optional(key) : std::nullopt;
}

Json ToJson(const PlannedPass& planned) {
  if (planned.decisions.AcceptAll()) return planned.pass;
  Json json{{"pass", planned.pass},
            {"otherwise", OtherwiseName(planned.decisions.otherwise)},
            {"seed", planned.decisions.seed},
            {"choices", Json::object()}};
  for (const SiteChoice& choice : planned.decisions.choices) {
    json["choices"][KeyText(choice.key)] = choice.accept;
  }
  return json;
}

// What is no text is the object of a `hone plan`, but for its format.
StatusOr<PlannedPass> PassFromJson(const Json& json, size_t index) {
  const std::string where = fmt::format("passes[{}]", index);
  if (json.is_string()) return PlannedPass{json.get<std::string>(), {}};
  if (!json.is_object()) return Bad(where + " is neither a name nor an object");
  PlannedPass planned;
  if (!Field(json, "pass").is_string()) return Bad(where + ".pass is not a text");
  planned.pass = Field(json, "pass").get<std::string>();
  if (json.contains("otherwise")) {
    const Json& name = Field(json, "otherwise");
    const auto known =
        OtherwiseFromName(name.is_string() ? name.get<std::string>() : std::string());
    if (!known) {
      return Bad(
          fmt::format("{}.otherwise is not one of {}", where, fmt::join(kOtherwiseNames, ", ")));
    }
    planned.decisions.otherwise = *known;
  }
  if (json.contains("seed")) {
    if (!Field(json, "seed").is_number_unsigned()) {
      return Bad(where + ".seed is not a whole number, zero or more");
    }
    planned.decisions.seed = Field(json, "seed").get<uint64_t>();
  }
  const Json& choices = Field(json, "choices");
  if (json.contains("choices") && !choices.is_object()) {
    return Bad(where + ".choices is not an object");
  }
  for (const auto& [text, accept] : choices.items()) {
    const std::optional<SiteKey> key = KeyFromText(text);
    if (!key || !accept.is_boolean()) {
      return Bad(fmt::format("{}.choices: '{}' is not 16 hexadecimal digits and true or false",
                             where, text));
    }
    planned.decisions.choices.push_back({*key, accept.get<bool>()});
  }
  std::sort(planned.decisions.choices.begin(), planned.decisions.choices.end(),
            [](const SiteChoice& a, const SiteChoice& b) { return a.key < b.key; });
  return planned;
}

}  // namespace

std::string HashText(const TunePlan& plan) {
  uint64_t hash = plan.compile.Hash();
  for (const PlannedPass& planned : plan.passes) {
    for (unsigned char c : planned.pass) hash = (hash ^ c) * 0x9fb21c651e98df25ull;
    hash = (hash ^ planned.decisions.Hash() ^ 0x100) * 0x9fb21c651e98df25ull;
    hash ^= hash >> 29;
  }
  return KeyText(hash);
}

std::string TunePlanToJson(const TunePlan& plan, int stand_in_constants) {
  Json json;
  json["format"] = "hone tuned plan";
  if (stand_in_constants > 0) json["stand_in_constants"] = stand_in_constants;
  json["passes"] = Json::array();
  for (const PlannedPass& planned : plan.passes) json["passes"].push_back(ToJson(planned));
  json["choices"] = Json::object();
  for (const CompileChoice& choice : plan.compile.choices) {
    json["choices"][KeyText(choice.key)] = choice.value;
  }
  json["flags"] = Json::object();
  for (const auto& [name, value] : plan.compile.flags) json["flags"][name] = value;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

StatusOr<TunePlan> TunePlanFromJson(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object() || Field(json, "format") != "hone tuned plan") {
    return Bad("it is not JSON with \"format\": \"hone tuned plan\"");
  }
  for (const auto& [name, value] : json.items()) {
    if (name != "format" && name != "stand_in_constants" && name != "passes" && name != "choices" && name != "flags") {
      return Bad(fmt::format("there is no field '{}'", name));
    }
  }
  TunePlan plan;
  const Json& passes = Field(json, "passes");
  if (json.contains("passes") && !passes.is_array()) return Bad("field 'passes' is not a list");
  for (size_t i = 0; i < passes.size(); ++i) {
    StatusOr<PlannedPass> planned = PassFromJson(passes[i], i);
    if (!planned) return tl::unexpected(planned.error());
    plan.passes.push_back(*std::move(planned));
  }
  const Json& choices = Field(json, "choices");
  if (json.contains("choices") && !choices.is_object()) {
    return Bad("field 'choices' is not an object");
  }
  for (const auto& [key_text, value] : choices.items()) {
    const std::optional<SiteKey> key = KeyFromText(key_text);
    if (!key || !value.is_string()) {
      return Bad(fmt::format("choice '{}' is not 16 hexadecimal digits and a text", key_text));
    }
    plan.compile.choices.push_back({*key, value.get<std::string>()});
  }
  const Json& flags = Field(json, "flags");
  if (json.contains("flags") && !flags.is_object()) return Bad("field 'flags' is not an object");
  for (const auto& [name, value] : flags.items()) {
    if (!value.is_string()) return Bad(fmt::format("flag '{}' is not a text", name));
    plan.compile.flags.push_back({name, value.get<std::string>()});
  }
  Sort(plan.compile);
  return plan;
}

}  // namespace hone::tune
