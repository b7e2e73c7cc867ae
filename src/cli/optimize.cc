// hone optimize: a better order of XLA's passes, searched, replayed, verified.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/device.h"
#include "cli/options.h"
#include "jobs/optimize_files.h"

namespace hone::cli {
namespace {

struct OptimizeFlags {
  CommonOptions common;
  jobs::OptimizeFilesOptions job;
  bool timing = false;
};

std::string Header(size_t width) {
  return fmt::format("{:{}} {:>9} {:>9} {:>9} {:>7} {:>9} {:>7} {:>8}\n", "FILE", width, "INITIAL",
                     "DEFAULT", "RESULT", "RATIO", "VERIFIED", "STEPS/S", "SECONDS");
}

std::string TableLine(const jobs::OptimizedFile& row, Objective objective, size_t width) {
  if (row.error)
    return fmt::format("{:{}} failed: {}\n", row.file, width, Printable(row.error->message));
  const OptimizeResult& result = row.optimized.result;
  const auto value = [&](double of) { return jobs::ValueText(objective, of); };
  const auto ratio = row.optimized.Ratio();
  std::string line = fmt::format(
      "{:{}} {:>9} {:>9} {:>9} {:>7} {:>9} {:>7.0f} {:>8.1f}\n", row.file, width,
      value(result.initial), result.default_complaint.empty() ? value(result.by_default) : "-",
      value(result.value), ratio ? fmt::format("{:.4f}", *ratio) : "-",
      !result.verification_ran ? "skipped"
      : result.verified()      ? "yes"
                               : "no",
      static_cast<double>(result.steps) / result.search_seconds, row.seconds);
  if (result.verification_ran && !result.verified()) {
    line += "   not verified: " + Printable(result.verification.reason) + "\n";
  }
  return line;
}

std::string TimingText(const OptimizeResult& result, int workers) {
  const Timing& t = result.timing;
  const double all = result.search_seconds;
  const auto share = [&](double seconds) {
    return fmt::format("{:.2f} s ({:.1f} %)", seconds, 100 * seconds / (all * workers));
  };
  return fmt::format(
      "timing of the search, {:.2f} s on {} worker{}:\n"
      "  inside XLA        {}\n"
      "    passes          {}, {} run, {:.0f} a second\n"
      "    copies          {}, {} made\n"
      "    cost analysis   {}\n"
      "  fingerprints      {}\n"
      "  worker's rest     {}\n"
      "  outside, idle     {}\n"
      "  steps             {}, {:.0f} a second; {:.1f} % looked up\n",
      all, workers, workers == 1 ? "" : "s", share(t.InXla()), share(t.passes), t.passes_run,
      static_cast<double>(t.passes_run) / all, share(t.clones), t.clones_made, share(t.metrics),
      share(t.fingerprints), share(t.other),
      share(all * workers - t.InXla() - t.fingerprints - t.other), result.steps,
      static_cast<double>(result.steps) / all,
      100 * (1 - std::min(1.0, static_cast<double>(t.passes_run) /
                                   static_cast<double>(std::max<int64_t>(1, result.steps)))));
}

// What a person wants to know of a single file, below its line in the table.
std::string Details(const jobs::OptimizedFiles& all, const jobs::OptimizedFile& row, bool timing) {
  const OptimizeResult& result = row.optimized.result;
  const Objective objective = all.job.search.objective;
  std::string text = "\n";
  if (!result.default_complaint.empty()) {
    text += "no default order to compare with: " + Printable(result.default_complaint) + "\n";
  } else if (result.value == result.by_default) {
    text += "nothing better than XLA's own order was found; this is its result\n";
  }
  if (row.optimized.stored) {
    text += fmt::format("the store had {}\n", jobs::ValueText(objective, *row.optimized.stored));
  }
  text += "passes:";
  for (const std::string& name : jobs::NamesOf(*all.pool, result.passes)) text += " " + name;
  text += "\n";
  if (result.verified()) {
    text += "verified: " + result.verification.method;
    if (const int inputs = result.verification.inputs; inputs > 0) {
      text += fmt::format("; {} input set{}, worst error {:.3g} of the tolerance", inputs,
                          inputs == 1 ? "" : "s", result.verification.worst_error);
    }
    text += "\n";
  }
  for (const std::string& rejected : result.rejected) {
    text += "rejected: " + Printable(rejected) + "\n";
  }
  for (const Failure& failure : result.failures) {
    text += fmt::format("pass {} failed {} time{}: {}\n", failure.pass, failure.times,
                        failure.times == 1 ? "" : "s", Printable(failure.why));
  }
  if (row.optimized.on_device) text += OnDeviceText(*all.device, *row.optimized.on_device);
  if (timing) text += TimingText(result, all.pool->workers());
  for (const auto& [what, file] :
       {std::pair("written to ", &row.output), std::pair("recipe in ", &row.recipe),
        std::pair("report in ", &row.report)}) {
    if (!file->empty()) text += what + *file + "\n";
  }
  return text;
}

int RunOptimize(OptimizeFlags& flags) {
  const bool json = flags.common.json;
  jobs::OptimizeFilesOptions& job = flags.job;
  const Objective objective = *ObjectiveFromName(job.objective);
  FileColumn column;
  job.begin = [&](const std::vector<std::string>& names) { column.Begin(names, Header, json); };
  job.done = [&](const jobs::OptimizedFile& row) {
    if (!json && column.files > 1) (void)Print(TableLine(row, objective, column.width));
    if ((!json || column.files > 1) && !row.withheld.empty()) Warn(row.file, row.withheld);
  };
  CommandEvents events(flags.common);
  const auto all = jobs::OptimizeFiles(job, flags.common, events);
  if (!all) return Fail(all.error(), json);
  const int code = events.CodeOr(all->failed > 0 || all->withheld ? kSomeFailed : kFine);
  if (json) return Finish(ToJson(*all, flags.timing), code);
  if (all->one) {
    const jobs::OptimizedFile& row = all->rows.front();
    return Finish(Header(column.width) + TableLine(row, objective, column.width) +
                      Details(*all, row, flags.timing),
                  code);
  }
  const auto& geomean = all->geomean_ratio;
  return Finish(fmt::format("geometric mean of the ratio {}; {} better than XLA's own order, {} "
                            "equal, {} worse, {} failed\n",
                            geomean ? fmt::format("{:.4f}", *geomean) : "-", all->better,
                            all->equal, all->worse, all->failed),
                code);
}

}  // namespace

Run AddOptimize(CLI::App& app) {
  auto flags = std::make_shared<OptimizeFlags>();
  AddFiles(app, flags->job.files);
  AddObjectiveOptions(app, flags->job.objective, flags->job.actions);
  AddSearchOption(app, flags->job.search, "how to search")->capture_default_str();
  AddModelOptions(app, flags->job.models);
  AddBudget(app, "--budget", flags->job.budget,
            "time, steps or both, of the search on a program: 2m, 2000steps, 2m,2000steps (30s)");
  app.add_option("--seed", flags->job.seed, "of the search and of the inputs")
      ->capture_default_str();
  AddInputsOption(app, flags->job.inputs);
  AddDuration(app, "--verify-budget", flags->job.verify_seconds, "time for verification (120s)");
  AddNoFlag(app, "--no-verify", flags->job.verify, "skip it");
  app.add_flag("--allow-unverified", flags->job.allow_unverified,
               "write a result that is not verified");
  AddDeviceOption(app, flags->job.device,
                  "measure the result on a PJRT plugin's device: pjrt:/path/to/plugin.so");
  AddDuration(app, "--device-budget", flags->job.device_seconds, "time for that (10s)");
  app.add_option("-o,--output", flags->job.output,
                 "write the result here (.pb is binary); a folder for several files")
      ->type_name("OUT");
  app.add_option("--recipe", flags->job.recipe, "write how it was made; a folder for several files")
      ->type_name("OUT");
  AddStoreOption(app, flags->job.store);
  AddReportOption(app, flags->job.report, /*several_files=*/true);
  app.add_flag("--timing", flags->timing, "show where the time went");
  flags->common.workers = ManyWorkers();
  AddProgramOptions(app, flags->common);
  return [flags] { return RunOptimize(*flags); };
}

}  // namespace hone::cli
