// hone optimize: a better order of XLA's passes, searched, replayed, verified.
#include "jobs/optimize.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/device.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/models.h"
#include "cli/output.h"
#include "cli/parse.h"
#include "cli/program_set.h"
#include "cli/report.h"
#include "cli/targets.h"
#include "jobs/report_optimize.h"
#include "search/searcher.h"
#include "tune/recipe.h"

namespace hone::cli {
namespace {

struct OptimizeFlags {
  CommonOptions common;
  std::vector<std::string> files;
  std::string objective = "op_count";
  std::string actions = "simplify";
  std::string search{Searchers().front().name};
  ModelOptions models;
  Budget budget{30, std::numeric_limits<int64_t>::max()};
  uint64_t seed = 1;
  jobs::GivenInputs inputs;
  double verify_seconds = 120;
  bool no_verify = false;
  bool allow_unverified = false;
  bool timing = false;
  std::string device;
  double device_seconds = 10;
  std::string output;
  std::string recipe;
  std::string report;
  std::string store;
};

// One file's outcome: a result or an error.
struct Row {
  std::string file;
  std::optional<Error> error;
  ProgramInfo program;
  jobs::OptimizedProgram optimized;
  double seconds = 0;
  std::string output;  // where it was written; empty where it was not
  std::string recipe;
  std::string report;
  std::string withheld;  // why it was not written though asked for
};

struct Summary {
  double log_sum = 0;
  int ratios = 0;
  int better = 0;
  int equal = 0;
  int worse = 0;
  int failed = 0;
  std::optional<double> Geomean() const {
    return ratios == 0 ? std::nullopt : std::optional(std::exp(log_sum / ratios));
  }
};

Summary Summarise(const std::vector<Row>& rows) {
  Summary summary;
  for (const Row& row : rows) {
    if (row.error) {
      ++summary.failed;
      continue;
    }
    const OptimizeResult& result = row.optimized.result;
    ++(result.value < result.by_default    ? summary.better
       : result.value == result.by_default ? summary.equal
                                           : summary.worse);
    if (const auto ratio = row.optimized.Ratio(); ratio && *ratio > 0) {
      summary.log_sum += std::log(*ratio);
      ++summary.ratios;
    }
  }
  return summary;
}

std::string Header(size_t width) {
  return fmt::format("{:{}} {:>9} {:>9} {:>9} {:>7} {:>9} {:>7} {:>8}\n", "FILE", width, "INITIAL",
                     "DEFAULT", "RESULT", "RATIO", "VERIFIED", "STEPS/S", "SECONDS");
}

std::string TableLine(const Row& row, Objective objective, size_t width) {
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
std::string Details(const Pool& pool, const device::RemoteDevice* device, const Row& row,
                    Objective objective, bool timing) {
  const OptimizeResult& result = row.optimized.result;
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
  for (const std::string& name : jobs::NamesOf(pool, result.passes)) text += " " + name;
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
  if (row.optimized.on_device) text += OnDeviceText(*device, *row.optimized.on_device);
  if (timing) text += TimingText(result, pool.workers());
  for (const auto& [what, file] :
       {std::pair("written to ", &row.output), std::pair("recipe in ", &row.recipe),
        std::pair("report in ", &row.report)}) {
    if (!file->empty()) text += what + *file + "\n";
  }
  return text;
}

class Optimization {
 public:
  explicit Optimization(OptimizeFlags& options) : options_(options) {}

  int Run() {
    const bool json = options_.common.json;
    auto files = ExpandInputs(options_.files, options_.common.datasets);
    if (!files) return Fail(files.error(), json);
    files_ = *std::move(files);
    if (Status loaded = LoadModels(options_.models, options_.search, job_.search); !loaded) {
      return Fail(loaded.error(), json);
    }
    SetJob();
    const auto planned = PlanTargets(files_, {{options_.output, ".hlo", outputs_},
                                              {options_.recipe, ".json", recipes_},
                                              {options_.report, ".html", reports_}});
    if (!planned) return Fail(planned.error(), json);
    if (Status fine = CheckReports(options_.report); !fine) return Fail(fine.error(), json);
    auto store = OpenStore(options_.store);
    if (!store) return Fail(store.error(), options_.store, json);
    store_ = *std::move(store);
    job_.store = store_.get();
    if (!options_.device.empty()) {
      const Waiting waiting(options_.common.ShowProgress(), "loading the plugin");
      auto device = StartDevice(options_.common, options_.device);
      if (!device) return Fail(device.error(), json);
      device_ = *std::move(device);
      job_.device = device_.get();
    }
    stop_ = StopOnInterrupt();
    auto pool = StartPool(options_.common, stop_);
    if (!pool) return Fail(pool.error(), json);
    pool_ = std::move(*pool);
    return files_.size() == 1 ? RunOne() : RunAll();
  }

 private:
  void SetJob() {
    OptimizeOptions& search = job_.search;
    search.objective = *ObjectiveFromName(options_.objective);
    search.actions = options_.actions;
    search.search = options_.search;
    SetBudget(options_.budget, search);
    search.seed = options_.seed;
    search.verify = !options_.no_verify;
    search.compare.budget_seconds = options_.verify_seconds;
    job_.inputs = options_.inputs;
    job_.allow_unverified = options_.allow_unverified;
    job_.device_seconds = options_.device_seconds;
  }

  int RunOne() {
    const Row row = Optimise(0);
    if (row.error) return Fail(*row.error, row.file, options_.common.json);
    const int code = Code({row});
    if (options_.common.json) return Finish(RowJson(row), code);
    if (!row.withheld.empty()) Warn(row.file, row.withheld);
    return Finish(Header(Width()) + TableLine(row, job_.search.objective, Width()) +
                      Details(*pool_, device_.get(), row, job_.search.objective, options_.timing),
                  code);
  }

  int RunAll() {
    std::vector<Row> rows;
    if (!options_.common.json) (void)WriteStdout(Header(Width()));
    for (size_t i = 0; i < files_.size() && !*stop_; ++i) {
      rows.push_back(Optimise(i));
      if (!options_.common.json) {
        (void)WriteStdout(TableLine(rows.back(), job_.search.objective, Width()));
      }
      if (!rows.back().withheld.empty()) Warn(rows.back().file, rows.back().withheld);
    }
    const Summary summary = Summarise(rows);
    const auto geomean = summary.Geomean();
    const int code = Code(rows);
    if (options_.common.json) {
      Json json;
      json["results"] = Json::array();
      for (const Row& row : rows) json["results"].push_back(RowJson(row));
      json["summary"] = {{"geomean_ratio", geomean ? Json(*geomean) : Json(nullptr)},
                         {"better", summary.better},
                         {"equal", summary.equal},
                         {"worse", summary.worse},
                         {"failed", summary.failed}};
      return Finish(json, code);
    }
    return Finish(fmt::format("geometric mean of the ratio {}; {} better than XLA's own order, {} "
                              "equal, {} worse, {} failed\n",
                              geomean ? fmt::format("{:.4f}", *geomean) : "-", summary.better,
                              summary.equal, summary.worse, summary.failed),
                  code);
  }

  Json RowJson(const Row& row) {
    if (row.error) return {{"file", row.file}, {"error", jobs::ErrorJson(*row.error, row.file)}};
    job_.file = row.file;
    Json json = ToJson(*pool_, row.program, job_, row.optimized, row.seconds, options_.timing);
    AddTexts({{"output", row.output},
              {"recipe", row.recipe},
              {"report", row.report},
              {"withheld", row.withheld}},
             json);
    return json;
  }

  int Code(const std::vector<Row>& rows) const {
    if (*stop_) return kInterrupted;
    const bool failed = std::any_of(rows.begin(), rows.end(), [](const Row& row) {
      return row.error.has_value() || !row.withheld.empty();
    });
    return failed ? kSomeFailed : kFine;
  }

  size_t Width() const { return WidthOf(files_, 4); }

  Row Optimise(size_t i) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    Row row;
    row.file = files_[i];
    const StatusOr<ProgramInfo> program =
        LoadProgram(*pool_, row.file, options_.common.MostInputBytes());
    if (!program) {
      row.error = program.error();
      return row;
    }
    row.program = *program;
    WarnOfStandIns(row.file, *program);
    if (Status done = OptimiseLoaded(i, row); !done) row.error = done.error();
    pool_->Unload(program->id);
    row.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return row;
  }

  Status OptimiseLoaded(size_t i, Row& row) {
    CommandEvents events(options_.common.ShowProgress(), stop_);
    job_.file = row.file;
    job_.search.format = outputs_[i].empty() ? ExportFormat::kProto : FormatFor(outputs_[i]);
    auto optimized = OptimizeProgram(*pool_, row.program, job_, events);
    if (!optimized) return tl::unexpected(optimized.error());
    row.optimized = *std::move(optimized);
    if (Status wrote = Write(i, row); !wrote || reports_[i].empty()) return wrote;
    const jobs::OptimizeReport what{row.file,           row.program,      row.optimized.result,
                                    options_.objective, options_.actions, options_.search,
                                    options_.seed};
    const Status wrote = WriteReport(reports_[i], MakeReport(*pool_, what, events));
    if (wrote) row.report = reports_[i];
    return wrote;
  }

  // The result and its recipe, if wanted and if it may be given out.
  Status Write(size_t i, Row& row) {
    if (outputs_[i].empty() && recipes_[i].empty()) return {};
    if (!row.optimized.withheld.empty()) {
      row.withheld = "not written: " + row.optimized.withheld +
                     "; give --allow-unverified to have it all the same";
      return {};
    }
    if (!outputs_[i].empty()) {
      const std::string& bytes = row.optimized.result.bytes;
      if (Status wrote = WriteProgram(outputs_[i], bytes, options_.common); !wrote) return wrote;
      row.output = outputs_[i];
    }
    if (recipes_[i].empty()) return {};
    const Recipe recipe = RecipeOf(*pool_, row.program, job_, row.optimized);
    const Status wrote = WriteFile(recipes_[i], RecipeToJson(recipe));
    if (wrote) row.recipe = recipes_[i];
    return wrote;
  }

  OptimizeFlags& options_;
  jobs::OptimizeProgramOptions job_;  // but for the file
  std::vector<std::string> files_;
  std::vector<std::string> outputs_;
  std::vector<std::string> recipes_;
  std::vector<std::string> reports_;
  std::unique_ptr<store::Store> store_;  // null where none was named
  const std::atomic<bool>* stop_ = nullptr;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<device::RemoteDevice> device_;  // null where none was named
};

}  // namespace

Run AddOptimize(CLI::App& app) {
  auto options = std::make_shared<OptimizeFlags>();
  app.add_option("FILE", options->files, "programs, or folders of them; paths or URIs")
      ->required()
      ->type_name("");
  AddObjectiveOption(app, options->objective);
  AddActionSetOption(app, options->actions);
  AddSearchOption(app, options->search, "how to search")->capture_default_str();
  AddModelOptions(app, options->models);
  AddBudget(app, "--budget", options->budget,
            "time, steps or both, of the search on a program: 2m, 2000steps, 2m,2000steps (30s)");
  app.add_option("--seed", options->seed, "of the search and of the inputs")->capture_default_str();
  AddInputsOption(app, options->inputs);
  AddDuration(app, "--verify-budget", options->verify_seconds, "time for verification (120s)");
  app.add_flag("--no-verify", options->no_verify, "skip it");
  app.add_flag("--allow-unverified", options->allow_unverified,
               "write a result that is not verified");
  AddDeviceOption(app, options->device,
                  "measure the result on a PJRT plugin's device: pjrt:/path/to/plugin.so");
  AddDuration(app, "--device-budget", options->device_seconds, "time for that (10s)");
  app.add_option("-o,--output", options->output,
                 "write the result here (.pb is binary); a folder for several files")
      ->type_name("OUT");
  app.add_option("--recipe", options->recipe, "write how it was made; a folder for several files")
      ->type_name("OUT");
  AddStoreOption(app, options->store);
  AddReportOption(app, options->report, /*several_files=*/true);
  app.add_flag("--timing", options->timing, "show where the time went");
  options->common.workers =
      static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 8u));
  AddDatasetsOption(app, options->common.datasets);
  AddCommonOptions(app, options->common);
  return [options] { return Optimization(*options).Run(); };
}

}  // namespace hone::cli
