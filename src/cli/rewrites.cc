// hone rewrites: what a pass would do to a program, rewrite by rewrite, and some of it done.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/input.h"
#include "cli/kernels.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "jobs/report_rewrites.h"
#include "tune/plan.h"
#include "tune/recipe.h"

namespace hone::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string file;
  std::string pass;
  std::string after;
  std::string apply;
  std::string plan;
  std::string plan_output;
  std::string output;
  std::string report;
  uint64_t seed = 1;
  size_t most = 40;
  bool texts = false;
  bool verify = false;
};

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

std::string Table(const Rewrites& rewrites, const std::string& pass, const Options& options) {
  std::string text = fmt::format("{:>6}  {:19} {:8} {:>6} {:>10}  {}\n", "SITE", "KIND", "STATUS",
                                 "OPS", "BYTES", "INSTRUCTION");
  const size_t shown = std::min(options.most, rewrites.sites.size());
  for (size_t i = 0; i < shown; ++i) {
    const RewriteSite& site = rewrites.sites[i];
    text += fmt::format("{:>6}  {:19} {:8} {:>+6} {:>+10.3g}  {} in {}{}\n", i,
                        RewriteKindName(site.kind), SiteStatusName(site.status),
                        site.delta_op_count, site.delta_bytes, site.instruction, site.computation,
                        site.reason.empty() ? "" : " (" + site.reason + ")");
    if (!options.texts) continue;
    for (const auto& [mark, lines] : {std::pair{'-', site.original}, {'+', site.replacement}}) {
      std::stringstream stream(lines);
      for (std::string line; std::getline(stream, line);) {
        text += fmt::format("        {} {}\n", mark, line);
      }
    }
  }
  if (shown < rewrites.sites.size()) {
    text += fmt::format("   ...  {} more: --most {} or --json\n", rewrites.sites.size() - shown,
                        rewrites.sites.size());
  }
  text += fmt::format("{} rewrites of {}, {} pairs in conflict{}\n", rewrites.sites.size(), pass,
                      rewrites.conflicts.size(),
                      rewrites.separable ? "" : "; the pass cannot be taken apart");
  return text;
}

// The state to look at: the program, or what --after makes of it.
StatusOr<StateName> StartingState(Pool& pool, const ProgramInfo& program, const Options& options) {
  StateName state{program.id, {}};
  if (options.after.empty()) return state;
  std::vector<std::string> names;
  std::stringstream stream(options.after);
  for (std::string name; std::getline(stream, name, ',');) names.push_back(name);
  StatusOr<std::vector<PassId>> passes = FindPasses(pool.passes(), names);
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

StatusOr<Decisions> Decide(const Options& options, const Rewrites& rewrites,
                           const std::string& pass) {
  StatusOr<Decisions> decisions = Decisions();
  if (!options.plan.empty()) {
    StatusOr<std::string> text = ReadInput(options.plan, options.common.MostInputBytes());
    if (!text) return tl::unexpected(text.error());
    StatusOr<Plan> plan = PlanFromJson(*text);
    if (!plan) return tl::unexpected(plan.error());
    if (plan->pass != pass) {
      return MakeError(ErrorCode::kInvalidInput,
                       fmt::format("the plan is for pass '{}', not for '{}'", plan->pass, pass));
    }
    return plan->decisions;
  }
  decisions = DecisionsFromText(options.apply, rewrites);
  if (decisions && decisions->otherwise == Otherwise::kHalf) decisions->seed = options.seed;
  return decisions;
}

// Sites that were accepted, as far as they were listed: for a plan by content.
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

int RunRewrites(const Options& options) {
  const bool json = options.common.json;
  for (const std::string& path : {options.output, options.plan_output}) {
    if (path.empty()) continue;
    if (Status writable = CheckWritable(path); !writable) return Fail(writable.error(), path, json);
  }
  if (Status fine = CheckReport(options.report); !fine) {
    return Fail(fine.error(), options.report, json);
  }
  StatusOr<std::string> file = FindInput(options.file, options.common.datasets);
  if (!file) return Fail(file.error(), options.file, json);
  StatusOr<std::string> data = ReadInput(*file, options.common.MostInputBytes());
  if (!data) return Fail(data.error(), *file, json);
  auto pool = StartPool(options.common);
  if (!pool) return Fail(pool.error(), json);
  const StatusOr<PassId> pass = FindPass((*pool)->passes(), options.pass);
  if (!pass) return Fail(pass.error(), json);
  const std::string& name = (*pool)->passes()[*pass].name;
  Progress progress(options.common.ShowProgress());
  progress.Show("reading " + *file);
  StatusOr<ProgramInfo> program = (*pool)->Load(*std::move(data));
  if (!program) return Fail(program.error(), *file, json);
  WarnOfStandIns(*file, *program);
  StatusOr<StateName> state = StartingState(**pool, *program, options);
  if (!state) return Fail(state.error(), *file, json);
  progress.Show("dry run of " + name);
  RewritesOptions listing;
  listing.texts = json || options.texts || !options.report.empty();
  listing.time_pass = json;
  const StatusOr<Rewrites> rewrites = (*pool)->ListRewrites(*state, *pass, listing);
  if (!rewrites) return Fail(rewrites.error(), *file, json);
  jobs::RewritesReport about{*file, *program, *state, name, *rewrites, {}, {}, {}};
  const auto write_report = [&]() -> Status {
    if (options.report.empty()) return {};
    return WriteReport(options.report, MakeReport(**pool, about));
  };
  if (options.apply.empty() && options.plan.empty()) {
    progress.Clear();
    if (Status wrote = write_report(); !wrote) return Fail(wrote.error(), options.report, json);
    if (json) return Finish(ToJson(*rewrites, *file, name), kFine);
    return Finish(Table(*rewrites, name, options), kFine);
  }

  StatusOr<Decisions> decisions = Decide(options, *rewrites, name);
  if (!decisions) return Fail(decisions.error(), options.plan, json);
  ApplyRequest request;
  request.from = *state;
  request.passes = {*pass};
  request.decisions = {std::make_shared<const Decisions>(*decisions)};
  request.options.fresh = true;
  request.options.verify = true;
  progress.Show("applying " + name);
  const StatusOr<Applied> applied = (*pool)->Apply(request);
  if (!applied) return Fail(applied.error(), *file, json);
  const Step& step = applied->steps.at(0);
  if (!step.failure.empty()) {
    return Fail({ErrorCode::kPassFailed, "these rewrites of " + name + " fail: " + step.failure},
                *file, json);
  }
  StateName result = *state;
  if (step.changed) result.links.push_back({*pass, step.state, request.decisions[0]});
  // What is compared, told of and written is this one.
  const StatusOr<Exported> exported = (*pool)->Export(result, FormatFor(options.output));
  if (!exported) return Fail(exported.error(), *file, json);
  const StatusOr<ProgramInfo> made = (*pool)->Load(exported->bytes);
  if (!made) return Fail(made.error(), *file, json);
  result = {made->id, {}};
  Json out;
  out["file"] = *file;
  out["pass"] = name;
  out["fingerprint"] = rewrites->state.ToHex();
  out["result_fingerprint"] = exported->state.ToHex();
  out["sites"] = rewrites->sites.size();
  out["changed"] = step.changed;
  out["op_count"] = made->metrics.op_count;
  std::string text = fmt::format("{}: {} instructions{}\n", name, Grouped(made->metrics.op_count),
                                 step.changed ? "" : ", nothing changed");
  int code = kFine;
  if (options.verify) {
    progress.Show("comparing outputs");
    StatusOr<ComparisonReport> report =
        (*pool)->Compare({program->id, {}}, result, CompareOptions());
    if (!report) {  // the program is as good as it was
      ComparisonReport broken;
      broken.method = "none";
      broken.reason = "the comparison broke down: " + report.error().message;
      report = broken;
    }
    about.comparison = *report;
    const char* const verdict = report->verdict == Verdict::kEqual       ? "true"
                                : report->verdict == Verdict::kDifferent ? "false"
                                                                         : "unknown";
    out["verified"] = verdict;
    out["verification_reason"] = report->reason;
    text += fmt::format("computes the same: {}{}\n", verdict,
                        report->reason.empty() ? "" : " (" + report->reason + ")");
    if (report->verdict == Verdict::kDifferent) code = kDifferent;
  }
  progress.Clear();
  about.result = result;
  about.metrics = made->metrics;
  if (Status wrote = write_report(); !wrote) return Fail(wrote.error(), options.report, json);
  if (!options.output.empty()) {
    if (Status written = WriteProgram(options.output, exported->bytes, options.common); !written) {
      return Fail(written.error(), options.output, json);
    }
  }
  if (!options.plan_output.empty()) {
    const std::string plan = PlanToJson({name, ByContent(*decisions, *rewrites)});
    if (Status written = WriteFile(options.plan_output, plan); !written) {
      return Fail(written.error(), options.plan_output, json);
    }
  }
  return json ? Finish(out, code) : Finish(text, code);
}

}  // namespace

Run AddRewrites(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("file", options->file, "the program")->required()->type_name("FILE");
  app.add_option("--pass", options->pass, "whose rewrites (`hone passes` lists the passes)")
      ->required()
      ->type_name("PASS");
  app.add_option("--after", options->after, "run these passes first, commas between them")
      ->type_name("PASSES");
  auto* apply = app.add_option("--apply", options->apply,
                               fmt::format("make rewrites: all, none, {}, or numbers of sites "
                                           "such as 0,3,7-9",
                                           fmt::join(kOtherwiseNames, ", ")))
                    ->type_name("WHICH");
  auto* plan = app.add_option("--plan", options->plan, "make the rewrites that this plan chooses")
                   ->type_name("FILE")
                   ->excludes(apply);
  app.add_option("-o,--output", options->output, "write the program with those rewrites")
      ->type_name("FILE");
  app.add_option("--plan-out", options->plan_output,
                 "write the choices by what the sites look like, for this or other programs")
      ->type_name("FILE");
  AddReportOption(app, options->report);
  app.add_option("--seed", options->seed, "of `--apply half`")->capture_default_str();
  app.add_option("--most", options->most, "sites to show")->capture_default_str();
  app.add_flag("--texts", options->texts, "show originals and replacements");
  app.add_flag("--verify", options->verify, "run both and compare the outputs");
  AddDatasetsOption(app, options->common.datasets);
  AddCommonOptions(app, options->common);
  (void)plan;
  return [options] { return RunRewrites(*options); };
}

}  // namespace hone::cli
