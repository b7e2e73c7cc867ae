// hone tune: the fastest verified way to compile a program, within a budget.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/options.h"
#include "jobs/data_loops.h"
#include "jobs/machine_load.h"
#include "jobs/tune_files.h"
#include "search/choices/choices.h"
#include "tune/device_evaluator.h"
#include "tune/tune_plan.h"

namespace hone::cli {
namespace {

struct TuneFlags {
  CommonOptions common;
  jobs::TuneFilesOptions job;
};

// The table, its first column so wide.
std::string Header(size_t width) {
  return fmt::format("{:{}} {:>10} {:>10} {:>8} {:>16} {:>9} {:>6} {:>8}\n", "FILE", width,
                     "STOCK ms", "TUNED ms", "SPEEDUP", "95 %", "VERIFIED", "EVALS", "SECONDS");
}

std::string Line(const jobs::TunedFile& row, size_t width) {
  if (row.error) {
    return fmt::format("{:{}} failed: {}\n", row.file, width, Printable(row.error->message));
  }
  const tune::TuneResult& result = row.tuned.result;
  const std::string& target = row.tuned.target;
  const std::string interval =
      !result.kept      ? "stock"
      : !target.empty() ? "estimated"
                        : fmt::format("[{:.3f}, {:.3f}]", result.race.low, result.race.high);
  const auto time = [](double ms) { return ms > 0 ? fmt::format("{:.4g}", ms) : "-"; };
  std::string line =
      fmt::format("{:{}} {:>10} {:>10} {:>8.3f} {:>16} {:>9} {:>6} {:>8.1f}\n", row.file, width,
                  time(row.tuned.StockMilliseconds()), time(row.tuned.TunedMilliseconds()),
                  result.kept ? result.race.speedup : 1.0, interval, result.verified,
                  result.evaluations, result.seconds);
  if (!target.empty()) {
    line += fmt::format(
        "  times on {} are estimated by XLA's own model of it: nothing was run there\n", target);
  }
  if (!result.kept) {
    line += fmt::format("  stock: {}\n", Printable(result.reason));
  }
  if (result.stop != tune::TuneStop::kNotTunable) {
    line += fmt::format("  ended: {}\n", Printable(result.ended));
  }
  if (const std::string beside = jobs::BesideOthers(row.tuned.others_cores); !beside.empty()) {
    line += "  " + beside + "\n";
  }
  if (const std::string beside = jobs::BesideDataLoops(row.tuned.data_loops); !beside.empty()) {
    line += "  " + beside + "\n";
  }
  return line;
}

// The lines below: what the plan decides, and what did not stand up.
std::string Details(const jobs::TunedFile& row) {
  std::string text;
  int64_t evaluations = 0;
  for (const tune::TaskReport& task : row.tuned.result.tasks) evaluations += task.evaluations;
  if (evaluations > 0) {
    text += fmt::format("  {} evaluations of {} operations alone\n", evaluations,
                        row.tuned.result.tasks.size());
  }
  for (const tune::StageGain& gain : row.tuned.result.gains) {
    text += fmt::format("  {}: {} choice{}, {:.3f} times", StageName(gain.stage), gain.choices,
                        gain.choices == 1 ? "" : "s", gain.race.speedup);
    text += row.tuned.target.empty()
                ? fmt::format(" [{:.3f}, {:.3f}]\n", gain.race.low, gain.race.high)
                : std::string("\n");
  }
  for (const auto& [name, value] : row.tuned.result.plan.compile.flags) {
    text += fmt::format("  flag {} = {}\n", name, value);
  }
  for (const tune::PlannedPass& planned : row.tuned.result.plan.passes) {
    text += fmt::format("  pass {}\n", planned.pass);
  }
  for (const std::string& rejected : row.tuned.result.rejected) {
    text += fmt::format("  rejected: {}\n", Printable(rejected));
  }
  return text;
}

int RunTune(TuneFlags& flags) {
  const bool json = flags.common.json;
  jobs::TuneFilesOptions& job = flags.job;
  job.jax_says_json = json;
  FileColumn column;
  job.begin = [&](const std::vector<std::string>& names) { column.Begin(names, Header, json); };
  job.done = [&](const jobs::TunedFile& row) {
    if (json) return;
    (void)Print((column.files == 1 ? Header(column.width) : std::string()) +
                Line(row, column.width) + Details(row));
  };
  CommandEvents events(flags.common);
  const auto tuned = jobs::TuneFiles(job, flags.common, events);
  if (!tuned) return Fail(tuned.error(), json);
  int code = events.CodeOr(tuned->failed > 0 ? kSomeFailed : kFine);
  if (const auto& in_jax = tuned->in_jax) {
    if (in_jax->error) {
      code = Fail(*in_jax->error, json);
    } else {
      if (!json) (void)Print(in_jax->said);
      if (!in_jax->fine) code = kSomeFailed;
    }
  }
  if (json) return Finish(ToJson(*tuned), code);
  if (column.files == 1) return code;
  return Finish(fmt::format("mean speed-up {:.3f}, most {:.3f}; {} tuned, {} stock, {} failed\n",
                            tuned->mean_speedup, tuned->most_speedup, tuned->tuned, tuned->stock,
                            tuned->failed),
                code);
}

}  // namespace

Run AddTune(CLI::App& app) {
  auto flags = std::make_shared<TuneFlags>();
  AddFiles(app, flags->job.files);
  app.add_option(
         "--stages", flags->job.stages,
         fmt::format("what to decide, commas between them: {}", fmt::join(kStageNames, ", ")))
      ->capture_default_str();
  AddDeviceOption(app, flags->job.device,
                  fmt::format("tune for a PJRT plugin's device, pjrt:/path/to/plugin.so; stages {}",
                              tune::kDeviceStages));
  std::vector<std::string> searchers;
  for (const choices::ChooserInfo& info : choices::Choosers()) searchers.emplace_back(info.name);
  app.add_option("--search", flags->job.search, "how to search")
      ->check(CLI::IsMember(searchers))
      ->capture_default_str();
  app.add_option("--mode", flags->job.mode, "the stages in turns, or one after another")
      ->check(CLI::IsMember({"joint", "sequential"}))
      ->capture_default_str();
  AddBudget(app, "--budget", flags->job.budget,
            "time for a program, verifying included, evaluations, or both: 10m, 200steps (10m)");
  AddStoreOption(app, flags->job.store);
  AddNoFlag(app, "--no-transfer", flags->job.transfer,
            "do not begin with what other programs have taught the store");
  app.add_option(
         "--cost-model", flags->job.cost_model,
         "measure only those compiled plans that this model ranks best: roofline, none, or a "
         "file of `hone costmodel train`")
      ->capture_default_str()
      ->type_name("MODEL");
  app.add_option(
         "--policy", flags->job.policy,
         "the policy that says what to try first: a file of `hone store learn`, or none (the one "
         "that comes with hone)")
      ->type_name("FILE");
  app.add_flag("--fast-math", flags->job.fast_math, "also try flags that change the numerics");
  app.add_flag("--free-entry", flags->job.free_entry,
               "also decide the layouts of parameters and results: its caller can pass and take "
               "arrays in any");
  app.add_option("--hops", flags->job.hops,
                 "fusion decisions are told apart by operands and users up to this many steps away")
      ->check(CLI::Range(0, 20))
      ->capture_default_str();
  app.add_option("--seed", flags->job.seed, "of the search and of the inputs")
      ->capture_default_str();
  AddNoFlag(app, "--no-verify", flags->job.verify, "do not compare outputs");
  app.add_flag("--tasks", flags->job.tasks,
               "first tune the most expensive operations alone; experimental");
  AddInputsOption(app, flags->job.inputs);
  app.add_option("--plan", flags->job.plan, "write the plan here; a folder for several files")
      ->type_name("OUT");
  app.add_option("-o,--output", flags->job.output,
                 "write the optimised program as text; a folder for several files")
      ->type_name("OUT");
  AddReportOption(app, flags->job.report, /*several_files=*/true);
  AddProgramOptions(app, flags->common);
  AddClusterOptions(app, flags->common, flags->job.cluster);
  return [flags] { return RunTune(*flags); };
}

}  // namespace hone::cli
