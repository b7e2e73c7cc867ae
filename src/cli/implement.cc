// hone implement: other ways to compute a program's expensive operations, chosen by measurement.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/parse.h"
#include "cli/progress.h"
#include "tune/choose_implementations.h"
#include "tune/find_implementations.h"
#include "tune/pool_evaluator.h"

namespace hone::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  CommonOptions common;
  std::string file;
  std::string output;
  double budget = 120;
  double race_budget = 8;
  uint64_t seed = 1;
  bool verify = true;
};

// The state after these alternatives.
StatusOr<StateName> After(const Pool& pool, const ProgramInfo& program,
                          const std::vector<tune::Alternative>& alternatives,
                          const tune::PassSequence& names) {
  std::vector<tune::PlannedPass> passes;
  for (const std::string& name : names) {
    for (const tune::Alternative& alternative : alternatives) {
      if (alternative.name != name) continue;
      passes.insert(passes.end(), alternative.passes.begin(), alternative.passes.end());
    }
  }
  return tune::StateAfter(pool, program.id, passes);
}

Json ToJson(const tune::ChooseTrial& trial) {
  Json json{{"pass", trial.pass},
            {"behind", trial.against},
            {"speedup", trial.race.speedup},
            {"speedup_ci", {trial.race.low, trial.race.high}},
            {"pairs", trial.race.pairs},
            {"kept", trial.kept}};
  if (trial.race.same_executable) json["same_executable"] = true;
  if (!trial.error.empty()) json["error"] = trial.error;
  return json;
}

int RunImplement(const Options& options) {
  const bool json = options.common.json;
  if (!options.output.empty()) {
    if (Status writable = CheckWritable(options.output); !writable) {
      return Fail(writable.error(), options.output, json);
    }
  }
  StatusOr<std::string> data =
      ReadInput(options.file, options.common.MostInputBytes(), options.common.datasets);
  if (!data) return Fail(data.error(), options.file, json);
  const std::atomic<bool>* const interrupted = StopOnInterrupt();
  auto pool = StartPool(options.common, interrupted);
  if (!pool) return Fail(pool.error(), json);
  StatusOr<ProgramInfo> program = (*pool)->Load(*std::move(data));
  if (!program) return Fail(program.error(), options.file, json);
  if (program->elided_constants) {
    return Fail(ElidedConstants(), options.file, json);
  }
  WarnOfStandIns(options.file, *program);
  Progress progress(options.common.ShowProgress());
  const std::vector<tune::Alternative> alternatives =
      tune::FindImplementations(**pool, *program, interrupted);
  tune::PassSequence candidates;
  for (const tune::Alternative& alternative : alternatives) candidates.push_back(alternative.name);
  const Clock::time_point start = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  int races = 0;
  const auto race = [&](const tune::PassSequence& a,
                        const tune::PassSequence& b) -> StatusOr<RaceReport> {
    // The last race of all, of everything kept against the program, is always run.
    const bool last = a.empty() && b.size() > 1;
    if (*interrupted || (seconds() > options.budget && !last)) {
      return MakeError(ErrorCode::kInterrupted, "not raced: the budget is spent");
    }
    ++races;
    progress.Show(fmt::format("{:.0f} s, race {}: {}", seconds(), races,
                              b.empty() ? std::string("the program") : b.back()));
    const auto name_a = After(**pool, *program, alternatives, a);
    const auto name_b = After(**pool, *program, alternatives, b);
    if (!name_a) return tl::unexpected(name_a.error());
    if (!name_b) return tl::unexpected(name_b.error());
    RaceOptions racing;
    racing.budget_seconds = options.race_budget;
    racing.seed = options.seed;
    return (*pool)->Race(*name_a, *name_b, racing);
  };
  tune::ChooseResult result = tune::ChooseImplementations(candidates, race, {});
  std::string verified = "skipped";
  std::string reason;
  if (options.verify && !result.passes.empty()) {
    progress.Show("comparing outputs");
    const auto name = After(**pool, *program, alternatives, result.passes);
    const StatusOr<ComparisonReport> report =
        (*pool)->Compare({program->id, {}}, *name, CompareOptions());
    if (!report) {
      verified = "unknown";
      reason = report.error().message;
    } else {
      verified = report->verdict == Verdict::kEqual       ? "true"
                 : report->verdict == Verdict::kDifferent ? "false"
                                                          : "unknown";
      reason = report->reason;
    }
    // Not shown to be equal is not kept.
    if (verified != "true") result.passes.clear();
  }
  progress.Clear();
  const bool kept = !result.passes.empty();
  if (!kept) {
    result.race.speedup = result.race.low = result.race.high = 1;
    result.race.seconds_b = result.race.seconds_a;
  }
  if (kept && !options.output.empty()) {
    const auto name = After(**pool, *program, alternatives, result.passes);
    const auto exported = (*pool)->Export(*name, FormatFor(options.output));
    if (!exported) return Fail(exported.error(), options.file, json);
    if (Status written = WriteFile(options.output, exported->bytes); !written) {
      return Fail(written.error(), options.output, json);
    }
  }
  if (json) {
    Json out{{"file", options.file},
             {"stock_ms", 1000 * result.race.seconds_a},
             {"tuned_ms", 1000 * result.race.seconds_b},
             {"speedup", result.race.speedup},
             {"speedup_ci", {result.race.low, result.race.high}},
             {"verified", verified},
             {"verification_reason", reason},
             {"passes", result.passes},
             {"kept", kept ? "tuned" : "stock"},
             {"races", races},
             {"seconds", seconds()},
             {"trials", Json::array()}};
    for (const tune::ChooseTrial& trial : result.trials) out["trials"].push_back(ToJson(trial));
    return Finish(out, kFine);
  }
  std::string text;
  for (const tune::ChooseTrial& trial : result.trials) {
    text += fmt::format("{:44} {}{}\n", trial.pass,
                        !trial.error.empty() ? trial.error
                        : trial.race.same_executable
                            ? "the same executable"
                            : fmt::format("{:.3f} [{:.3f}, {:.3f}]", trial.race.speedup,
                                          trial.race.low, trial.race.high),
                        trial.kept ? "  kept" : "");
  }
  text += kept ? fmt::format(
                     "{:.3f} ms -> {:.3f} ms: {:.2f} times as fast [{:.2f}, {:.2f}], "
                     "outputs equal: {}\n",
                     1000 * result.race.seconds_a, 1000 * result.race.seconds_b,
                     result.race.speedup, result.race.low, result.race.high, verified)
               : fmt::format("the stock compiler's program stays: nothing is surely faster{}\n",
                             reason.empty() ? "" : " (" + reason + ")");
  return Finish(text, kFine);
}

}  // namespace

Run AddImplement(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("file", options->file, "the program")->required()->type_name("FILE");
  app.add_option("-o,--output", options->output, "write the faster program, if there is one")
      ->type_name("FILE");
  AddDuration(app, "--budget", options->budget, "time for racing (120s)");
  AddDuration(app, "--race", options->race_budget, "time for measuring in one race (8s)");
  app.add_option("--seed", options->seed, "of the inputs")->capture_default_str();
  app.add_flag("!--no-verify", options->verify, "do not compare outputs");
  AddDatasetsOption(app, options->common.datasets);
  AddCommonOptions(app, options->common);
  return [options] { return RunImplement(*options); };
}

}  // namespace hone::cli
