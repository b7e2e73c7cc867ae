#include "jobs/rewrites.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "jobs/optimize.h"
#include "tune/plan.h"
#include "tune/recipe.h"

namespace hone::jobs {
namespace {

// The state to look at: the program, or what the passes make of it.
StatusOr<StateName> StartingState(Pool& pool, const ProgramInfo& program,
                                  const std::vector<std::string>& after) {
  StateName state{program.id, {}};
  if (after.empty()) return state;
  StatusOr<std::vector<PassId>> passes = FindPasses(pool.passes(), after);
  if (!passes) return tl::unexpected(passes.error());
  ApplyRequest request;
  request.from = state;
  request.passes = *passes;
  request.options.verify = true;
  StatusOr<Applied> applied = pool.Apply(request);
  if (!applied) return tl::unexpected(applied.error());
  for (const Step& step : applied->steps) {
    if (!step.failure.empty()) {
      return MakeError(
          ErrorCode::kPassFailed,
          fmt::format("{} of --after fails: {}", pool.passes()[step.pass].name, step.failure));
    }
    if (step.changed) state.links.push_back({step.pass, step.state});
  }
  return state;
}

Json ToJson(const RewriteSite& site, size_t id) {
  return {{"id", id},
          {"kind", RewriteKindName(site.kind)},
          {"status", SiteStatusName(site.status)},
          {"computation", site.computation},
          {"instruction", site.instruction},
          {"opcode", site.opcode},
          {"original", site.original},
          {"replacement", site.replacement},
          {"reason", site.reason},
          {"delta_op_count", site.delta_op_count},
          {"delta_flops", site.delta_flops},
          {"delta_bytes", site.delta_bytes},
          {"place", KeyText(site.place)},
          {"content", KeyText(site.content)}};
}

}  // namespace

StatusOr<ListedRewrites> ListRewrites(Pool& pool, const ProgramInfo& program,
                                      const ListRewritesOptions& options, Events& events) {
  const ClearAtEnd clear(events);
  const StatusOr<PassId> pass = FindPass(pool.passes(), options.pass);
  if (!pass) return tl::unexpected(pass.error());
  StatusOr<StateName> state = StartingState(pool, program, options.after);
  if (!state) return tl::unexpected(state.error());
  events.Show("dry run of " + options.pass);
  RewritesOptions listing;
  listing.texts = options.texts;
  listing.time_pass = options.time_pass;
  StatusOr<Rewrites> rewrites = pool.ListRewrites(*state, *pass, listing);
  if (!rewrites) return tl::unexpected(rewrites.error());
  return ListedRewrites{*pass, *std::move(state), *std::move(rewrites)};
}

StatusOr<MadeRewrites> MakeRewrites(Pool& pool, const ProgramInfo& program,
                                    const ListedRewrites& listed, const Decisions& decisions,
                                    ExportFormat format, bool compare, Events& events) {
  const ClearAtEnd clear(events);
  const std::string& name = pool.passes()[listed.pass].name;
  ApplyRequest request;
  request.from = listed.state;
  request.passes = {listed.pass};
  request.decisions = {std::make_shared<const Decisions>(decisions)};
  request.options.fresh = true;
  request.options.verify = true;
  events.Show("applying " + name);
  const StatusOr<Applied> applied = pool.Apply(request);
  if (!applied) return tl::unexpected(applied.error());
  const Step& step = applied->steps.at(0);
  if (!step.failure.empty()) {
    return MakeError(ErrorCode::kPassFailed,
                     "these rewrites of " + name + " fail: " + step.failure);
  }
  StateName result = listed.state;
  if (step.changed) result.links.push_back({listed.pass, step.state, request.decisions[0]});
  // What is compared, told of and written is this one.
  StatusOr<Exported> exported = pool.Export(result, format);
  if (!exported) return tl::unexpected(exported.error());
  StatusOr<ProgramInfo> made = pool.Load(exported->bytes);
  if (!made) return tl::unexpected(made.error());
  MadeRewrites all{step.changed, std::move(exported->bytes), exported->state, *std::move(made),
                   std::nullopt};
  if (!compare) return all;
  events.Show("comparing outputs");
  StatusOr<ComparisonReport> report =
      pool.Compare({program.id, {}}, {all.program.id, {}}, CompareOptions());
  if (!report) {  // the program is as good as it was
    ComparisonReport broken;
    broken.method = "none";
    broken.reason = "the comparison broke down: " + report.error().message;
    report = std::move(broken);
  }
  all.comparison = *std::move(report);
  return all;
}

Recipe RecipeOf(const Pool& pool, const ProgramInfo& program, const std::string& file,
                const ListedRewrites& listed, const Decisions& decisions,
                const MadeRewrites& made) {
  Recipe recipe = StartRecipe(pool, program, file);
  for (const Link& link : listed.state.links) {
    recipe.passes.push_back(pool.passes()[link.pass].name);
  }
  recipe.decisions.resize(recipe.passes.size());
  if (made.changed) {
    recipe.passes.push_back(pool.passes()[listed.pass].name);
    recipe.decisions.push_back(decisions);
  }
  recipe.result_fingerprint = made.fingerprint.ToHex();
  recipe.objective = ObjectiveName(Objective::kOpCount);
  recipe.initial_value = static_cast<double>(program.metrics.op_count);
  recipe.result_value = static_cast<double>(made.program.metrics.op_count);
  if (!made.comparison) return recipe;
  const ComparisonReport& report = *made.comparison;
  recipe.verification = {report.verdict == Verdict::kEqual ? "true" : "false", report.method,
                         report.inputs, report.worst_error};
  if (!report.reason.empty()) recipe.verification.method += ": " + report.reason;
  return recipe;
}

Decisions ByContent(const Decisions& decisions, const Rewrites& rewrites) {
  if (decisions.choices.empty()) return decisions;
  std::vector<uint32_t> chosen;
  for (uint32_t i = 0; i < rewrites.sites.size(); ++i) {
    for (const SiteChoice& choice : decisions.choices) {
      if (choice.key == rewrites.sites[i].place && choice.accept) chosen.push_back(i);
    }
  }
  return chosen.empty() ? decisions : ChooseContents(rewrites, chosen);
}

Json ToJson(const Rewrites& rewrites, const std::string& file, const std::string& pass) {
  Json json;
  json["file"] = file;
  json["pass"] = pass;
  json["fingerprint"] = rewrites.state.ToHex();
  json["separable"] = rewrites.separable;
  json["sites"] = Json::array();
  for (size_t i = 0; i < rewrites.sites.size(); ++i) {
    json["sites"].push_back(ToJson(rewrites.sites[i], i));
  }
  json["conflicts"] = Json::array();
  for (const auto& [i, j] : rewrites.conflicts) json["conflicts"].push_back({i, j});
  json["seconds"] = {{"pass", rewrites.pass_seconds},
                     {"dry_run", rewrites.dry_seconds},
                     {"listing", rewrites.list_seconds}};
  return json;
}

}  // namespace hone::jobs
