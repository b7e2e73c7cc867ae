// hone tune: the fastest verified way to compile a program, within a budget.
#include "jobs/tune.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/cluster.h"
#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/device.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/parse.h"
#include "cli/report.h"
#include "cli/targets.h"
#include "cli/tune_row.h"
#include "cli/tuned_program.h"
#include "cost/cost_model.h"
#include "jobs/kernels.h"
#include "jobs/package.h"
#include "jobs/recording.h"
#include "jobs/report_tune.h"
#include "search/choices/choices.h"
#include "store/store.h"
#include "tune/device_evaluator.h"
#include "tune/estimates.h"

namespace hone::cli {
namespace {

constexpr double kNoLimit = 1e9;  // seconds
constexpr size_t kMostModelBytes = size_t{256} << 20;

struct TuneFlags {
  CommonOptions common;
  ClusterOptions cluster{ClusterOptions::Use::kMeasure};
  std::vector<std::string> files;
  std::string stages{jobs::kDefaultStages};
  std::string device;
  std::string search{choices::Choosers().front().name};
  std::string mode = "joint";
  Budget budget{600, std::numeric_limits<int64_t>::max()};
  std::string store;
  bool no_transfer = false;
  std::string cost_model = "none";
  bool fast_math = false;
  bool free_entry = false;
  bool no_verify = false;
  bool tasks = false;
  jobs::GivenInputs inputs;
  int hops = 5;
  uint64_t seed = 1;
  std::string policy;  // a file, "none", or "" for the one that comes with hone
  std::string plan;
  std::string output;
  std::string report;
};

class Tuning {
 public:
  explicit Tuning(TuneFlags& options) : options_(options) {}

  int Run() {
    const bool json = options_.common.json;
    if (Status found = FindFiles(); !found) return Fail(found.error(), where_, json);
    if (Status set = SetJob(); !set) return Fail(set.error(), json);
    if (Status fits = CheckDevice(); !fits) return Fail(fits.error(), json);
    if (Status fits = CheckTarget(); !fits) return Fail(fits.error(), json);
    if (Status read = ReadEstimate(); !read) return Fail(read.error(), options_.cost_model, json);
    if (Status read = ReadPolicy(); !read) return Fail(read.error(), options_.policy, json);
    if (Status fine = CheckReports(options_.report); !fine) return Fail(fine.error(), json);
    const auto planned = PlanTargets(files_, {{options_.plan, ".json", plans_},
                                              {options_.output, ".hlo", outputs_},
                                              {options_.report, ".html", reports_}});
    if (!planned) return Fail(planned.error(), json);
    auto store = OpenStore(options_.store);
    if (!store) return Fail(store.error(), options_.store, json);
    store_ = std::move(*store);
    if (store_ != nullptr) {
      job_.store = store_.get();
      if (Status served = jobs::ServeSchedules(*store_); !served) {
        return Fail(served.error(), options_.store, json);
      }
    }
    stop_ = StopOnInterrupt();
    auto cluster = Connect(options_.cluster, options_.common);
    if (!cluster) return Fail(cluster.error(), json);
    cluster_ = *std::move(cluster);
    if (cluster_ != nullptr) job_.workers_are_on = {cluster_->cpu(), cluster_->cores()};
    const size_t width = WidthOf(files_, 4);
    if (!json && files_.size() > 1) (void)WriteStdout(TuneHeader(width));
    std::vector<TuneRow> rows;
    for (size_t i = 0; i < files_.size() && !*stop_; ++i) {
      rows.push_back(Tune(i));
      if (rows.back().error && files_.size() == 1) {
        return Fail(*rows.back().error, rows.back().file, json);
      }
      if (json) continue;
      (void)WriteStdout((files_.size() == 1 ? TuneHeader(width) : std::string()) +
                        TuneLine(rows.back(), width) + TuneDetails(rows.back()));
    }
    return Answer(rows);
  }

 private:
  // Of a recording the modules that are worth it, each with its part of the budget.
  Status FindFiles() {
    where_ = options_.files.front();
    if (options_.files.size() == 1) {
      StatusOr<std::optional<jobs::Recording>> recording = jobs::ReadRecording(where_);
      if (!recording) return tl::unexpected(recording.error());
      recording_ = *std::move(recording);
    }
    if (recording_) {
      if (!options_.device.empty()) {
        return MakeError(
            ErrorCode::kInvalidInput,
            "a recording is tuned for the JAX that made it, not for a device; name its "
            "modules one by one to tune them with --device");
      }
      for (const jobs::Share& share : SharesOf(*recording_, options_.budget.seconds)) {
        files_.push_back(share.file);
        seconds_.push_back(share.seconds);
      }
      if (!files_.empty()) return {};
      return MakeError(ErrorCode::kInvalidInput,
                       "no module in this recording has run; record a script that calls what it "
                       "compiles");
    }
    auto expanded = ExpandInputs(options_.files, options_.common.datasets);
    if (!expanded) {
      where_ = expanded.error().file;
      return tl::unexpected(expanded.error().error);
    }
    files_ = *std::move(expanded);
    seconds_.assign(files_.size(), options_.budget.seconds);
    return {};
  }

  // Tries in the script's own JAX what was kept of a recording. Adds what came of it to `json`.
  int TryInJax(Json& json) {
    store_.reset();
    std::vector<std::string> arguments{recording_->folder, "--store", options_.store, "--seed",
                                       std::to_string(options_.seed)};
    if (options_.common.json) arguments.push_back("--json");
    if (!options_.common.ShowProgress()) arguments.push_back("--quiet");
    const StatusOr<jobs::Finished> done =
        jobs::RunModule(recording_->python, "hone.jax.prepare", arguments, /*show=*/true);
    if (!done) return Fail(done.error(), recording_->folder, options_.common.json);
    if (options_.common.json) {
      json["in_jax"] = Json::parse(done->out, nullptr, /*allow_exceptions=*/false);
    } else {
      (void)WriteStdout(done->out);
    }
    return done->exit_code == 0 ? kFine : kSomeFailed;
  }

  int Answer(const std::vector<TuneRow>& rows) {
    double sum = 0;
    double most = 1;
    int kept = 0;
    int failed = 0;
    for (const TuneRow& row : rows) {
      failed += row.error ? 1 : 0;
      if (row.error) continue;
      const tune::TuneResult& result = row.tuned.result;
      const double speedup = result.kept ? result.race.speedup : 1;
      kept += result.kept ? 1 : 0;
      sum += speedup;
      most = std::max(most, speedup);
    }
    int code = *stop_ ? kInterrupted : failed > 0 ? kSomeFailed : kFine;
    Json json;
    if (recording_ && !options_.store.empty() && kept > 0 && !*stop_) {
      if (const int tried = TryInJax(json); tried != kFine) code = tried;
    }
    const int fine = static_cast<int>(rows.size()) - failed;
    const double mean = fine > 0 ? sum / fine : 1;
    if (!options_.common.json) {
      if (files_.size() == 1) return code;
      return Finish(
          fmt::format("mean speed-up {:.3f}, most {:.3f}; {} tuned, {} stock, {} failed\n", mean,
                      most, kept, fine - kept, failed),
          code);
    }
    if (files_.size() == 1 && !rows.empty() && !recording_)
      return Finish(TuneRowJson(rows[0]), code);
    json["results"] = Json::array();
    for (const TuneRow& row : rows) json["results"].push_back(TuneRowJson(row));
    json["summary"] = {{"mean_speedup", mean},
                       {"most_speedup", most},
                       {"tuned", kept},
                       {"stock", fine - kept},
                       {"failed", failed}};
    return Finish(json, code);
  }

  Status SetJob() {
    const bool device = !options_.device.empty();
    const StatusOr<tune::Stages> stages = jobs::StagesFor(options_.stages, device);
    if (!stages) return tl::unexpected(stages.error());
    if (device && options_.cost_model != "none") {
      return MakeError(ErrorCode::kInvalidInput,
                       "a cost model looks at XLA:CPU's optimised modules, which there are none of "
                       "on a device; leave out --cost-model or --device");
    }
    tune::TuneOptions& tuning = job_.tuning;
    tuning.stages = *stages;
    tuning.strategy = options_.search;
    tuning.mode = options_.mode == "joint" ? tune::Mode::kJoint : tune::Mode::kSequential;
    if (options_.budget.steps != Budget{}.steps) tuning.budget_evaluations = options_.budget.steps;
    tuning.seed = options_.seed;
    tuning.fast_math = options_.fast_math;
    tuning.free_entry = options_.free_entry;
    tuning.fusion_hops = options_.hops;
    tuning.verify = !options_.no_verify;
    tuning.tasks = options_.tasks;
    job_.inputs = options_.inputs;
    job_.transfer = !options_.no_transfer;
    return {};
  }

  Status CheckDevice() const {
    if (options_.device.empty()) return {};
    if (!options_.cluster.address.empty()) {
      return MakeError(ErrorCode::kInvalidInput,
                       "--device is measured on this machine, so it does not go with a cluster's "
                       "--workers: give one of the two");
    }
    if (!options_.report.empty()) {
      return MakeError(ErrorCode::kInvalidInput,
                       "a report looks into what XLA:CPU makes and its kernels' times: leave out "
                       "--report or --device");
    }
    return {};
  }

  // What goes by the clock of this machine does not go with a GPU that is not here.
  Status CheckTarget() const {
    if (options_.common.target == "cpu") return {};
    for (const auto& [given, what] :
         {std::pair(!options_.device.empty(), "--device"),
          std::pair(!options_.cluster.address.empty(), "a cluster's --workers"),
          std::pair(recording_.has_value(), "a recording"), std::pair(options_.tasks, "--tasks"),
          std::pair(!options_.report.empty(), "--report"),
          std::pair(options_.cost_model != "none", "--cost-model")}) {
      if (!given) continue;
      return MakeError(
          ErrorCode::kInvalidInput,
          fmt::format("for --target {} nothing is run, XLA's own model tells the times; "
                      "{} goes by runs: leave out one of the two",
                      options_.common.target, what));
    }
    return {};
  }

  Status ReadEstimate() {
    if (options_.cost_model == "none") return {};
    if (options_.cost_model == "roofline") {
      job_.tuning.estimate = tune::RooflineEstimate(cost::MeasureMachine());
      return {};
    }
    const StatusOr<std::string> bytes = ReadInput(options_.cost_model, kMostModelBytes);
    if (!bytes) return tl::unexpected(bytes.error());
    StatusOr<cost::CostModel> model = cost::ReadCostModel(*bytes);
    if (!model) return tl::unexpected(model.error());
    job_.tuning.estimate = tune::ModelEstimate(*std::move(model));
    return {};
  }

  Status ReadPolicy() {
    if (options_.policy.empty()) return {};
    job_.policy.emplace();
    if (options_.policy == "none") return {};
    const StatusOr<std::string> text = ReadInput(options_.policy, kMostModelBytes);
    if (!text) return tl::unexpected(text.error());
    StatusOr<tune::ChangePolicy> policy = tune::ChangePolicy::FromJson(*text);
    if (!policy) return tl::unexpected(policy.error());
    job_.policy = *std::move(policy);
    return {};
  }

  TuneRow Tune(size_t i) {
    TuneRow row;
    row.file = files_[i];
    if (Status tuned = TuneFile(i, row); !tuned) row.error = tuned.error();
    return row;
  }

  Status TuneFile(size_t i, TuneRow& row) {
    StatusOr<std::string> data = ReadInput(row.file, options_.common.MostInputBytes());
    if (!data) return tl::unexpected(data.error());
    CommandEvents events(options_.common.ShowProgress(), stop_);
    const StatusOr<jobs::OpenedProgram> opened = jobs::OpenProgram(
        *std::move(data),
        OpenOptionsFor(options_.common, options_.device, options_.seed, cluster_.get()), events);
    if (!opened) return tl::unexpected(opened.error());
    job_.file = row.file;
    job_.tuning.budget_seconds = std::isfinite(seconds_[i]) ? seconds_[i] : kNoLimit;
    StatusOr<jobs::TunedProgram> tuned = TuneProgram(*opened, job_, events);
    if (!tuned) return tl::unexpected(tuned.error());
    row.tuned = *std::move(tuned);
    if (Status wrote = Write(i, *opened->evaluator, row); !wrote || reports_[i].empty()) {
      return wrote;
    }
    const jobs::TuneReport what{row.file,        row.tuned.result, options_.search,
                                options_.stages, options_.seed,    row.tuned.others_cores};
    const Status wrote = WriteReport(reports_[i], MakeReport(*opened->programs, what, events));
    if (wrote) row.report = reports_[i];
    return wrote;
  }

  Status Write(size_t i, tune::Evaluator& evaluator, TuneRow& row) {
    const tune::TunePlan& plan = row.tuned.result.plan;
    if (!plans_[i].empty()) {
      const std::string text = tune::TunePlanToJson(plan, row.tuned.stand_ins);
      if (Status wrote = WriteFile(plans_[i], text); !wrote) return wrote;
      row.plan_file = plans_[i];
    }
    if (outputs_[i].empty()) return {};
    const StatusOr<Compiled> compiled = jobs::CompileUnder(evaluator, plan);
    if (!compiled) return tl::unexpected(compiled.error());
    const Status wrote = WriteProgram(outputs_[i], compiled->text, options_.common);
    if (wrote) row.output = outputs_[i];
    return wrote;
  }

  TuneFlags& options_;
  jobs::TuneProgramOptions job_;  // but for the file and its budget
  std::string where_;             // of a file that cannot be found
  std::optional<jobs::Recording> recording_;
  std::vector<std::string> files_;
  std::vector<double> seconds_;  // of each file's budget
  std::vector<std::string> plans_;
  std::vector<std::string> outputs_;
  std::vector<std::string> reports_;
  std::unique_ptr<store::Store> store_;
  const std::atomic<bool>* stop_ = nullptr;
  std::shared_ptr<Cluster> cluster_;  // null where workers run here
};

}  // namespace

Run AddTune(CLI::App& app) {
  auto options = std::make_shared<TuneFlags>();
  app.add_option("FILE", options->files, "programs, or folders of them; paths or URIs")
      ->required()
      ->type_name("");
  app.add_option(
         "--stages", options->stages,
         fmt::format("what to decide, commas between them: {}", fmt::join(kStageNames, ", ")))
      ->capture_default_str();
  AddDeviceOption(app, options->device,
                  fmt::format("tune for a PJRT plugin's device, pjrt:/path/to/plugin.so; stages {}",
                              tune::kDeviceStages));
  std::vector<std::string> searchers;
  for (const choices::ChooserInfo& info : choices::Choosers()) searchers.emplace_back(info.name);
  app.add_option("--search", options->search, "how to search")
      ->check(CLI::IsMember(searchers))
      ->capture_default_str();
  app.add_option("--mode", options->mode, "the stages in turns, or one after another")
      ->check(CLI::IsMember({"joint", "sequential"}))
      ->capture_default_str();
  AddBudget(app, "--budget", options->budget,
            "time for a program, verifying included, evaluations, or both: 10m, 200steps (10m)");
  AddStoreOption(app, options->store);
  app.add_flag("--no-transfer", options->no_transfer,
               "do not begin with what other programs have taught the store");
  app.add_option("--cost-model", options->cost_model,
                 "measure only what this thinks best of what was compiled: roofline, none, or what "
                 "`hone costmodel train` wrote")
      ->capture_default_str()
      ->type_name("MODEL");
  app.add_option("--policy", options->policy,
                 "what to try first: what `hone store learn` wrote, or none (what comes with hone)")
      ->type_name("FILE");
  app.add_flag("--fast-math", options->fast_math, "offer flags that change the numerics too");
  app.add_flag("--free-entry", options->free_entry,
               "its caller can pass and take arrays in any layout: decide those of parameters and "
               "results too");
  app.add_option("--hops", options->hops, "neighbourhood by which fusion decisions are told apart")
      ->check(CLI::Range(0, 20))
      ->capture_default_str();
  app.add_option("--seed", options->seed, "of the search and of the inputs")->capture_default_str();
  app.add_flag("--no-verify", options->no_verify, "do not compare outputs");
  app.add_flag("--tasks", options->tasks,
               "tune the dearest operations alone before the whole; in trial");
  AddInputsOption(app, options->inputs);
  app.add_option("--plan", options->plan, "write the plan here; a folder for several files")
      ->type_name("OUT");
  app.add_option("-o,--output", options->output,
                 "write the optimised program as text; a folder for several files")
      ->type_name("OUT");
  AddReportOption(app, options->report, /*several_files=*/true);
  AddDatasetsOption(app, options->common.datasets);
  AddCommonOptions(app, options->common);
  AddClusterOptions(app, options->common, options->cluster);
  return [options] { return Tuning(*options).Run(); };
}

}  // namespace hone::cli
