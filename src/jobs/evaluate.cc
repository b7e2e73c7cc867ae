#include "jobs/evaluate.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "core/median.h"
#include "jobs/report.h"
#include "jobs/report_evaluation.h"
#include "jobs/write_file.h"
#include "tune/optimize.h"

namespace hone::jobs {
namespace {

// What is run, and what is done with each result.
struct Runs {
  std::vector<std::string> files;
  ReadProgram read;
  std::string method;
  OptimizeOptions search;  // but for its seed
};

std::string Verified(const OptimizeResult& result) {
  if (!result.verification_ran) return "skipped";
  if (result.verified()) return "true";
  return result.rejected.empty() && result.verification.verdict != Verdict::kDifferent ? "unknown"
                                                                                       : "false";
}

// Instructions and seconds of the program and of the result after the stock compiler: measured in
// turns, for the machine's speed drifts.
void TimeResult(Pool& pool, const ProgramInfo& program, const OptimizeResult& result,
                double run_seconds, report::Evaluation& one) {
  StateName state{program.id, {}};
  for (PassId pass : result.passes) state.links.push_back({pass, {}});
  RunTimeOptions timing;
  timing.budget_seconds = run_seconds;
  std::vector<double> stock;
  std::vector<double> changed;
  for (int round = 0; round < 2; ++round) {
    const auto time = [&](const StateName& what, std::vector<double>& seconds) -> int64_t {
      const auto report =
          pool.On(0, [&](RemoteWorker& remote) { return remote.RunTime(what, timing); });
      if (!report) return -1;
      seconds.insert(seconds.end(), report->seconds.begin(), report->seconds.end());
      return report->compiled_instructions;
    };
    one.stock_instructions = time({program.id, {}}, stock);
    one.final_instructions = time(state, changed);
  }
  if (!stock.empty() && !changed.empty()) {
    one.stock_run_seconds = Median(stock);
    one.final_run_seconds = Median(changed);
  }
}

StatusOr<report::Evaluation> Search(Pool& pool, const EvaluateOptions& options, const Runs& runs,
                                    const std::string& file, const ProgramInfo& program,
                                    uint64_t seed, size_t run, Events& events) {
  const ClearAtEnd clear(events);
  OptimizeOptions search = runs.search;
  search.seed = seed;
  search.compare.seed = seed;
  search.interrupted = events.stop();
  search.progress = [&](const OptimizeProgress& now) {
    if (!events.Due()) return;
    events.Show(fmt::format("{} of {} runs; {}: {} {:.0f} s, {} -> {}", run,
                            runs.files.size() * static_cast<size_t>(options.seeds), file, now.phase,
                            now.seconds, now.initial, now.best));
  };
  const StatusOr<OptimizeResult> result = Optimize(pool, program, search);
  if (!result) return tl::unexpected(result.error());
  report::Evaluation one;
  one.method = runs.method;
  one.program = ProgramName(file);
  one.objective = ObjectiveName(search.objective);
  one.actions = search.actions;
  one.seed = seed;
  one.from_default = search.from_default;
  one.initial = result->initial;
  one.by_default = result->by_default;
  one.value = result->value;
  one.evaluated = result->evaluated;
  one.seconds = result->search_seconds;
  one.verified = Verified(*result);
  one.stop_reason = StopReasonName(result->stop_reason);
  for (const Improvement& better : result->improvements) {
    one.curve.push_back({better.steps, better.seconds, better.value});
  }
  for (const PassId pass : result->passes) one.passes.push_back(pool.passes()[pass].name);
  if (options.run_time) TimeResult(pool, program, *result, options.verify_seconds, one);
  return one;
}

// Results are added to those that the file has.
Status CheckOld(const EvaluateOptions& options, const WorkerOptions& workers) {
  if (options.output.empty()) return {};
  if (Status fine = CheckWritable(options.output); !fine) return fine;
  std::error_code error;
  // Nothing to read: not there, empty, or no file.
  if (std::filesystem::file_size(options.output, error) == 0 || error) return {};
  const StatusOr<std::string> text = ReadInput(options.output, workers.MostInputBytes());
  if (!text) return tl::unexpected(text.error());
  const auto old = report::EvaluationsFromJsonLines(*text);
  if (!old) return tl::unexpected(old.error());
  return {};
}

FileOr<Runs> Prepare(const EvaluateOptions& options, const WorkerOptions& workers) {
  Runs runs;
  const std::string searcher = !options.search.empty()         ? options.search
                               : options.models.policy.empty() ? "local"
                                                               : "policy_greedy";
  runs.method = options.method.empty() ? searcher : options.method;
  OptimizeOptions& search = runs.search;
  search.objective = *ObjectiveFromName(options.objective);
  search.actions = options.actions;
  search.search = searcher;
  search.from_default = options.from_default;
  search.longest = options.longest;
  SetBudget(options.budget, search);
  search.verify = options.verify;
  search.compare.budget_seconds = options.verify_seconds;
  if (Status loaded = LoadModels(options.models, searcher, search); !loaded) {
    return Wrong("", loaded.error());
  }
  auto chosen = ChooseInputs(options.programs, workers.datasets);
  if (!chosen) return tl::unexpected(chosen.error());
  runs.files = *std::move(chosen);
  if (auto fine = CheckReport(options.report); !fine) return tl::unexpected(fine.error());
  if (Status old = CheckOld(options, workers); !old) return Wrong(options.output, old.error());
  runs.read = ReaderFor(workers);
  return runs;
}

// One program with one seed, loaded anew.
StatusOr<report::Evaluation> RunOnce(Pool& pool, const EvaluateOptions& options, const Runs& runs,
                                     const std::string& file, uint64_t seed, size_t run,
                                     Events& events) {
  StatusOr<std::string> bytes = runs.read(file);
  if (!bytes) return tl::unexpected(bytes.error());
  const StatusOr<ProgramInfo> program = pool.Load(*std::move(bytes));
  if (!program) return tl::unexpected(program.error());
  auto one = Search(pool, options, runs, file, *program, seed, run, events);
  pool.Unload(program->id);
  return one;
}

// Into `result`.
Status RunAll(Pool& pool, const EvaluateOptions& options, Runs& runs, Events& events,
              EvaluateResult& result) {
  for (const std::string& file : runs.files) {
    for (int i = 0; i < options.seeds && !events.stopped(); ++i) {
      auto one = RunOnce(pool, options, runs, file, options.seed + static_cast<uint64_t>(i),
                         result.rows.size(), events);
      if (events.stopped()) break;  // half a search is no result
      if (!one) {
        result.errors.push_back({file, one.error()});
        if (options.failed) options.failed(result.errors.back());
        break;
      }
      result.rows.push_back(*std::move(one));
      const report::Evaluation& row = result.rows.back();
      if (options.done) options.done(row);
      if (options.output.empty()) continue;
      if (Status wrote = AddLine(options.output, report::EvaluationToJsonLine(row)); !wrote) {
        return wrote;
      }
    }
  }
  return {};
}

}  // namespace

std::string ProgramName(const std::string& file) {
  const std::filesystem::path path = std::filesystem::path(file).lexically_normal();
  std::string name = path.filename().string();
  std::filesystem::path folder = path.parent_path();
  for (int i = 0; i < 2 && folder.has_filename(); ++i, folder = folder.parent_path()) {
    name = folder.filename().string() + "/" + name;
  }
  return name;
}

FileOr<EvaluateResult> Evaluate(const EvaluateOptions& options, const WorkerOptions& workers,
                                Events& events) {
  FileOr<Runs> runs = Prepare(options, workers);
  if (!runs) return tl::unexpected(runs.error());
  events.HoldInterrupts();
  const auto pool = StartPool(workers, events, events.stop());
  if (!pool) return Wrong("", pool.error());
  if (options.begin) options.begin(runs->files);
  EvaluateResult result;
  result.method = runs->method;
  if (Status ran = RunAll(**pool, options, *runs, events, result); !ran) {
    return Wrong(options.output, ran.error());
  }
  if (!result.rows.empty()) {
    const EvalReport what{result.method,      options.objective, options.actions,
                          (*pool)->version(), result.rows,       result.errors.size()};
    if (auto wrote = WriteReport(options.report, MakeReport(what)); !wrote) {
      return tl::unexpected(wrote.error());
    }
  }
  return result;
}

Json ToJson(const EvaluateResult& result) {
  const report::Summary summary = report::Summarise(result.rows);
  Json json;
  json["method"] = result.method;
  json["results"] = Json::array();
  for (const report::Evaluation& row : result.rows) {
    json["results"].push_back(Json::parse(report::EvaluationToJsonLine(row)));
  }
  json["errors"] = Json::array();
  for (const FileError& failed : result.errors) {
    json["errors"].push_back(ErrorJson(failed.error, failed.file));
  }
  json["summary"] = {{"geomean_ratio", summary.ratio.mean},
                     {"low", summary.ratio.low},
                     {"high", summary.ratio.high},
                     {"programs", summary.ratio.programs},
                     {"seeds", summary.seeds},
                     {"better", summary.better},
                     {"equal", summary.equal},
                     {"worse", summary.worse},
                     {"without_ratio", summary.without_ratio},
                     {"seconds", summary.seconds},
                     {"evaluated", summary.evaluated}};
  return json;
}

}  // namespace hone::jobs
