#include "tune/tune_plan.h"

#include <fmt/format.h>

#include <optional>
#include <set>

#include "core/file_kinds.h"
#include "tune/plan_json.h"

namespace hone::tune {
namespace {

using Json = nlohmann::ordered_json;

tl::unexpected<Error> Bad(const std::string& what) {
  return MakeError(ErrorCode::kInvalidInput,
                   "the plan is broken: " + what + "; give a file that `hone tune --plan` wrote");
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
  BeginFile(kTunedPlanFile, json);
  if (stand_in_constants > 0) json["stand_in_constants"] = stand_in_constants;
  json["passes"] = Json::array();
  for (const PlannedPass& planned : plan.passes) json["passes"].push_back(PassToJson(planned));
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
  if (!IsOfKind(kTunedPlanFile, json)) {
    return Bad("it is not JSON with \"format\": \"hone tuned plan\"" +
               OtherKind(text, kTunedPlanFile));
  }
  if (Status reads = CheckVersionIn(kTunedPlanFile, json); !reads) {
    return tl::unexpected(reads.error());
  }
  static const std::set<std::string_view> fields = {"format", "version", "stand_in_constants",
                                                    "passes", "choices", "flags"};
  for (const auto& [name, value] : json.items()) {
    if (fields.count(name) == 0) return Bad(fmt::format("there is no field '{}'", name));
  }
  TunePlan plan;
  const Json& passes = FieldOf(json, "passes");
  if (json.contains("passes") && !passes.is_array()) return Bad("field 'passes' is not a list");
  for (size_t i = 0; i < passes.size(); ++i) {
    StatusOr<PlannedPass> planned = PassFromJson(passes[i], fmt::format("passes[{}]", i));
    if (!planned) return Bad(planned.error().message);
    plan.passes.push_back(*std::move(planned));
  }
  const Json& choices = FieldOf(json, "choices");
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
  const Json& flags = FieldOf(json, "flags");
  if (json.contains("flags") && !flags.is_object()) return Bad("field 'flags' is not an object");
  for (const auto& [name, value] : flags.items()) {
    if (!value.is_string()) return Bad(fmt::format("flag '{}' is not a text", name));
    plan.compile.flags.push_back({name, value.get<std::string>()});
  }
  Sort(plan.compile);
  return plan;
}

}  // namespace hone::tune
