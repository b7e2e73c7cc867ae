// hone check: do two programs compute the same?
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/device.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/parse.h"
#include "cli/progress.h"
#include "cli/tuned_program.h"
#include "core/comparison.h"
#include "jobs/compare.h"

namespace hone::cli {
namespace {

struct CheckOptions {
  CommonOptions common;
  std::string a;
  std::string b;
  std::string plan;
  std::string device;
  jobs::GivenInputs inputs;
  CompareOptions compare;
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

// What kept XLA from answering is no verdict on the programs.
ComparisonReport NoVerdict(const Error& error) {
  ComparisonReport report;
  report.method = "none";
  report.reason = error.message;
  return report;
}

int Say(const CheckOptions& options, StatusOr<ComparisonReport> report,
        const CompareOptions& compare, const ProgramInfo& stands_in) {
  if (!report) report = NoVerdict(report.error());
  const int code = *compare.stop ? int{kInterrupted} : CodeFor(report->verdict);
  if (!options.common.json) return Finish(Text(*report), code);
  Json out{{"a", options.a}};
  if (options.plan.empty()) {
    out["b"] = options.b;
  } else {
    out["plan"] = options.plan;
  }
  out.update(jobs::ToJson(*report));
  AddStandIns(stands_in, out);
  return Finish(out, code);
}

Waiting WaitingFor(const CheckOptions& options) {
  return Waiting(options.common.ShowProgress(),
                 fmt::format("compiling and running both, for {:.0f} s at most",
                             options.compare.budget_seconds));
}

// A program under a plan, against the same as the stock compiler compiles it.
int RunUnderPlan(const CheckOptions& options) {
  const bool json = options.common.json;
  const StatusOr<tune::TunePlan> plan = ReadPlan(options.plan);
  if (!plan) return Fail(plan.error(), options.plan, json);
  const auto opened = OpenProgram(options.common, options.a, options.device, options.compare.seed);
  if (!opened) return Fail(opened.error(), json);
  const ProgramInfo& program = opened->program();
  WarnOfStandIns(options.a, program);
  CompareOptions compare = options.compare;
  compare.stop = StopOnInterrupt();
  if (Status given = options.inputs.Read(opened->programs->pool(), program, options.a, &compare);
      !given) {
    return Fail(given.error(), options.a, json);
  }
  StatusOr<ComparisonReport> report = MakeError(ErrorCode::kInternal, "not compared");
  {
    const Waiting waiting = WaitingFor(options);
    report = opened->evaluator->Compare({}, *plan, compare);
  }
  return Say(options, std::move(report), compare, program);
}

int RunCheck(const CheckOptions& options) {
  const bool json = options.common.json;
  if (options.plan.empty() && options.b.empty()) {
    return Fail({ErrorCode::kInvalidInput,
                 "B is required, or a --plan to compile A under; see `hone check --help`"},
                json);
  }
  if (!options.plan.empty() && !options.b.empty()) {
    return Fail({ErrorCode::kInvalidInput, "give either B or a --plan to compile A under"}, json);
  }
  if (!options.plan.empty()) return RunUnderPlan(options);
  auto data_a = ReadNamed(options.a, options.common);
  if (!data_a) return Fail(data_a.error(), json);
  auto data_b = ReadNamed(options.b, options.common);
  if (!data_b) return Fail(data_b.error(), json);
  std::unique_ptr<device::RemoteDevice> device;
  if (!options.device.empty()) {
    const Waiting waiting(options.common.ShowProgress(), "loading the plugin");
    auto loaded = StartDevice(options.common, options.device);
    if (!loaded) return Fail(loaded.error(), json);
    device = *std::move(loaded);
  }
  auto started = StartPool(options.common);
  if (!started) return Fail(started.error(), json);
  Pool& pool = **started;
  const StatusOr<ProgramInfo> a = pool.Load(*std::move(data_a));
  if (!a) return Fail(a.error(), options.a, json);
  const StatusOr<ProgramInfo> b = pool.Load(*std::move(data_b));
  if (!b) return Fail(b.error(), options.b, json);
  WarnOfStandIns(options.a, *a);
  WarnOfStandIns(options.b, *b);
  CompareOptions compare = options.compare;
  compare.stop = StopOnInterrupt();
  if (Status given = options.inputs.Read(pool, *a, options.a, &compare); !given) {
    return Fail(given.error(), options.a, json);
  }
  StatusOr<ComparisonReport> report = MakeError(ErrorCode::kInternal, "not compared");
  {
    const Waiting waiting = WaitingFor(options);
    report = jobs::Compare(pool, *a, *b, compare, device.get());
  }
  return Say(options, std::move(report), compare, a->stand_in_constants > 0 ? *a : *b);
}

}  // namespace

Run AddCheck(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  app.add_option("A", options->a, "a program")->required()->type_name("");
  app.add_option("B", options->b, "another, of the same parameters and results")->type_name("");
  app.add_option("--plan", options->plan,
                 "instead of B: A under this plan, what `hone tune --plan` wrote")
      ->type_name("PLAN");
  AddInputsOption(app, options->inputs);
  app.add_option("--seed", options->compare.seed,
                 fmt::format("of the inputs ({})", options->compare.seed))
      ->type_name("N");
  AddDeviceOption(app, options->device,
                  "compare what a PJRT plugin's device computes: pjrt:/path/to/plugin.so");
  AddDuration(app, "--budget", options->compare.budget_seconds,
              fmt::format("time for it ({:g}s)", options->compare.budget_seconds));
  AddDatasetsOption(app, options->common.datasets);
  AddCommonOptions(app, options->common);
  return [options] { return RunCheck(*options); };
}

}  // namespace hone::cli
