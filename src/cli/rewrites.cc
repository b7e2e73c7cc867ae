// hone rewrites: what a pass would do to a program, rewrite by rewrite, and some of it done.
#include "jobs/rewrites.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/report.h"
#include "jobs/report_rewrites.h"
#include "jobs/run_passes.h"
#include "tune/plan.h"
#include "tune/recipe.h"

namespace hone::cli {
namespace {

struct RewritesOptions {
  CommonOptions common;
  std::string file;
  std::string pass;
  std::string after;
  std::string apply;
  std::string plan;
  std::string plan_output;
  std::string output;
  std::string recipe;
  std::string report;
  uint64_t seed = 1;
  size_t most = 40;
  bool texts = false;
  bool verify = false;
};

std::string Table(const Rewrites& rewrites, const RewritesOptions& options) {
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
  text += fmt::format("{} rewrites of {}, {} pairs in conflict{}\n", rewrites.sites.size(),
                      options.pass, rewrites.conflicts.size(),
                      rewrites.separable ? "" : "; the pass cannot be taken apart");
  return text;
}

StatusOr<Decisions> Decide(const RewritesOptions& options, const Rewrites& rewrites) {
  StatusOr<Decisions> decisions = Decisions();
  if (!options.plan.empty()) {
    StatusOr<std::string> text = ReadInput(options.plan, options.common.MostInputBytes());
    if (!text) return tl::unexpected(text.error());
    StatusOr<Plan> plan = PlanFromJson(*text);
    if (!plan) return tl::unexpected(plan.error());
    if (plan->pass != options.pass) {
      return MakeError(
          ErrorCode::kInvalidInput,
          fmt::format("the plan is for pass '{}', not for '{}'", plan->pass, options.pass));
    }
    return plan->decisions;
  }
  decisions = DecisionsFromText(options.apply, rewrites);
  if (decisions && decisions->otherwise == Otherwise::kHalf) decisions->seed = options.seed;
  return decisions;
}

int RunRewrites(const RewritesOptions& options) {
  const bool json = options.common.json;
  for (const std::string& path : {options.output, options.plan_output, options.recipe}) {
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
  auto started = StartPool(options.common);
  if (!started) return Fail(started.error(), json);
  Pool& pool = **started;
  if (auto pass = FindPass(pool.passes(), options.pass); !pass) return Fail(pass.error(), json);
  CommandEvents events(options.common.ShowProgress());
  events.Show("reading " + *file);
  const StatusOr<ProgramInfo> program = pool.Load(*std::move(data));
  if (!program) return Fail(program.error(), *file, json);
  WarnOfStandIns(*file, *program);
  const bool texts = json || options.texts || !options.report.empty();
  const auto listed = ListRewrites(
      pool, *program, {options.pass, jobs::SplitNames(options.after), texts, json}, events);
  if (!listed) return Fail(listed.error(), *file, json);
  const Rewrites& rewrites = listed->rewrites;
  jobs::RewritesReport about{*file, *program, listed->state, options.pass, rewrites, {}, {}, {}};
  const auto write_report = [&]() -> Status {
    if (options.report.empty()) return {};
    return WriteReport(options.report, MakeReport(pool, about));
  };
  if (options.apply.empty() && options.plan.empty()) {
    if (Status wrote = write_report(); !wrote) return Fail(wrote.error(), options.report, json);
    if (json) return Finish(jobs::ToJson(rewrites, *file, options.pass), kFine);
    return Finish(Table(rewrites, options), kFine);
  }

  const StatusOr<Decisions> decisions = Decide(options, rewrites);
  if (!decisions) return Fail(decisions.error(), options.plan, json);
  const auto made = MakeRewrites(pool, *program, *listed, *decisions, FormatFor(options.output),
                                 options.verify, events);
  if (!made) return Fail(made.error(), *file, json);
  Json out;
  out["file"] = *file;
  out["pass"] = options.pass;
  out["fingerprint"] = rewrites.state.ToHex();
  out["result_fingerprint"] = made->fingerprint.ToHex();
  out["sites"] = rewrites.sites.size();
  out["changed"] = made->changed;
  out["op_count"] = made->program.metrics.op_count;
  std::string text =
      fmt::format("{}: {} instructions{}\n", options.pass, Grouped(made->program.metrics.op_count),
                  made->changed ? "" : ", nothing changed");
  int code = kFine;
  if (made->comparison) {
    const ComparisonReport& report = *made->comparison;
    const char* const verdict = report.verdict == Verdict::kEqual       ? "true"
                                : report.verdict == Verdict::kDifferent ? "false"
                                                                        : "unknown";
    out["verified"] = verdict;
    out["verification_reason"] = report.reason;
    text += fmt::format("computes the same: {}{}\n", verdict,
                        report.reason.empty() ? "" : " (" + report.reason + ")");
    if (report.verdict == Verdict::kDifferent) code = kDifferent;
    about.comparison = report;
  }
  about.result = StateName{made->program.id, {}};
  about.metrics = made->program.metrics;
  if (Status wrote = write_report(); !wrote) return Fail(wrote.error(), options.report, json);
  if (!options.output.empty()) {
    if (Status written = WriteProgram(options.output, made->bytes, options.common); !written) {
      return Fail(written.error(), options.output, json);
    }
  }
  if (!options.plan_output.empty()) {
    const std::string plan = PlanToJson({options.pass, jobs::ByContent(*decisions, rewrites)});
    if (Status written = WriteFile(options.plan_output, plan); !written) {
      return Fail(written.error(), options.plan_output, json);
    }
  }
  if (!options.recipe.empty()) {
    const Recipe recipe = RecipeOf(pool, *program, *file, *listed, *decisions, *made);
    if (Status written = WriteFile(options.recipe, RecipeToJson(recipe)); !written) {
      return Fail(written.error(), options.recipe, json);
    }
  }
  return json ? Finish(out, code) : Finish(text, code);
}

}  // namespace

Run AddRewrites(CLI::App& app) {
  auto options = std::make_shared<RewritesOptions>();
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
  app.add_option("--recipe", options->recipe, "write how it was made, for `hone replay`")
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
