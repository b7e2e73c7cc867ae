// hone rewrites: what a pass would do to a program, rewrite by rewrite, and some of it done.
#include "jobs/rewrites.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/options.h"
#include "jobs/rewrite_file.h"
#include "tune/plan.h"

namespace hone::cli {
namespace {

struct RewritesFlags {
  CommonOptions common;
  jobs::RewriteFileOptions job;
  size_t most = 40;
  bool texts = false;
};

std::string Table(const Rewrites& rewrites, const RewritesFlags& flags) {
  std::string text = fmt::format("{:>6}  {:19} {:8} {:>6} {:>10}  {}\n", "SITE", "KIND", "STATUS",
                                 "OPS", "BYTES", "INSTRUCTION");
  const size_t shown = std::min(flags.most, rewrites.sites.size());
  for (size_t i = 0; i < shown; ++i) {
    const RewriteSite& site = rewrites.sites[i];
    text += fmt::format("{:>6}  {:19} {:8} {:>+6} {:>+10.3g}  {} in {}{}\n", i,
                        RewriteKindName(site.kind), SiteStatusName(site.status),
                        site.delta_op_count, site.delta_bytes, site.instruction, site.computation,
                        site.reason.empty() ? "" : " (" + site.reason + ")");
    if (!flags.texts) continue;
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
                      flags.job.pass, rewrites.conflicts.size(),
                      rewrites.separable ? "" : "; the pass cannot be taken apart");
  return text;
}

std::string MadeText(const jobs::MadeRewrites& made, const std::string& pass) {
  std::string text =
      fmt::format("{}: {} instructions{}\n", pass, Grouped(made.program.metrics.op_count),
                  made.changed ? "" : ", nothing changed");
  if (!made.comparison) return text;
  const std::string& reason = made.comparison->reason;
  return text + fmt::format("computes the same: {}{}\n", jobs::ComputesTheSame(*made.comparison),
                            reason.empty() ? "" : " (" + reason + ")");
}

int RunRewrites(RewritesFlags& flags) {
  const bool json = flags.common.json;
  flags.job.texts = json || flags.texts;
  flags.job.time_pass = json;
  CommandEvents events(flags.common);
  const auto done = jobs::RewriteFile(flags.job, flags.common, events);
  if (!done) return Fail(done.error(), json);
  const bool different = done->made && done->made->comparison &&
                         done->made->comparison->verdict == Verdict::kDifferent;
  const int code = different ? kDifferent : kFine;
  if (json) return Finish(ToJson(*done, flags.job), code);
  return Finish(done->made ? MadeText(*done->made, flags.job.pass) : Table(done->rewrites, flags),
                code);
}

}  // namespace

Run AddRewrites(CLI::App& app) {
  auto flags = std::make_shared<RewritesFlags>();
  AddWord(app, "FILE", flags->job.file, "the program");
  app.add_option("--pass", flags->job.pass, "whose rewrites (`hone passes` lists the passes)")
      ->required()
      ->type_name("PASS");
  app.add_option("--after", flags->job.after, "run these passes first, commas between them")
      ->type_name("PASSES");
  auto* apply = app.add_option("--apply", flags->job.apply,
                               fmt::format("make rewrites: all, none, {}, or numbers of sites "
                                           "such as 0,3,7-9",
                                           fmt::join(kOtherwiseNames, ", ")))
                    ->type_name("WHICH");
  app.add_option("--plan", flags->job.plan, "make the rewrites that this plan chooses")
      ->type_name("FILE")
      ->excludes(apply);
  app.add_option("-o,--output", flags->job.output, "write the program with those rewrites")
      ->type_name("FILE");
  app.add_option("--plan-out", flags->job.plan_output,
                 "write the choices by what the sites look like, for this or other programs")
      ->type_name("FILE");
  app.add_option("--recipe", flags->job.recipe, "write how it was made, for `hone replay`")
      ->type_name("FILE");
  AddReportOption(app, flags->job.report);
  app.add_option("--seed", flags->job.seed, "of `--apply half`")->capture_default_str();
  app.add_option("--most", flags->most, "sites to show")->capture_default_str();
  app.add_flag("--texts", flags->texts, "show originals and replacements");
  app.add_flag("--verify", flags->job.verify, "run both and compare the outputs");
  AddProgramOptions(app, flags->common);
  return [flags] { return RunRewrites(*flags); };
}

}  // namespace hone::cli
