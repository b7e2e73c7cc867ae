// hone eval: a method on programs that it has not seen, against XLA's own order.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/options.h"
#include "jobs/evaluate.h"
#include "report/evaluation.h"

namespace hone::cli {
namespace {

struct EvalFlags {
  CommonOptions common;
  jobs::EvaluateOptions job;
};

std::string Header(size_t width) {
  return fmt::format("{:{}} {:>4} {:>9} {:>9} {:>9} {:>7} {:>8} {:>8} {:>9}\n", "PROGRAM", width,
                     "SEED", "INITIAL", "DEFAULT", "RESULT", "RATIO", "STEPS", "SECONDS",
                     "VERIFIED");
}

std::string Line(const report::Evaluation& one, size_t width) {
  const auto ratio = one.Ratio();
  return fmt::format("{:{}} {:>4} {:>9} {:>9} {:>9} {:>7} {:>8} {:>8.2f} {:>9}\n", one.program,
                     width, one.seed, one.initial, one.by_default, one.value,
                     ratio ? fmt::format("{:.4f}", *ratio) : "-", one.evaluated, one.seconds,
                     one.verified);
}

std::string Conclusion(const jobs::EvaluateResult& result) {
  const report::Summary summary = report::Summarise(result.rows);
  std::string text = fmt::format(
      "{}: geometric mean of the ratio {:.4f} (95 % interval {:.4f} to {:.4f}; {} programs, {} "
      "seed{}); {} better than XLA's own order, {} equal, {} worse\n",
      result.method, summary.ratio.mean, summary.ratio.low, summary.ratio.high,
      summary.ratio.programs, summary.seeds, summary.seeds == 1 ? "" : "s", summary.better,
      summary.equal, summary.worse);
  if (summary.run_time.programs > 0) {
    text += fmt::format(
        "after the stock compiler: {:.4f} times fewer instructions, {:.4f} times "
        "as fast ({} programs)\n",
        summary.final_instructions.mean, summary.run_time.mean, summary.run_time.programs);
  }
  return text;
}

int RunEval(EvalFlags& flags) {
  size_t width = 0;
  if (!flags.common.json) {
    flags.job.begin = [&](const std::vector<std::string>& files) {
      width = WidthOf("PROGRAM", files);
      (void)Print(Header(width));
    };
    flags.job.done = [&](const report::Evaluation& one) { (void)Print(Line(one, width)); };
    flags.job.failed = [](const FileError& failed) { (void)Fail(failed, false); };
  }
  CommandEvents events(flags.common);
  const auto result = jobs::Evaluate(flags.job, flags.common, events);
  if (!result) return Fail(result.error(), flags.common.json);
  const int code = events.CodeOr(result->errors.empty() ? kFine : kSomeFailed);
  return flags.common.json ? Finish(ToJson(*result), code) : Finish(Conclusion(*result), code);
}

}  // namespace

Run AddEval(CLI::App& app) {
  auto flags = std::make_shared<EvalFlags>();
  AddProgramSet(app, flags->job.programs);
  AddSearchOption(app, flags->job.search,
                  "the method (local; policy_greedy where a policy is given)");
  AddModelOptions(app, flags->job.models);
  app.add_option("--method", flags->job.method,
                 "what the results are called (the searcher's name)");
  AddObjectiveOptions(app, flags->job.objective, flags->job.actions);
  AddBudget(
      app, "--budget", flags->job.budget,
      "time, steps or both, per run: 1s, 2000steps, 30s,2000steps (30s); steps that are known "
      "already are free");
  app.add_option("--seed", flags->job.seed, "the first seed")->capture_default_str();
  app.add_option("--seeds", flags->job.seeds, "how many")
      ->check(CLI::Range(1, 1000).description(""))
      ->capture_default_str();
  app.add_option("--longest", flags->job.longest, "passes in a sequence, at most")
      ->check(CLI::Range(1, 4096).description(""))
      ->capture_default_str();
  app.add_flag("--from-default", flags->job.from_default,
               "begin with XLA's own order, and fall back on it, as `hone optimize` does");
  app.add_flag("--verify", flags->job.verify, "does every result compute the same as its program?");
  AddDuration(app, "--verify-budget", flags->job.verify_seconds, "time for that, a run (60s)");
  app.add_flag("--run-time", flags->job.run_time,
               "also compile each result by the stock compiler, count its instructions and run it");
  app.add_option("-o,--output", flags->job.output, "add the results to this file, a JSON line each")
      ->type_name("OUT");
  AddReportOption(app, flags->job.report);
  AddProgramOptions(app, flags->common);
  return [flags] { return RunEval(*flags); };
}

}  // namespace hone::cli
