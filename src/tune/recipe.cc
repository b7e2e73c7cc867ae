#include "tune/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "core/file_kinds.h"
#include "core/nearest.h"
#include "tune/plan_json.h"

namespace hone {
namespace {

using Json = nlohmann::ordered_json;

bool HasDecisions(const Recipe& recipe) {
  return std::any_of(recipe.decisions.begin(), recipe.decisions.end(),
                     [](const Decisions& decisions) { return !decisions.AcceptAll(); });
}

// Reads the fields of one object; the first thing that is wrong is kept, with its path.
class Fields {
 public:
  Fields(const Json& object, std::string path, std::string& complaint)
      : object_(object), path_(std::move(path)), complaint_(complaint) {}

  std::string Text(const char* name) {
    const Json* value = Find(name, &Json::is_string, "a text");
    return value == nullptr ? "" : value->get<std::string>();
  }

  // null stands for what JSON has no number for.
  double Number(const char* name) {
    const auto found = object_.find(name);
    if (found != object_.end() && found->is_null()) return std::numeric_limits<double>::infinity();
    const Json* value = Find(name, &Json::is_number, "a number");
    return value == nullptr ? 0 : value->get<double>();
  }

  uint64_t Unsigned(const char* name, uint64_t most) {
    const Json* value = Find(name, &Json::is_number_unsigned, "a whole number, zero or more");
    if (value == nullptr) return 0;
    if (value->get<uint64_t>() > most) Complain(name, fmt::format("is more than {}", most));
    return value->get<uint64_t>();
  }

  std::string Hex(const char* name) {
    std::string text = Text(name);
    const bool hex = text.size() == 32 && text.find_first_not_of("0123456789abcdef") == text.npos;
    if (!hex) Complain(name, "is not a fingerprint (32 hexadecimal digits)");
    return text;
  }

  void Passes(const char* name, Recipe& recipe) {
    const Json* value = Find(name, &Json::is_array, "a list of passes");
    if (value == nullptr) return;
    for (const Json& item : *value) {
      StatusOr<Plan> pass = PassFromJson(item, fmt::format("{}[{}]", name, recipe.passes.size()));
      if (!pass) {
        if (complaint_.empty()) complaint_ = pass.error().message;
        return;
      }
      recipe.passes.push_back(std::move(pass->pass));
      recipe.decisions.push_back(std::move(pass->decisions));
    }
    if (!HasDecisions(recipe)) recipe.decisions.clear();
  }

  Fields Object(const char* name) {
    static const Json kEmpty = Json::object();
    const Json* value = Find(name, &Json::is_object, "an object");
    return Fields(value == nullptr ? kEmpty : *value, path_ + name + ".", complaint_);
  }

  std::map<std::string, std::string> AllTexts() {
    std::map<std::string, std::string> texts;
    for (const auto& [name, value] : object_.items()) {
      if (value.is_string()) {
        texts[name] = value.get<std::string>();
      } else {
        Complain(name, "is not a text");
      }
    }
    return texts;
  }

  void Complain(const std::string& name, const std::string& what) {
    if (complaint_.empty()) complaint_ = fmt::format("field '{}{}' {}", path_, name, what);
  }

 private:
  const Json* Find(const char* name, bool (Json::*is)() const noexcept, const char* type) {
    const auto found = object_.find(name);
    if (found == object_.end()) {
      Complain(name, "is missing");
      return nullptr;
    }
    if (!((*found).*is)()) {
      Complain(name, fmt::format("is not {}", type));
      return nullptr;
    }
    return &*found;
  }

  const Json& object_;
  const std::string path_;
  std::string& complaint_;
};

// Whole values as whole numbers, and null for what JSON has no number for.
Json Value(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (value == std::floor(value) && std::abs(value) < 9e15) return static_cast<int64_t>(value);
  return value;
}

std::string DumpJson(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string RecipeToJson(const Recipe& recipe) {
  Json json;
  BeginFile(kRecipeFile, json);
  json["hone"] = recipe.hone_version;
  json["xla"] = recipe.xla_version;
  json["program"] = {{"file", recipe.program.file},
                     {"name", recipe.program.name},
                     {"fingerprint", recipe.program.fingerprint}};
  json["passes"] = Json::array();
  for (size_t i = 0; i < recipe.passes.size(); ++i) {
    json["passes"].push_back(PassToJson(
        {recipe.passes[i], recipe.decisions.empty() ? Decisions() : recipe.decisions[i]}));
  }
  json["result_fingerprint"] = recipe.result_fingerprint;
  json["objective"] = recipe.objective;
  json["values"] = {{"initial", Value(recipe.initial_value)},
                    {"default", Value(recipe.default_value)},
                    {"result", Value(recipe.result_value)}};
  json["seed"] = recipe.seed;
  json["flags"] = Json::object();
  for (const auto& [name, value] : recipe.flags) json["flags"][name] = value;
  json["verification"] = {{"verified", recipe.verification.verified},
                          {"method", recipe.verification.method},
                          {"inputs", recipe.verification.inputs},
                          {"worst_error", Value(recipe.verification.worst_error)}};
  return DumpJson(json);
}

StatusOr<Recipe> RecipeFromJson(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const char* const kHow = "; give a file that `hone optimize --recipe` wrote";
  if (json.is_discarded()) {
    return MakeError(ErrorCode::kInvalidInput, fmt::format("this is not JSON{}", kHow));
  }
  if (!IsOfKind(kRecipeFile, json)) {
    return MakeError(ErrorCode::kInvalidInput,
                     fmt::format("this is JSON, but no hone recipe: field 'format' is not "
                                 "\"hone recipe\"{}{}",
                                 OtherKind(text, kRecipeFile), kHow));
  }
  if (Status reads = CheckVersionIn(kRecipeFile, json); !reads) {
    return tl::unexpected(reads.error());
  }
  std::string complaint;
  Fields fields(json, "", complaint);
  // Every recipe ever written has said it.
  if (!json.contains("version") && !json.contains("format_version")) {
    fields.Complain("version", "is missing");
  }
  Recipe recipe;
  recipe.hone_version = fields.Text("hone");
  recipe.xla_version = fields.Text("xla");
  Fields program = fields.Object("program");
  recipe.program = {program.Text("file"), program.Text("name"), program.Hex("fingerprint")};
  fields.Passes("passes", recipe);
  recipe.result_fingerprint = fields.Hex("result_fingerprint");
  recipe.objective = fields.Text("objective");
  if (!ObjectiveFromName(recipe.objective)) {
    fields.Complain("objective", "is not an objective that this hone knows");
  }
  Fields values = fields.Object("values");
  recipe.initial_value = values.Number("initial");
  recipe.default_value = values.Number("default");
  recipe.result_value = values.Number("result");
  recipe.seed = fields.Unsigned("seed", UINT64_MAX);
  recipe.flags = fields.Object("flags").AllTexts();
  Fields verification = fields.Object("verification");
  recipe.verification = {verification.Text("verified"), verification.Text("method"),
                         static_cast<int>(verification.Unsigned("inputs", INT32_MAX)),
                         verification.Number("worst_error")};
  if (!complaint.empty()) {
    return MakeError(ErrorCode::kInvalidInput, "the recipe is broken: " + complaint + kHow);
  }
  return recipe;
}

StatusOr<PassId> FindPass(const std::vector<PassInfo>& passes, std::string_view name) {
  for (size_t i = 0; i < passes.size(); ++i) {
    if (passes[i].name == name) return static_cast<PassId>(i);
  }
  if (name.rfind("saturate", 0) == 0) {
    return MakeError(ErrorCode::kInvalidInput,
                     fmt::format("version 0.1's pass '{}' is gone (docs/decisions.md: no e-graph): "
                                 "look for another order with `hone optimize`",
                                 name));
  }
  std::vector<std::string> names;
  for (const PassInfo& pass : passes) names.push_back(pass.name);
  const std::string meant = DidYouMean(name, names);
  // A plan made with --target may have one of XLA:GPU's, which nothing else can run.
  return MakeError(ErrorCode::kInvalidInput,
                   fmt::format("there is no pass '{}'{}; `hone passes` lists them{}", name, meant,
                               meant.empty() ? ", with --target those of XLA:GPU" : ""));
}

StatusOr<std::vector<PassId>> FindPasses(const std::vector<PassInfo>& passes,
                                         const std::vector<std::string>& names) {
  std::vector<PassId> ids;
  for (const std::string& name : names) {
    const StatusOr<PassId> id = FindPass(passes, name);
    if (!id) return tl::unexpected(id.error());
    ids.push_back(*id);
  }
  return ids;
}

namespace {

// A pass that goes by the addresses of instructions may make it another way: what it made before,
// it makes again soon, or never.
constexpr int kTries = 3;

// From the program, step by step. Every pass is a link, also one that changed nothing that the
// fingerprint sees: what replays is the recipe, pass by pass.
StatusOr<StateName> RunPasses(Pool& pool, const ProgramInfo& program,
                              const std::vector<PassId>& passes,
                              const std::vector<DecisionsPtr>& decisions) {
  ApplyRequest request;
  request.from.program = program.id;
  request.passes = passes;
  request.decisions = decisions;
  request.options.fresh = true;
  request.options.verify = true;
  StatusOr<Applied> applied = pool.Apply(request);
  if (!applied) return tl::unexpected(applied.error());
  StateName state{program.id, {}};
  for (const Step& step : applied->steps) {
    if (!step.failure.empty()) {
      return MakeError(
          ErrorCode::kPassFailed,
          fmt::format("pass '{}' (number {} of {}) fails: {}", pool.passes()[step.pass].name,
                      state.links.size() + 1, passes.size(), step.failure));
    }
    const size_t at = state.links.size();
    state.links.push_back({step.pass, step.state, decisions.empty() ? nullptr : decisions[at]});
  }
  return state;
}

}  // namespace

StatusOr<Replayed> Replay(Pool& pool, const ProgramInfo& program, const Recipe& recipe,
                          ExportFormat format, const CompareOptions& comparing) {
  const bool own_constants = recipe.flags.count(kStandInsFlag) > 0 &&
                             program.stand_in_constants == 0 && !program.elided_constants &&
                             program.name == recipe.program.name;
  if (!own_constants && program.fingerprint.ToHex() != recipe.program.fingerprint) {
    return MakeError(
        ErrorCode::kInvalidInput,
        fmt::format("this is not the recipe's program: its fingerprint is {}, the "
                    "recipe's is {} ('{}'); give the right file with --program",
                    program.fingerprint.ToHex(), recipe.program.fingerprint, recipe.program.file));
  }
  StatusOr<std::vector<PassId>> passes = FindPasses(pool.passes(), recipe.passes);
  if (!passes) return tl::unexpected(passes.error());
  std::vector<DecisionsPtr> decisions;
  for (const Decisions& of_pass : recipe.decisions) {
    decisions.push_back(std::make_shared<const Decisions>(of_pass));
  }
  Replayed replayed;
  for (int tries = 0; tries < kTries && !replayed.as_recorded; ++tries) {
    const StatusOr<StateName> state = RunPasses(pool, program, *passes, decisions);
    if (!state) return tl::unexpected(state.error());
    pool.EndProcesses();  // as OptimizeOptions::same_bytes
    StatusOr<Exported> exported = pool.Export(*state, format);
    if (!exported) return tl::unexpected(exported.error());
    replayed.result = *std::move(exported);
    replayed.as_recorded = replayed.result.state.ToHex() == recipe.result_fingerprint;
  }
  const StatusOr<ProgramInfo> made = pool.Load(replayed.result.bytes);
  if (!made) return tl::unexpected(made.error());
  replayed.metrics = made->metrics;
  StatusOr<ComparisonReport> report = ComparisonReport();
  if (!replayed.as_recorded) report = pool.Compare({program.id, {}}, {made->id, {}}, comparing);
  pool.Unload(made->id);
  if (replayed.as_recorded || (report && report->verdict == Verdict::kEqual)) return replayed;
  const bool other = recipe.xla_version != pool.version();
  return MakeError(
      ErrorCode::kUnsupported,
      fmt::format(
          "the replay ends at another program than the recipe: {} instead of {}, and it is "
          "not known to compute the same ({}); {}",
          replayed.result.state.ToHex(), recipe.result_fingerprint,
          report ? report->reason : report.error().message,
          other ? fmt::format("the recipe is of {}, this is {}", recipe.xla_version, pool.version())
                : "the recipe was changed by hand, or hone is at fault"));
}

}  // namespace hone
