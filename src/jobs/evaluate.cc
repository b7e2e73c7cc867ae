#include "jobs/evaluate.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "core/median.h"

namespace hone::jobs {
namespace {

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

StatusOr<report::Evaluation> Search(Pool& pool, const EvaluateOptions& options,
                                    const std::string& file, const ProgramInfo& program,
                                    uint64_t seed, size_t runs, Events& events) {
  const ClearAtEnd clear(events);
  OptimizeOptions search = options.search;
  search.seed = seed;
  search.compare.seed = seed;
  search.interrupted = events.stop();
  search.progress = [&](const OptimizeProgress& now) {
    if (!events.Due()) return;
    events.Show(fmt::format("{} of {} runs; {}: {} {:.0f} s, {} -> {}", runs,
                            options.files.size() * static_cast<size_t>(options.seeds), file,
                            now.phase, now.seconds, now.initial, now.best));
  };
  const StatusOr<OptimizeResult> result = Optimize(pool, program, search);
  if (!result) return tl::unexpected(result.error());
  report::Evaluation one;
  one.method = options.method;
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
  if (options.run_time) TimeResult(pool, program, *result, options.run_seconds, one);
  return one;
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

StatusOr<EvaluateResult> Evaluate(Pool& pool, const EvaluateOptions& options, Events& events) {
  EvaluateResult result;
  for (const std::string& file : options.files) {
    for (int i = 0; i < options.seeds && !events.stopped(); ++i) {
      StatusOr<std::string> bytes = options.read(file);
      StatusOr<ProgramInfo> program =
          bytes ? pool.Load(*std::move(bytes)) : tl::unexpected(bytes.error());
      StatusOr<report::Evaluation> one = MakeError(ErrorCode::kInternal, "not searched");
      if (program) {
        one = Search(pool, options, file, *program, options.seed + static_cast<uint64_t>(i),
                     result.rows.size(), events);
        pool.Unload(program->id);
      } else {
        one = tl::unexpected(program.error());
      }
      if (events.stopped()) break;  // half a search is no result
      if (!one) {
        result.errors.push_back({file, one.error()});
        if (options.failed) options.failed(result.errors.back());
        break;
      }
      result.rows.push_back(*std::move(one));
      if (!options.done) continue;
      if (Status done = options.done(result.rows.back()); !done) {
        return tl::unexpected(done.error());
      }
    }
  }
  return result;
}

Json ToJson(const EvaluateResult& result, const std::string& method) {
  const report::Summary summary = report::Summarise(result.rows);
  Json json;
  json["method"] = method;
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
