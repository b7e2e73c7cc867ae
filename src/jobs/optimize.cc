#include "jobs/optimize.h"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "core/objective.h"
#include "jobs/place.h"
#include "jobs/version.h"
#include "report/words.h"
#include "tune/recipe.h"

namespace hone::jobs {
namespace {

using report::Grouped;

constexpr int kLeastDevicePairs = 20;

CompareOptions Comparing(const OptimizeProgramOptions& options) {
  CompareOptions compare = options.search.compare;
  compare.seed = options.search.seed;
  return compare;
}

StatusOr<OptimizeResult> Search(Pool& pool, const ProgramInfo& program,
                                const OptimizeProgramOptions& options,
                                const std::vector<std::string>& known, Events& events) {
  const ClearAtEnd clear(events);
  OptimizeOptions search = options.search;
  search.same_bytes = true;
  search.compare = Comparing(options);
  if (search.verify) {
    if (Status given = options.inputs.Read(pool, program, options.file, &search.compare); !given) {
      return tl::unexpected(given.error());
    }
  }
  search.interrupted = events.stop();
  if (!known.empty()) search.known.push_back(known);
  const auto text = [&](double value) { return ValueText(search.objective, value); };
  std::shared_ptr<void> verifying;
  search.progress = [&](const OptimizeProgress& now) {
    verifying.reset();
    if (now.phase == "verify") {
      events.Clear();
      verifying = events.During(fmt::format("verifying {}, {} -> {}, for {:.0f} s at most",
                                            options.file, text(now.initial), text(now.best),
                                            search.compare.budget_seconds));
    } else if (events.Due()) {
      events.Show(fmt::format("{}: {} {:.0f} s, {} steps, {} -> {} (XLA's own order: {})",
                              options.file, now.phase, now.seconds, Grouped(now.steps),
                              text(now.initial), text(now.best), text(now.by_default)));
    }
  };
  return Optimize(pool, program, search);
}

StatusOr<OnDevice> Measure(Pool& pool, const ProgramInfo& program,
                           const OptimizeProgramOptions& options, const std::vector<PassId>& passes,
                           Events& events) {
  const auto waiting = events.During("measuring " + options.file);
  StateName state{program.id, {}};
  for (const PassId pass : passes) state.links.push_back({pass, {}});
  RaceOptions racing;
  racing.budget_seconds = options.device_seconds;
  racing.least_pairs = kLeastDevicePairs;
  racing.seed = options.search.seed;
  CompareOptions comparing = Comparing(options);
  if (Status given = options.inputs.Read(pool, program, options.file, &comparing); !given) {
    return tl::unexpected(given.error());
  }
  return TryOnDevice(pool, program, state, *options.device, racing,
                     options.search.verify ? &comparing : nullptr, events.stop());
}

// Which answer of a store is meant.
store::Answer Asked(const Pool& pool, const ProgramInfo& program,
                    const OptimizeProgramOptions& options) {
  store::Answer asked;
  asked.program = program.fingerprint.ToHex();
  asked.kind = "order";
  asked.machine = PlaceOf(pool).Machine();
  asked.xla = pool.version();
  asked.question =
      fmt::format("{} {}", ObjectiveName(options.search.objective), options.search.actions);
  return asked;
}

// The result, which is verified, where it is better than what is there or that did not stand.
Status Keep(const Pool& pool, const ProgramInfo& program, const OptimizeProgramOptions& options,
            const std::optional<store::Answer>& known, const OptimizedProgram& optimized) {
  if (known && optimized.result.value > known->cost) {
    if (Status gone = options.store->ForgetAnswer(*known); !gone) return gone;
  }
  store::Answer answer = Asked(pool, program, options);
  answer.cost = optimized.result.value;
  answer.verified = optimized.Verified();
  answer.text = RecipeToJson(RecipeOf(pool, program, options, optimized));
  return options.store->AddAnswer(
      {answer.program, program.name, options.file, program.metrics.op_count}, answer);
}

}  // namespace

const char* OptimizedProgram::Verified() const {
  return !result.verification_ran ? "skipped" : result.verified() ? "true" : "false";
}

std::optional<double> OptimizedProgram::Ratio() const {
  if (result.by_default >= result.initial) return std::nullopt;
  return (result.initial - result.value) / (result.initial - result.by_default);
}

StatusOr<OptimizedProgram> OptimizeProgram(Pool& pool, const ProgramInfo& program,
                                           const OptimizeProgramOptions& options, Events& events) {
  if (program.elided_constants && !options.allow_unverified) {
    return MakeError(ErrorCode::kInvalidInput,
                     "its text has elided constants, {...}: their values are lost, so it cannot be "
                     "run and no result can be verified; dump it again with large constants, or "
                     "give --stand-in-constants, which makes values up for them, or "
                     "--allow-unverified");
  }
  StatusOr<std::optional<store::Answer>> known = std::optional<store::Answer>();
  std::vector<std::string> passes;
  if (options.store != nullptr) {
    known = options.store->FindAnswer(Asked(pool, program, options));
    if (!known) return tl::unexpected(known.error());
  }
  if (*known) {
    // One that this hone cannot read is no start.
    if (const auto recipe = RecipeFromJson((*known)->text)) passes = recipe->passes;
  }
  StatusOr<OptimizeResult> result = Search(pool, program, options, passes, events);
  if (!result) return tl::unexpected(result.error());
  OptimizedProgram optimized{*std::move(result), std::nullopt, "", std::nullopt};
  if (*known) optimized.stored = (*known)->cost;
  if (options.device != nullptr) {
    StatusOr<OnDevice> measured = Measure(pool, program, options, optimized.result.passes, events);
    if (!measured) return tl::unexpected(measured.error());
    optimized.on_device = *std::move(measured);
  }
  if (!optimized.result.verified() && !options.allow_unverified) {
    optimized.withheld = "the result is not verified (" +
                         (optimized.result.verification_ran ? optimized.result.verification.reason
                                                            : "verification was skipped") +
                         ")";
  }
  if (options.store != nullptr && optimized.result.verified()) {
    if (Status kept = Keep(pool, program, options, *known, optimized); !kept) {
      return tl::unexpected(kept.error());
    }
  }
  return optimized;
}

Recipe StartRecipe(const Pool& pool, const ProgramInfo& program, const std::string& file) {
  Recipe recipe;
  recipe.hone_version = HoneVersion();
  recipe.xla_version = pool.version();
  recipe.program = {file, program.name, program.fingerprint.ToHex()};
  if (program.stand_in_constants > 0) {
    recipe.flags[kStandInsFlag] = std::to_string(program.stand_in_constants);
  }
  return recipe;
}

Recipe RecipeOf(const Pool& pool, const ProgramInfo& program, const OptimizeProgramOptions& options,
                const OptimizedProgram& optimized) {
  const OptimizeResult& result = optimized.result;
  const OptimizeOptions& search = options.search;
  Recipe recipe = StartRecipe(pool, program, options.file);
  recipe.passes = NamesOf(pool, result.passes);
  recipe.result_fingerprint = result.state.ToHex();
  recipe.objective = ObjectiveName(search.objective);
  recipe.initial_value = result.initial;
  recipe.default_value = result.by_default;
  recipe.result_value = result.value;
  recipe.seed = search.seed;
  recipe.flags["actions"] = search.actions;
  recipe.flags["search"] = search.search;
  if (search.budget_seconds > 0) {
    recipe.flags["budget_seconds"] = fmt::format("{}", search.budget_seconds);
  }
  if (search.budget_steps > 0) recipe.flags["budget_steps"] = std::to_string(search.budget_steps);
  const ComparisonReport& report = result.verification;
  recipe.verification = {optimized.Verified(), report.method, report.inputs, report.worst_error};
  if (!report.reason.empty()) recipe.verification.method += ": " + report.reason;
  return recipe;
}

Json ToJson(const Pool& pool, const ProgramInfo& program, const OptimizeProgramOptions& options,
            const OptimizedProgram& optimized, double seconds, bool timing) {
  const OptimizeResult& result = optimized.result;
  Json json;
  json["file"] = options.file;
  json["instructions"] = program.metrics.op_count;
  json["objective"] = ObjectiveName(options.search.objective);
  json["initial"] = result.initial;
  json["default"] = result.by_default;
  json["result"] = result.value;
  const std::optional<double> ratio = optimized.Ratio();
  json["ratio"] = ratio ? Json(*ratio) : Json(nullptr);
  json["verified"] = result.verification_ran ? Json(result.verified()) : Json("skipped");
  const ComparisonReport& report = result.verification;
  json["verification"] = {{"method", report.method},
                          {"inputs", report.inputs},
                          {"worst_error", report.worst_error},
                          {"finite_share", report.finite_share},
                          {"reason", report.reason},
                          {"seconds", result.verify_seconds},
                          {"compile_seconds", report.compile_seconds},
                          {"processor_seconds", report.processor_seconds}};
  json["passes"] = NamesOf(pool, result.passes);
  json["steps"] = result.steps;
  json["evaluated"] = result.evaluated;
  json["passes_run"] = result.timing.passes_run;
  json["seconds"] = seconds;
  json["search_seconds"] = result.search_seconds;
  json["steps_per_second"] = static_cast<double>(result.steps) / result.search_seconds;
  json["passes_run_per_second"] =
      static_cast<double>(result.timing.passes_run) / result.search_seconds;
  json["seconds_in_xla"] = result.timing.InXla();
  json["stop_reason"] = StopReasonName(result.stop_reason);
  json["failures"] = Json::array();
  for (const Failure& failure : result.failures) {
    json["failures"].push_back(
        {{"pass", failure.pass}, {"why", failure.why}, {"times", failure.times}});
  }
  json["rejected"] = result.rejected;
  if (!result.default_complaint.empty()) json["no_default"] = result.default_complaint;
  json["best_so_far"] = Json::array();
  for (const Improvement& better : result.improvements) {
    json["best_so_far"].push_back(
        {{"steps", better.steps}, {"seconds", better.seconds}, {"value", better.value}});
  }
  json["fingerprint"] = result.state.ToHex();
  if (optimized.stored) json["stored"] = *optimized.stored;
  AddStandIns(program, json);
  if (timing) json["timing"] = TimingJson(result.timing);
  if (optimized.on_device) json["on_device"] = OnDeviceJson(*options.device, *optimized.on_device);
  return json;
}

std::vector<std::string> NamesOf(const Pool& pool, const std::vector<PassId>& passes) {
  std::vector<std::string> names;
  for (const PassId pass : passes) names.push_back(pool.passes()[pass].name);
  return names;
}

std::string ValueText(Objective objective, double value) {
  if (InfoOf(objective).unit == Unit::kSeconds) return report::HumanSeconds(value);
  return value < 1e7 ? Grouped(static_cast<int64_t>(value)) : report::HumanCount(value);
}

}  // namespace hone::jobs
