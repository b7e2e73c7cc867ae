#include "jobs/optimize_files.h"

#include <chrono>
#include <cmath>
#include <utility>

#include "jobs/input.h"
#include "jobs/report.h"
#include "jobs/report_optimize.h"
#include "jobs/store.h"
#include "jobs/targets.h"
#include "jobs/write_file.h"
#include "report/html.h"
#include "tune/recipe.h"

namespace hone::jobs {
namespace {

class Optimization {
 public:
  Optimization(const OptimizeFilesOptions& options, const WorkerOptions& workers, Events& events)
      : options_(options), workers_(workers), events_(events) {}

  FileOr<OptimizedFiles> Run() {
    if (auto ready = Prepare(); !ready) return tl::unexpected(ready.error());
    events_.HoldInterrupts();
    auto pool = StartPool(workers_, events_, events_.stop());
    if (!pool) return Wrong("", pool.error());
    pool_ = std::move(*pool);
    if (options_.begin) options_.begin(files_);
    OptimizedFiles all;
    all.one = files_.size() == 1;
    for (size_t i = 0; i < files_.size() && (all.one || !events_.stopped()); ++i) {
      OptimizedFile row = Optimise(i);
      if (row.error && all.one) return Wrong(row.file, *row.error);
      if (options_.done) options_.done(row);
      all.rows.push_back(std::move(row));
    }
    Summarise(all);
    job_.store = nullptr;
    all.job = std::move(job_);
    all.pool = std::move(pool_);
    all.device = std::move(device_);
    return all;
  }

 private:
  FileOr<void> Prepare() {
    auto files = ExpandInputs(options_.files, workers_.datasets);
    if (!files) return tl::unexpected(files.error());
    files_ = *std::move(files);
    if (Status loaded = LoadModels(options_.models, options_.search, job_.search); !loaded) {
      return Wrong("", loaded.error());
    }
    SetJob();
    if (auto planned = PlanTargets(files_, {{options_.output, ".hlo", outputs_},
                                            {options_.recipe, ".json", recipes_},
                                            {options_.report, ".html", reports_}});
        !planned) {
      return planned;
    }
    if (!options_.report.empty()) {
      if (Status have = report::HaveTemplate(); !have) return Wrong("", have.error());
    }
    auto store = OpenStore(options_.store);
    if (!store) return tl::unexpected(store.error());
    store_ = *std::move(store);
    job_.store = store_.get();
    auto device = StartDevice(workers_, options_.device, events_);
    if (!device) return Wrong("", device.error());
    device_ = *std::move(device);
    job_.device = device_.get();
    return {};
  }

  void SetJob() {
    OptimizeOptions& search = job_.search;
    search.objective = *ObjectiveFromName(options_.objective);
    search.actions = options_.actions;
    search.search = options_.search;
    SetBudget(options_.budget, search);
    search.seed = options_.seed;
    search.verify = options_.verify;
    search.compare.budget_seconds = options_.verify_seconds;
    job_.inputs = options_.inputs;
    job_.allow_unverified = options_.allow_unverified;
    job_.device_seconds = options_.device_seconds;
  }

  OptimizedFile Optimise(size_t i) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    OptimizedFile row;
    row.file = files_[i];
    const StatusOr<ProgramInfo> program = LoadProgram(*pool_, row.file, workers_.MostInputBytes());
    if (!program) {
      row.error = program.error();
      return row;
    }
    row.program = *program;
    WarnOfStandIns(row.file, *program, events_);
    if (Status done = OptimiseLoaded(i, row); !done) row.error = done.error();
    pool_->Unload(program->id);
    row.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return row;
  }

  Status OptimiseLoaded(size_t i, OptimizedFile& row) {
    job_.file = row.file;
    job_.search.format = outputs_[i].empty() ? ExportFormat::kProto : FormatFor(outputs_[i]);
    auto optimized = OptimizeProgram(*pool_, row.program, job_, events_);
    if (!optimized) return tl::unexpected(optimized.error());
    row.optimized = *std::move(optimized);
    if (auto wrote = Write(i, row); !wrote) return tl::unexpected(wrote.error().error);
    if (reports_[i].empty()) return {};
    const OptimizeReport what{row.file,           row.program,      row.optimized.result,
                              options_.objective, options_.actions, options_.search,
                              options_.seed};
    const auto wrote = WriteReport(reports_[i], MakeReport(*pool_, what, events_));
    if (!wrote) return tl::unexpected(wrote.error().error);
    row.report = reports_[i];
    return {};
  }

  // The result and its recipe, if wanted and if it may be given out.
  FileOr<void> Write(size_t i, OptimizedFile& row) {
    if (outputs_[i].empty() && recipes_[i].empty()) return {};
    if (!row.optimized.withheld.empty()) {
      row.withheld = "not written: " + row.optimized.withheld +
                     "; give --allow-unverified to have it all the same";
      return {};
    }
    const std::string& bytes = row.optimized.result.bytes;
    if (auto wrote = WriteProgram(outputs_[i], bytes, workers_); !wrote) return wrote;
    row.output = outputs_[i];
    if (recipes_[i].empty()) return {};
    const Recipe recipe = RecipeOf(*pool_, row.program, job_, row.optimized);
    if (auto wrote = WriteIfNamed(recipes_[i], RecipeToJson(recipe)); !wrote) return wrote;
    row.recipe = recipes_[i];
    return {};
  }

  static void Summarise(OptimizedFiles& all) {
    double log_sum = 0;
    int ratios = 0;
    for (const OptimizedFile& row : all.rows) {
      if (row.error) {
        ++all.failed;
        continue;
      }
      all.withheld = all.withheld || !row.withheld.empty();
      const OptimizeResult& result = row.optimized.result;
      ++(result.value < result.by_default    ? all.better
         : result.value == result.by_default ? all.equal
                                             : all.worse);
      if (const auto ratio = row.optimized.Ratio(); ratio && *ratio > 0) {
        log_sum += std::log(*ratio);
        ++ratios;
      }
    }
    if (ratios > 0) all.geomean_ratio = std::exp(log_sum / ratios);
  }

  const OptimizeFilesOptions& options_;
  const WorkerOptions& workers_;
  Events& events_;
  OptimizeProgramOptions job_;  // but for the file
  std::vector<std::string> files_;
  std::vector<std::string> outputs_;
  std::vector<std::string> recipes_;
  std::vector<std::string> reports_;
  std::unique_ptr<store::Store> store_;  // null where none was named
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<device::RemoteDevice> device_;  // null where none was named
};

Json RowJson(const OptimizedFiles& all, const OptimizedFile& row, bool timing) {
  if (row.error) return {{"file", row.file}, {"error", ErrorJson(*row.error, row.file)}};
  OptimizeProgramOptions job = all.job;
  job.file = row.file;
  Json json = ToJson(*all.pool, row.program, job, row.optimized, row.seconds, timing);
  AddTexts({{"output", row.output},
            {"recipe", row.recipe},
            {"report", row.report},
            {"withheld", row.withheld}},
           json);
  return json;
}

}  // namespace

FileOr<OptimizedFiles> OptimizeFiles(const OptimizeFilesOptions& options,
                                     const WorkerOptions& workers, Events& events) {
  return Optimization(options, workers, events).Run();
}

Json ToJson(const OptimizedFiles& all, bool timing) {
  if (all.one) return RowJson(all, all.rows.front(), timing);
  Json json;
  json["results"] = Json::array();
  for (const OptimizedFile& row : all.rows) json["results"].push_back(RowJson(all, row, timing));
  json["summary"] = {{"geomean_ratio", all.geomean_ratio ? Json(*all.geomean_ratio) : Json()},
                     {"better", all.better},
                     {"equal", all.equal},
                     {"worse", all.worse},
                     {"failed", all.failed}};
  return json;
}

}  // namespace hone::jobs
