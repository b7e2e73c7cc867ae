// hone coreset: a few sequences of passes that together do well on many programs.
#include "tune/coreset.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/parse.h"
#include "cli/program_set.h"
#include "cli/progress.h"
#include "env/pass_order.h"
#include "tune/optimize.h"

namespace hone::cli {
namespace {

// A program on which XLA's own order does no better counts by this share of its value.
constexpr double kLeastHeadroom = 0.02;
// Better than this many times XLA's own order counts no further: one program must not rule.
constexpr double kMostRatio = 2;

struct Options {
  CommonOptions common;
  ProgramSet programs;
  std::string objective = "op_count";
  std::string actions = "simplify";
  double seconds = 5;
  size_t size = 32;
  uint64_t seed = 1;
  std::string output;
};

class CoresetRun {
 public:
  explicit CoresetRun(Options& options) : options_(options) {}

  int Run() {
    const auto chosen = ChooseInputs(options_.programs, options_.common.datasets);
    if (!chosen) return Fail(chosen.error().error, chosen.error().file, options_.common.json);
    if (Status fine = CheckWritable(options_.output); !fine) {
      return Fail(fine.error(), options_.output, options_.common.json);
    }
    stop_ = StopOnInterrupt();
    auto pool = StartPool(options_.common, stop_);
    if (!pool) return Fail(pool.error(), options_.common.json);
    pool_ = *std::move(pool);
    for (const std::string& file : *chosen) {
      if (*stop_) break;
      if (Status found = FindCandidate(file, chosen->size()); !found)
        Warn(file, found.error().message);
    }
    for (const Known& program : programs_) {
      if (*stop_) break;
      Measure(program);
    }
    return Conclude();
  }

 private:
  struct Known {
    std::string file;
    double initial = 0;
    double by_default = 0;
  };

  // What a search finds on the program is a candidate.
  Status FindCandidate(const std::string& file, size_t files) {
    Progress progress(options_.common.ShowProgress());
    const StatusOr<ProgramInfo> program =
        LoadProgram(*pool_, file, options_.common.MostInputBytes());
    if (!program) return tl::unexpected(program.error());
    OptimizeOptions search;
    search.objective = *ObjectiveFromName(options_.objective);
    search.actions = options_.actions;
    search.budget_seconds = options_.seconds;
    search.seed = options_.seed;
    search.verify = false;
    search.interrupted = stop_;
    search.progress = [&](const OptimizeProgress& now) {
      if (!progress.Due()) return;
      progress.Show(fmt::format("searching: {} of {} programs; {}: {} -> {}", programs_.size(),
                                files, file, now.initial, now.best));
    };
    const StatusOr<OptimizeResult> result = Optimize(*pool_, *program, search);
    pool_->Unload(program->id);
    if (!result) return tl::unexpected(result.error());
    programs_.push_back({file, result->initial, result->by_default});
    if (!result->passes.empty()) candidates_.insert(result->passes);
    return {};
  }

  // What every candidate is worth on the program: a column of the matrix.
  void Measure(const Known& known) {
    Progress progress(options_.common.ShowProgress());
    const StatusOr<ProgramInfo> program =
        LoadProgram(*pool_, known.file, options_.common.MostInputBytes());
    if (!program) return;
    PassOrder order(*pool_, *program, *ObjectiveFromName(options_.objective));
    const double headroom =
        std::max(kLeastHeadroom * known.initial, known.initial - known.by_default);
    std::vector<double> column;
    for (const std::vector<PassId>& candidate : candidates_) {
      if (*stop_) break;
      const std::vector<std::vector<PassId>> one{candidate};
      const StatusOr<std::vector<Step>> steps = std::move(order.Evaluate(one)[0]);
      double best = known.initial;
      if (steps) {
        for (const Step& step : *steps) best = std::min(best, order.Value(step.metrics));
      }
      column.push_back(std::min(kMostRatio, (known.initial - best) / headroom));
      progress.Show(fmt::format("comparing: {} of {} programs", columns_.size(), programs_.size()));
    }
    pool_->Unload(program->id);
    if (column.size() == candidates_.size()) columns_.push_back(std::move(column));
  }

  int Conclude() {
    const std::vector<std::vector<PassId>> candidates(candidates_.begin(), candidates_.end());
    std::vector<std::vector<double>> gains(candidates.size());
    for (size_t i = 0; i < candidates.size(); ++i) {
      for (const std::vector<double>& column : columns_) gains[i].push_back(column[i]);
    }
    const Cover cover = ChooseCover(gains, options_.size);
    if (cover.chosen.empty()) {
      if (*stop_) return kInterrupted;
      return Fail({ErrorCode::kUnsupported, "no sequence was found that helps any of the programs"},
                  options_.common.json);
    }
    Coreset coreset;
    coreset.objective = options_.objective;
    coreset.actions = options_.actions;
    coreset.made_of = fmt::format(
        "{} sequences found in {:g} s each by local search, compared on {} programs; seed {}",
        candidates.size(), options_.seconds, columns_.size(), options_.seed);
    coreset.coverage = cover.mean;
    for (size_t which : cover.chosen) {
      std::vector<std::string>& names = coreset.sequences.emplace_back();
      for (PassId pass : candidates[which]) names.push_back(pool_->passes()[pass].name);
    }
    if (Status wrote = WriteFile(options_.output, CoresetToJson(coreset)); !wrote) {
      return Fail(wrote.error(), options_.output, options_.common.json);
    }
    const int code = *stop_ ? kInterrupted : kFine;
    if (options_.common.json) {
      return Finish(Json{{"output", options_.output},
                         {"programs", columns_.size()},
                         {"candidates", candidates.size()},
                         {"coverage", cover.mean}},
                    code);
    }
    return Finish(
        fmt::format("{} sequences of {}, which reach {:.4f} of XLA's own order's gain on "
                    "{} programs (mean of the best of them; one alone {:.4f}); written to {}\n",
                    cover.chosen.size(), candidates.size(), cover.mean.back(), columns_.size(),
                    cover.mean.front(), options_.output),
        code);
  }

  Options& options_;
  const std::atomic<bool>* stop_ = nullptr;
  std::unique_ptr<Pool> pool_;
  std::vector<Known> programs_;
  std::set<std::vector<PassId>> candidates_;
  std::vector<std::vector<double>> columns_;  // by program, then by candidate
};

}  // namespace

Run AddCoreset(CLI::App& app) {
  auto options = std::make_shared<Options>();
  AddProgramSet(app, options->programs);
  AddObjectiveOption(app, options->objective);
  AddActionSetOption(app, options->actions);
  AddDuration(app, "--budget", options->seconds, "of the search on each program (5s)");
  app.add_option("--size", options->size, "sequences, at most")
      ->check(CLI::Range(1, 1000).description(""))
      ->capture_default_str();
  app.add_option("--seed", options->seed, "of the searches")->capture_default_str();
  app.add_option("-o,--output", options->output, "write the coreset here")
      ->required()
      ->type_name("OUT");
  AddDatasetsOption(app, options->common.datasets);
  AddCommonOptions(app, options->common);
  return [options] { return CoresetRun(*options).Run(); };
}

}  // namespace hone::cli
