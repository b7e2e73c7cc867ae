// JSON shared by plans and recipes: a run of a pass, and the decisions about its rewrites.
#ifndef HONE_TUNE_PLAN_JSON_H_
#define HONE_TUNE_PLAN_JSON_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "tune/plan.h"

namespace hone {

// The member of an object, null where there is none. Not a copy: copying the deep nesting of a
// hostile file would overflow the stack.
const nlohmann::ordered_json& FieldOf(const nlohmann::ordered_json& json, const char* name);

// Parses 16 hexadecimal digits, as KeyText writes them.
std::optional<SiteKey> KeyFromText(std::string_view text);

// The name alone where the pass is as it is; else
// {"pass", "otherwise", "seed", "choices": {"<16 hex digits>": bool, …}}.
nlohmann::ordered_json PassToJson(const Plan& plan);
// The same, always as that object's fields, added to `json`.
void AddPass(const Plan& plan, nlohmann::ordered_json& json);

// Reads either form. Fields that an object leaves out are as in the plain pass. The error says
// which field is wrong and how; `where` names the value itself, "passes[3]", and is empty for a
// whole file.
StatusOr<Plan> PassFromJson(const nlohmann::ordered_json& json, const std::string& where);

}  // namespace hone

#endif  // HONE_TUNE_PLAN_JSON_H_
