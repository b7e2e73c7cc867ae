#include "jobs/tune_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "cost/cost_model.h"
#include "jobs/input.h"
#include "jobs/kernels.h"
#include "jobs/package.h"
#include "jobs/recording.h"
#include "jobs/report.h"
#include "jobs/report_tune.h"
#include "jobs/store.h"
#include "jobs/targets.h"
#include "jobs/write_file.h"
#include "report/html.h"
#include "tune/estimates.h"

namespace hone::jobs {
namespace {

constexpr double kNoLimit = 1e9;  // seconds
constexpr size_t kMostModelBytes = size_t{256} << 20;

class Tuning {
 public:
  Tuning(const TuneFilesOptions& options, const WorkerOptions& workers, Events& events)
      : options_(options), workers_(workers), events_(events) {}

  FileOr<TunedFiles> Run() {
    if (auto ready = Prepare(); !ready) return tl::unexpected(ready.error());
    events_.HoldInterrupts();
    auto cluster = Cluster::Connect(options_.cluster, workers_);
    if (!cluster) return Wrong("", cluster.error());
    cluster_ = *std::move(cluster);
    if (cluster_ != nullptr) job_.workers_are_on = {cluster_->cpu(), cluster_->cores()};
    if (options_.begin) options_.begin(names_);
    TunedFiles tuned;
    for (size_t i = 0; i < files_.size() && !events_.stopped(); ++i) {
      TunedFile row;
      row.file = files_[i].file;
      if (Status done = TuneFile(i, row); !done) row.error = done.error();
      if (row.error && files_.size() == 1) return Wrong(row.file, *row.error);
      if (options_.done) options_.done(row);
      tuned.rows.push_back(std::move(row));
    }
    Summarise(tuned);
    tuned.one = files_.size() == 1 && tuned.rows.size() == 1 && !recording_;
    if (recording_ && store_ != nullptr && tuned.tuned > 0 && !events_.stopped()) {
      store_.reset();
      tuned.in_jax = TryInJax();
    }
    return tuned;
  }

 private:
  FileOr<void> Prepare() {
    if (auto found = FindFiles(); !found) return found;
    for (const Share& share : files_) names_.push_back(share.file);
    if (Status set = SetJob(); !set) return Wrong("", set.error());
    if (Status fits = CheckDevice(); !fits) return Wrong("", fits.error());
    if (Status fits = CheckTarget(); !fits) return Wrong("", fits.error());
    if (Status read = ReadEstimate(); !read) return Wrong(options_.cost_model, read.error());
    if (Status read = ReadPolicy(); !read) return Wrong(options_.policy, read.error());
    if (!options_.report.empty()) {
      if (Status have = report::HaveTemplate(); !have) return Wrong("", have.error());
    }
    if (auto planned = PlanTargets(names_, {{options_.plan, ".json", plans_},
                                            {options_.output, ".hlo", outputs_},
                                            {options_.report, ".html", reports_}});
        !planned) {
      return planned;
    }
    auto store = OpenStore(options_.store);
    if (!store) return tl::unexpected(store.error());
    store_ = *std::move(store);
    job_.store = store_.get();
    if (store_ == nullptr) return {};
    if (Status served = ServeSchedules(*store_); !served) {
      return Wrong(options_.store, served.error());
    }
    return {};
  }

  // Of a recording the modules that are worth it, each with its part of the budget.
  FileOr<void> FindFiles() {
    const std::string& first = options_.files.front();
    if (options_.files.size() == 1) {
      StatusOr<std::optional<Recording>> recording = ReadRecording(first);
      if (!recording) return Wrong(first, recording.error());
      recording_ = *std::move(recording);
    }
    if (recording_) {
      if (!options_.device.empty()) {
        return Wrong(first,
                     {ErrorCode::kInvalidInput,
                      "a recording is tuned for the JAX that made it, not for a device; name its "
                      "modules one by one to tune them with --device"});
      }
      files_ = SharesOf(*recording_, options_.budget.seconds);
      if (!files_.empty()) return {};
      return Wrong(first, {ErrorCode::kInvalidInput,
                           "no module in this recording has run; record a script that calls what "
                           "it compiles"});
    }
    const auto expanded = ExpandInputs(options_.files, workers_.datasets);
    if (!expanded) return tl::unexpected(expanded.error());
    for (const std::string& file : *expanded) files_.push_back({file, options_.budget.seconds});
    return {};
  }

  Status SetJob() {
    const bool device = !options_.device.empty();
    const StatusOr<tune::Stages> stages = StagesFor(options_.stages, device);
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
    tuning.verify = options_.verify;
    tuning.tasks = options_.tasks;
    job_.inputs = options_.inputs;
    job_.transfer = options_.transfer;
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
    if (workers_.target == "cpu") return {};
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
                      workers_.target, what));
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
    StatusOr<tune::ChangePolicy> policy = ReadChangePolicy(options_.policy);
    if (!policy) return tl::unexpected(policy.error());
    job_.policy = *std::move(policy);
    return {};
  }

  Status TuneFile(size_t i, TunedFile& row) {
    StatusOr<std::string> data = ReadInput(row.file, workers_.MostInputBytes());
    if (!data) return tl::unexpected(data.error());
    const auto open =
        OpenOptionsFor(workers_, options_.device, options_.seed, events_, cluster_.get());
    if (!open) return tl::unexpected(open.error());
    const StatusOr<OpenedProgram> opened = OpenProgram(*std::move(data), *open, events_);
    if (!opened) return tl::unexpected(opened.error());
    job_.file = row.file;
    job_.tuning.budget_seconds = std::isfinite(files_[i].seconds) ? files_[i].seconds : kNoLimit;
    StatusOr<TunedProgram> tuned = TuneProgram(*opened, job_, events_);
    if (!tuned) return tl::unexpected(tuned.error());
    row.tuned = *std::move(tuned);
    if (Status wrote = Write(i, *opened->evaluator, row); !wrote || reports_[i].empty()) {
      return wrote;
    }
    const TuneReport what{row.file,        row.tuned.result, options_.search,
                          options_.stages, options_.seed,    row.tuned.others_cores};
    const auto wrote = WriteReport(reports_[i], MakeReport(*opened->programs, what, events_));
    if (!wrote) return tl::unexpected(wrote.error().error);
    row.report = reports_[i];
    return {};
  }

  Status Write(size_t i, tune::Evaluator& evaluator, TunedFile& row) {
    const tune::TunePlan& plan = row.tuned.result.plan;
    if (!plans_[i].empty()) {
      const std::string text = tune::TunePlanToJson(plan, row.tuned.stand_ins);
      if (Status wrote = WriteFile(plans_[i], text); !wrote) return wrote;
      row.plan_file = plans_[i];
    }
    if (outputs_[i].empty()) return {};
    const StatusOr<Compiled> compiled = CompileUnder(evaluator, plan, /*raced=*/true);
    if (!compiled) return tl::unexpected(compiled.error());
    const auto wrote = WriteProgram(outputs_[i], compiled->text, workers_);
    if (!wrote) return tl::unexpected(wrote.error().error);
    row.output = outputs_[i];
    return {};
  }

  static void Summarise(TunedFiles& tuned) {
    double sum = 0;
    for (const TunedFile& row : tuned.rows) {
      if (row.error) {
        ++tuned.failed;
        continue;
      }
      const tune::TuneResult& result = row.tuned.result;
      const double speedup = result.kept ? result.race.speedup : 1;
      ++(result.kept ? tuned.tuned : tuned.stock);
      sum += speedup;
      tuned.most_speedup = std::max(tuned.most_speedup, speedup);
    }
    if (const int fine = tuned.tuned + tuned.stock; fine > 0) tuned.mean_speedup = sum / fine;
  }

  // Has the script's own JAX try what was kept of a recording.
  TunedFiles::InJax TryInJax() const {
    std::vector<std::string> arguments{recording_->folder, "--store", options_.store, "--seed",
                                       std::to_string(options_.seed)};
    if (options_.jax_says_json) arguments.emplace_back("--json");
    if (workers_.quiet) arguments.emplace_back("--quiet");
    const StatusOr<Finished> done =
        RunModule(recording_->python, "hone.jax.prepare", arguments, /*show=*/true);
    if (!done) return {"", false, FileError{recording_->folder, done.error()}};
    return {done->out, done->exit_code == 0, std::nullopt};
  }

  const TuneFilesOptions& options_;
  const WorkerOptions& workers_;
  Events& events_;
  TuneProgramOptions job_;  // but for the file and its budget
  std::optional<Recording> recording_;
  std::vector<Share> files_;  // each with its part of the budget
  std::vector<std::string> names_;
  std::vector<std::string> plans_;
  std::vector<std::string> outputs_;
  std::vector<std::string> reports_;
  std::unique_ptr<store::Store> store_;
  std::shared_ptr<Cluster> cluster_;  // null where workers run here
};

Json ToJson(const TunedFile& row) {
  if (row.error) return {{"file", row.file}, {"error", ErrorJson(*row.error, row.file)}};
  Json json = jobs::ToJson(row.file, row.tuned);
  AddTexts({{"plan_file", row.plan_file}, {"output", row.output}, {"report", row.report}}, json);
  return json;
}

}  // namespace

FileOr<TunedFiles> TuneFiles(const TuneFilesOptions& options, const WorkerOptions& workers,
                             Events& events) {
  return Tuning(options, workers, events).Run();
}

Json ToJson(const TunedFiles& tuned) {
  if (tuned.one) return ToJson(tuned.rows.front());
  Json json;
  if (tuned.in_jax && !tuned.in_jax->error) {
    json["in_jax"] = Json::parse(tuned.in_jax->said, nullptr, /*allow_exceptions=*/false);
  }
  json["results"] = Json::array();
  for (const TunedFile& row : tuned.rows) json["results"].push_back(ToJson(row));
  json["summary"] = {{"mean_speedup", tuned.mean_speedup},
                     {"most_speedup", tuned.most_speedup},
                     {"tuned", tuned.tuned},
                     {"stock", tuned.stock},
                     {"failed", tuned.failed}};
  return json;
}

}  // namespace hone::jobs
