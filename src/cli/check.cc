// hone check: do two programs compute the same?
#include "jobs/check.h"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/options.h"
#include "jobs/compare.h"

namespace hone::cli {
namespace {

struct CheckFlags {
  CommonOptions common;
  jobs::CheckOptions job;
};

int CodeFor(Verdict verdict) {
  switch (verdict) {
    case Verdict::kEqual:
      return kFine;
    case Verdict::kDifferent:
      return kDifferent;
    case Verdict::kCannotTell:
      break;
  }
  return kCannotTell;
}

std::string Text(const ComparisonReport& report) {
  std::string text = fmt::format("{}{}\n", jobs::VerdictName(report.verdict),
                                 report.reason.empty() ? "" : ": " + Printable(report.reason));
  text += fmt::format("  method       {}\n", report.method);
  text += fmt::format("  inputs       {}\n", report.inputs);
  if (report.inputs > 0) {
    text += fmt::format("  worst error  {:.3g} of the tolerance\n", report.worst_error);
    if (report.finite_share < 1) {
      text += fmt::format("  finite       {:.1f} % of the floating-point results\n",
                          100 * report.finite_share);
    }
  }
  text += fmt::format("  time         {:.1f} s", report.seconds);
  if (report.compile_seconds > 0) {
    text += fmt::format(", {:.1f} of them compiling", report.compile_seconds);
  }
  text += "\n";
  for (const OutputError& error : report.errors) {
    text += fmt::format(
        "  output {} {}: {} elements differ, by up to {:.3g} ({:.3g} of the "
        "tolerance)\n",
        error.output, error.shape, Grouped(error.elements_over), error.worst_absolute,
        error.worst_error);
  }
  return text;
}

int RunCheck(const CheckFlags& flags) {
  CommandEvents events(flags.common);
  const auto checked = jobs::Check(flags.job, flags.common, events);
  if (!checked) return Fail(checked.error(), flags.common.json);
  const int code = events.CodeOr(CodeFor(checked->report.verdict));
  return flags.common.json ? Finish(ToJson(*checked, flags.job), code)
                           : Finish(Text(checked->report), code);
}

}  // namespace

Run AddCheck(CLI::App& app) {
  auto flags = std::make_shared<CheckFlags>();
  AddWord(app, "A", flags->job.a, "a program");
  app.add_option("B", flags->job.b, "another, of the same parameters and results")->type_name("");
  app.add_option("--plan", flags->job.plan,
                 "instead of B: A under this plan, what `hone tune --plan` wrote")
      ->type_name("PLAN");
  AddInputsOption(app, flags->job.inputs);
  app.add_option("--seed", flags->job.compare.seed,
                 fmt::format("of the inputs ({})", flags->job.compare.seed))
      ->type_name("N");
  AddDeviceOption(app, flags->job.device,
                  "compare what a PJRT plugin's device computes: pjrt:/path/to/plugin.so");
  AddDuration(app, "--budget", flags->job.compare.budget_seconds,
              fmt::format("time for it ({:g}s)", flags->job.compare.budget_seconds));
  AddProgramOptions(app, flags->common);
  return [flags] { return RunCheck(*flags); };
}

}  // namespace hone::cli
