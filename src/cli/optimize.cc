// hone optimize: a better order of XLA's passes, searched, replayed, verified.
#include "tune/optimize.h"

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
#include "cli/given_inputs.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/kernels.h"
#include "cli/models.h"
#include "cli/output.h"
#include "cli/parse.h"
#include "cli/program_set.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/targets.h"
#include "core/objective.h"
#include "jobs/compare.h"
#include "jobs/report_optimize.h"
#include "report/html.h"
#include "search/searcher.h"
#include "tune/recipe.h"

namespace hone::cli {
namespace {

struct Options {
  CommonOptions common;
  std::vector<std::string> files;
  std::string objective = "op_count";
  std::string actions = "simplify";
  std::string search{Searchers().front().name};
  ModelOptions models;
  Budget budget{30, std::numeric_limits<int64_t>::max()};
  uint64_t seed = 1;
  InputsOption inputs;
  double verify_seconds = 120;
  bool no_verify = false;
  bool allow_unverified = false;
  bool timing = false;
  std::string device;
  double device_seconds = 10;
  std::string output;
  std::string recipe;
  std::string report;
};

// One file's outcome: a result or an error.
struct Row {
  std::string file;
  std::optional<Error> error;
  ProgramInfo program;
  OptimizeResult result;
  double seconds = 0;
  std::optional<jobs::OnDevice> on_device;
  std::string output;  // where it was written; empty where it was not
  std::string recipe;
  std::string report;
  std::string withheld;  // why it was not written though asked for

  std::optional<double> Ratio() const {
    if (error || result.by_default >= result.initial) return std::nullopt;
    return (result.initial - result.value) / (result.initial - result.by_default);
  }
  std::string Verified() const {
    return !result.verification_ran ? "skipped" : result.verified() ? "true" : "false";
  }
};

std::vector<std::string> Names(const Pool& pool, const std::vector<PassId>& passes) {
  std::vector<std::string> names;
  for (PassId pass : passes) names.push_back(pool.passes()[pass].name);
  return names;
}

Json RowJson(const Pool& pool, const device::RemoteDevice* device, const Row& row,
             const Options& options) {
  if (row.error) return {{"file", row.file}, {"error", ErrorJson(*row.error, row.file)}};
  const OptimizeResult& result = row.result;
  Json json;
  json["file"] = row.file;
  json["instructions"] = row.program.metrics.op_count;
  json["objective"] = options.objective;
  json["initial"] = result.initial;
  json["default"] = result.by_default;
  json["result"] = result.value;
  json["ratio"] = row.Ratio() ? Json(*row.Ratio()) : Json(nullptr);
  if (result.verification_ran) {
    json["verified"] = result.verified();
  } else {
    json["verified"] = "skipped";
  }
  const ComparisonReport& report = result.verification;
  json["verification"] = {{"method", report.method},
                          {"inputs", report.inputs},
                          {"worst_error", report.worst_error},
                          {"finite_share", report.finite_share},
                          {"reason", report.reason},
                          {"seconds", result.verify_seconds},
                          {"compile_seconds", report.compile_seconds},
                          {"processor_seconds", report.processor_seconds}};
  json["passes"] = Names(pool, result.passes);
  json["steps"] = result.steps;
  json["evaluated"] = result.evaluated;
  json["passes_run"] = result.timing.passes_run;
  json["seconds"] = row.seconds;
  json["search_seconds"] = result.search_seconds;
  json["steps_per_second"] = static_cast<double>(result.steps) / result.search_seconds;
  json["passes_run_per_second"] =
      static_cast<double>(result.timing.passes_run) / result.search_seconds;
  json["seconds_in_xla"] = result.timing.InXla();
  json["stop_reason"] = StopReasonName(result.stop_reason);
  json["failures"] = Json::array();
  for (const Failure& failure : result.failures) {
    json["failures"].push_back(
        {{"pass", failure.pass}, {"why", failure.why}, {"times", failure.times}});
  }
  json["rejected"] = result.rejected;
  if (!result.default_complaint.empty()) json["no_default"] = result.default_complaint;
  json["best_so_far"] = Json::array();
  for (const Improvement& better : result.improvements) {
    json["best_so_far"].push_back(
        {{"steps", better.steps}, {"seconds", better.seconds}, {"value", better.value}});
  }
  json["fingerprint"] = result.state.ToHex();
  AddStandIns(row.program, json);
  if (options.timing) json["timing"] = TimingToJson(result.timing);
  if (row.on_device) json["on_device"] = OnDeviceJson(*device, *row.on_device);
  if (!row.output.empty()) json["output"] = row.output;
  if (!row.recipe.empty()) json["recipe"] = row.recipe;
  if (!row.report.empty()) json["report"] = row.report;
  if (!row.withheld.empty()) json["withheld"] = row.withheld;
  return json;
}

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
    const double by_default = row.result.by_default;
    ++(row.result.value < by_default    ? summary.better
       : row.result.value == by_default ? summary.equal
                                        : summary.worse);
    if (const auto ratio = row.Ratio(); ratio && *ratio > 0) {
      summary.log_sum += std::log(*ratio);
      ++summary.ratios;
    }
  }
  return summary;
}

// Seconds with their unit, whole numbers as such, large ones with a unit.
std::string Value(Unit unit, double value) {
  if (unit == Unit::kSeconds) return HumanSeconds(value);
  return value < 1e7 ? Grouped(static_cast<int64_t>(value)) : HumanCount(value);
}

std::string Header(size_t width) {
  return fmt::format("{:{}} {:>9} {:>9} {:>9} {:>7} {:>9} {:>7} {:>8}\n", "FILE", width, "INITIAL",
                     "DEFAULT", "RESULT", "RATIO", "VERIFIED", "STEPS/S", "SECONDS");
}

std::string TableLine(const Row& row, Unit unit, size_t width) {
  if (row.error)
    return fmt::format("{:{}} failed: {}\n", row.file, width, Printable(row.error->message));
  const OptimizeResult& result = row.result;
  std::string line = fmt::format(
      "{:{}} {:>9} {:>9} {:>9} {:>7} {:>9} {:>7.0f} {:>8.1f}\n", row.file, width,
      Value(unit, result.initial),
      result.default_complaint.empty() ? Value(unit, result.by_default) : "-",
      Value(unit, result.value), row.Ratio() ? fmt::format("{:.4f}", *row.Ratio()) : "-",
      !result.verification_ran ? "skipped"
      : result.verified()      ? "yes"
                               : "no",
      static_cast<double>(result.steps) / result.search_seconds, row.seconds);
  if (result.verification_ran && !result.verified()) {
    line += fmt::format("{:{}}   not verified: {}\n", "", 0, Printable(result.verification.reason));
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
                    const Options& options) {
  const OptimizeResult& result = row.result;
  std::string text = "\n";
  if (!result.default_complaint.empty()) {
    text += "no default order to compare with: " + Printable(result.default_complaint) + "\n";
  } else if (result.value == result.by_default) {
    text += "nothing better than XLA's own order was found; this is its result\n";
  }
  text += "passes:";
  for (const std::string& name : Names(pool, result.passes)) text += " " + name;
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
  if (row.on_device) text += OnDeviceText(*device, *row.on_device);
  if (options.timing) text += TimingText(result, pool.workers());
  return text;
}

Recipe MakeRecipe(const Pool& pool, const Row& row, const Options& options) {
  const OptimizeResult& result = row.result;
  Recipe recipe;
  recipe.hone_version = HoneVersion();
  recipe.xla_version = pool.version();
  recipe.program = {row.file, row.program.name, row.program.fingerprint.ToHex()};
  recipe.passes = Names(pool, result.passes);
  recipe.result_fingerprint = result.state.ToHex();
  recipe.objective = options.objective;
  recipe.initial_value = result.initial;
  recipe.default_value = result.by_default;
  recipe.result_value = result.value;
  recipe.seed = options.seed;
  recipe.flags = {{"actions", options.actions}, {"search", options.search}};
  if (row.program.stand_in_constants > 0) {
    recipe.flags[kStandInsFlag] = std::to_string(row.program.stand_in_constants);
  }
  if (std::isfinite(options.budget.seconds)) {
    recipe.flags["budget_seconds"] = fmt::format("{}", options.budget.seconds);
  }
  if (options.budget.steps != Budget{}.steps) {
    recipe.flags["budget_steps"] = std::to_string(options.budget.steps);
  }
  recipe.verification = {row.Verified(), result.verification.method, result.verification.inputs,
                         result.verification.worst_error};
  if (!result.verification.reason.empty()) {
    recipe.verification.method += ": " + result.verification.reason;
  }
  return recipe;
}

class Optimization {
 public:
  explicit Optimization(Options& options) : options_(options) {}

  int Run() {
    const auto expanded = ExpandInputs(options_.files, options_.common.datasets);
    if (!expanded) {
      return Fail(expanded.error().error, expanded.error().file, options_.common.json);
    }
    files_ = *expanded;
    if (Status loaded = LoadModels(options_.models, options_.search, models_); !loaded) {
      return Fail(loaded.error(), options_.common.json);
    }
    if (!options_.report.empty()) {
      if (Status have = report::HaveTemplate(); !have) {
        return Fail(have.error(), options_.common.json);
      }
    }
    for (auto [given, extension, targets] : {std::tuple(&options_.output, ".hlo", &outputs_),
                                             std::tuple(&options_.recipe, ".json", &recipes_),
                                             std::tuple(&options_.report, ".html", &reports_)}) {
      auto planned = Targets(files_, *given, extension);
      if (!planned) return Fail(planned.error(), *given, options_.common.json);
      *targets = *planned;
      for (const std::string& target : *targets) {
        if (target.empty()) continue;
        if (Status fine = CheckWritable(target); !fine) {
          return Fail(fine.error(), target, options_.common.json);
        }
      }
    }
    if (!options_.device.empty()) {
      const Waiting waiting(options_.common.ShowProgress(), "loading the plugin");
      auto device = StartDevice(options_.common, options_.device);
      if (!device) return Fail(device.error(), options_.common.json);
      device_ = *std::move(device);
    }
    stop_ = StopOnInterrupt();
    auto pool = StartPool(options_.common, stop_);
    if (!pool) return Fail(pool.error(), options_.common.json);
    pool_ = std::move(*pool);
    return files_.size() == 1 ? RunOne() : RunAll();
  }

 private:
  int RunOne() {
    const Row row = Optimise(0);
    if (row.error) return Fail(*row.error, row.file, options_.common.json);
    const int code = Code({row});
    if (options_.common.json) return Finish(RowJson(*pool_, device_.get(), row, options_), code);
    std::string text =
        Header(Width()) + TableLine(row, UnitOfValues(), Width()) +
        Details(*pool_, device_.get(), row, options_);
    if (!row.output.empty()) text += "written to " + row.output + "\n";
    if (!row.recipe.empty()) text += "recipe in " + row.recipe + "\n";
    if (!row.report.empty()) text += "report in " + row.report + "\n";
    if (!row.withheld.empty()) Warn(row.file, row.withheld);
    return Finish(text, code);
  }

  int RunAll() {
    std::vector<Row> rows;
    if (!options_.common.json) (void)WriteStdout(Header(Width()));
    for (size_t i = 0; i < files_.size() && !*stop_; ++i) {
      rows.push_back(Optimise(i));
      if (!options_.common.json) (void)WriteStdout(TableLine(rows.back(), UnitOfValues(), Width()));
      if (!rows.back().withheld.empty()) Warn(rows.back().file, rows.back().withheld);
    }
    const Summary summary = Summarise(rows);
    const auto geomean = summary.Geomean();
    const int code = Code(rows);
    if (options_.common.json) {
      Json json;
      json["results"] = Json::array();
      for (const Row& row : rows)
        json["results"].push_back(RowJson(*pool_, device_.get(), row, options_));
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

  int Code(const std::vector<Row>& rows) const {
    if (*stop_) return kInterrupted;
    const bool failed = std::any_of(rows.begin(), rows.end(), [](const Row& row) {
      return row.error.has_value() || !row.withheld.empty();
    });
    return failed ? kSomeFailed : kFine;
  }

  Unit UnitOfValues() const { return InfoOf(*ObjectiveFromName(options_.objective)).unit; }

  size_t Width() const {
    size_t width = 4;
    for (const std::string& file : files_) width = std::max(width, file.size());
    return width;
  }

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
    if (program->elided_constants && !options_.allow_unverified) {
      row.error = Error{ErrorCode::kInvalidInput,
                        "its text has elided constants, {...}: their values are lost, so it cannot "
                        "be run and no result can be verified; dump it again with large constants, "
                        "or give --stand-in-constants, which makes values up for them, or "
                        "--allow-unverified"};
    } else {
      Search(row, outputs_[i].empty() ? ExportFormat::kProto : FormatFor(outputs_[i]));
      if (!row.error && device_ != nullptr) MeasureOnDevice(row);
      if (!row.error) Write(i, row);
      if (!row.error) Report(i, row);
    }
    pool_->Unload(program->id);
    row.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return row;
  }

  void Search(Row& row, ExportFormat format) {
    Progress progress(options_.common.ShowProgress());
    OptimizeOptions search = models_;
    search.objective = *ObjectiveFromName(options_.objective);
    search.actions = options_.actions;
    search.search = options_.search;
    search.budget_seconds = std::isfinite(options_.budget.seconds) ? options_.budget.seconds : 0;
    search.budget_steps = options_.budget.steps == Budget{}.steps ? 0 : options_.budget.steps;
    search.seed = options_.seed;
    search.verify = !options_.no_verify;
    search.format = format;
    search.compare.seed = options_.seed;
    search.compare.budget_seconds = options_.verify_seconds;
    if (search.verify) {
      if (Status given = options_.inputs.Read(*pool_, row.program, row.file, &search.compare);
          !given) {
        row.error = given.error();
        return;
      }
    }
    search.interrupted = stop_;
    std::optional<Waiting> verifying;
    search.progress = [&](const OptimizeProgress& now) {
      verifying.reset();
      if (now.phase == "verify") {
        progress.Clear();
        verifying.emplace(options_.common.ShowProgress(),
                          fmt::format("verifying {}, {} -> {}, for {:.0f} s at most", row.file,
                                      Value(UnitOfValues(), now.initial),
                                      Value(UnitOfValues(), now.best), options_.verify_seconds));
        return;
      }
      if (!progress.Due()) return;
      progress.Show(fmt::format("{}: {} {:.0f} s, {} steps, {} -> {} (XLA's own order: {})",
                                row.file, now.phase, now.seconds, Grouped(now.steps),
                                Value(UnitOfValues(), now.initial), Value(UnitOfValues(), now.best),
                                Value(UnitOfValues(), now.by_default)));
    };
    StatusOr<OptimizeResult> result = Optimize(*pool_, row.program, search);
    verifying.reset();
    if (!result) {
      row.error = result.error();
    } else {
      row.result = *std::move(result);
    }
  }

  void MeasureOnDevice(Row& row) {
    const Waiting waiting(options_.common.ShowProgress(), "measuring " + row.file);
    StateName state{row.program.id, {}};
    for (PassId pass : row.result.passes) state.links.push_back({pass, {}});
    RaceOptions racing;
    racing.budget_seconds = options_.device_seconds;
    racing.least_pairs = 20;
    racing.seed = options_.seed;
    CompareOptions comparing;
    comparing.seed = options_.seed;
    comparing.budget_seconds = options_.verify_seconds;
    if (Status given = options_.inputs.Read(*pool_, row.program, row.file, &comparing); !given) {
      row.error = given.error();
      return;
    }
    row.on_device = jobs::TryOnDevice(*pool_, row.program, state, *device_, racing,
                                      options_.no_verify ? nullptr : &comparing, stop_);
  }

  // The result and its recipe, if wanted and if it may be given out.
  void Write(size_t i, Row& row) {
    if (outputs_[i].empty() && recipes_[i].empty()) return;
    if (!row.result.verified() && !options_.allow_unverified) {
      row.withheld = "not written: the result is not verified (" +
                     (row.result.verification_ran ? row.result.verification.reason
                                                  : std::string("verification was skipped")) +
                     "); give --allow-unverified to have it all the same";
      return;
    }
    if (!outputs_[i].empty()) {
      if (Status wrote = WriteProgram(outputs_[i], row.result.bytes, options_.common); !wrote) {
        row.error = wrote.error();
        return;
      }
      row.output = outputs_[i];
    }
    if (!recipes_[i].empty()) {
      if (Status wrote = WriteFile(recipes_[i], RecipeToJson(MakeRecipe(*pool_, row, options_)));
          !wrote) {
        row.error = wrote.error();
        return;
      }
      row.recipe = recipes_[i];
    }
  }

  void Report(size_t i, Row& row) {
    if (reports_[i].empty()) return;
    const jobs::OptimizeReport what{row.file,           row.program,      row.result,
                                    options_.objective, options_.actions, options_.search,
                                    options_.seed};
    CommandEvents events(options_.common.ShowProgress(), stop_);
    if (Status wrote = WriteReport(reports_[i], MakeReport(*pool_, what, events)); !wrote) {
      row.error = wrote.error();
      return;
    }
    row.report = reports_[i];
  }

  Options& options_;
  std::vector<std::string> files_;
  std::vector<std::string> outputs_;
  std::vector<std::string> recipes_;
  std::vector<std::string> reports_;
  OptimizeOptions models_;  // what the searcher needs of them
  const std::atomic<bool>* stop_ = nullptr;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<device::RemoteDevice> device_;  // null where none was named
};

}  // namespace

Run AddOptimize(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("FILE", options->files, "programs, or folders of them; paths or URIs")
      ->required()
      ->type_name("");
  AddObjectiveOption(app, options->objective);
  AddActionSetOption(app, options->actions);
  std::vector<std::string> searchers;
  for (const SearcherInfo& searcher : Searchers()) searchers.emplace_back(searcher.name);
  app.add_option("--search", options->search, "how to search")
      ->check(CLI::IsMember(searchers))
      ->capture_default_str();
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
  AddReportOption(app, options->report, /*several_files=*/true);
  app.add_flag("--timing", options->timing, "show where the time went");
  options->common.workers =
      static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 8u));
  AddDatasetsOption(app, options->common.datasets);
  AddCommonOptions(app, options->common);
  return [options] { return Optimization(*options).Run(); };
}

}  // namespace hone::cli
