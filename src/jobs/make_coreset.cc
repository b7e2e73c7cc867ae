#include "jobs/make_coreset.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "env/pass_order.h"
#include "jobs/write_file.h"
#include "tune/optimize.h"

namespace hone::jobs {
namespace {

// A program on which XLA's own order does no better counts by this share of its value.
constexpr double kLeastHeadroom = 0.02;
// Better than this many times XLA's own order counts no further: one program must not rule.
constexpr double kMostRatio = 2;
constexpr std::chrono::seconds kAMoment{10};

// Of which programs, and how.
struct Making {
  std::vector<std::string> files;
  ReadProgram read;
  OptimizeOptions search;  // on each program; not verified
  size_t size = 0;         // sequences, at most
};

class Maker {
 public:
  Maker(Pool& pool, const Making& options, Events& events)
      : pool_(pool), options_(options), events_(events) {}

  StatusOr<CoresetResult> Make() {
    for (const std::string& file : options_.files) {
      if (events_.stopped()) break;
      if (Status found = FindCandidate(file); !found) events_.Warn(file, found.error().message);
    }
    for (const Known& program : programs_) {
      if (ComparedEnough()) break;
      Measure(program);
    }
    return Choose();
  }

 private:
  using Clock = std::chrono::steady_clock;

  struct Known {
    std::string file;
    double initial = 0;
    double by_default = 0;
  };

  // After an interrupt, what was found is compared all the same, on as many programs as a moment
  // allows.
  bool ComparedEnough() {
    if (!events_.stopped()) return false;
    if (!compare_until_) compare_until_ = Clock::now() + kAMoment;
    return Clock::now() > *compare_until_;
  }

  StatusOr<ProgramInfo> Load(const std::string& file) {
    StatusOr<std::string> bytes = options_.read(file);
    if (!bytes) return tl::unexpected(bytes.error());
    return pool_.Load(*std::move(bytes));
  }

  Status FindCandidate(const std::string& file) {
    const ClearAtEnd clear(events_);
    const StatusOr<ProgramInfo> program = Load(file);
    if (!program) return tl::unexpected(program.error());
    OptimizeOptions search = options_.search;
    search.verify = false;
    search.interrupted = events_.stop();
    search.progress = [&](const OptimizeProgress& now) {
      if (!events_.Due()) return;
      events_.Show(fmt::format("searching: {} of {} programs; {}: {} -> {}", programs_.size(),
                               options_.files.size(), file, now.initial, now.best));
    };
    const StatusOr<OptimizeResult> result = Optimize(pool_, *program, search);
    pool_.Unload(program->id);
    if (!result) return tl::unexpected(result.error());
    programs_.push_back({file, result->initial, result->by_default});
    if (!result->passes.empty()) candidates_.insert(result->passes);
    return {};
  }

  // Adds what every candidate is worth on the program: a column of the matrix.
  void Measure(const Known& known) {
    const ClearAtEnd clear(events_);
    const StatusOr<ProgramInfo> program = Load(known.file);
    if (!program) return;
    PassOrder order(pool_, *program, options_.search.objective);
    const double headroom =
        std::max(kLeastHeadroom * known.initial, known.initial - known.by_default);
    std::vector<double> column;
    for (const std::vector<PassId>& candidate : candidates_) {
      if (ComparedEnough()) break;
      const std::vector<std::vector<PassId>> one{candidate};
      const StatusOr<std::vector<Step>> steps = std::move(order.Evaluate(one)[0]);
      double best = known.initial;
      if (steps) {
        for (const Step& step : *steps) best = std::min(best, order.Value(step.metrics));
      }
      column.push_back(std::min(kMostRatio, (known.initial - best) / headroom));
      events_.Show(fmt::format("comparing: {} of {} programs", columns_.size(), programs_.size()));
    }
    pool_.Unload(program->id);
    if (column.size() == candidates_.size()) columns_.push_back(std::move(column));
  }

  StatusOr<CoresetResult> Choose() {
    const std::vector<std::vector<PassId>> candidates(candidates_.begin(), candidates_.end());
    std::vector<std::vector<double>> gains(candidates.size());
    for (size_t i = 0; i < candidates.size(); ++i) {
      for (const std::vector<double>& column : columns_) gains[i].push_back(column[i]);
    }
    const Cover cover = ChooseCover(gains, options_.size);
    if (cover.chosen.empty()) {
      if (events_.stopped()) return MakeError(ErrorCode::kInterrupted, "interrupted");
      return MakeError(ErrorCode::kUnsupported,
                       "no sequence was found that helps any of the programs");
    }
    CoresetResult result;
    result.candidates = candidates.size();
    result.programs = columns_.size();
    Coreset& coreset = result.coreset;
    coreset.objective = ObjectiveName(options_.search.objective);
    coreset.actions = options_.search.actions;
    coreset.made_of = fmt::format(
        "{} sequences found in {:g} s each by local search, compared on {} programs; seed {}",
        candidates.size(), options_.search.budget_seconds, columns_.size(), options_.search.seed);
    coreset.coverage = cover.mean;
    for (size_t which : cover.chosen) {
      std::vector<std::string>& names = coreset.sequences.emplace_back();
      for (PassId pass : candidates[which]) names.push_back(pool_.passes()[pass].name);
    }
    return result;
  }

  Pool& pool_;
  const Making& options_;
  Events& events_;
  std::optional<Clock::time_point> compare_until_;  // where it was interrupted
  std::vector<Known> programs_;
  std::set<std::vector<PassId>> candidates_;
  std::vector<std::vector<double>> columns_;  // by program, then by candidate
};

}  // namespace

FileOr<CoresetResult> MakeCoreset(const CoresetOptions& options, const WorkerOptions& workers,
                                  Events& events) {
  auto files = ChooseInputs(options.programs, workers.datasets);
  if (!files) return tl::unexpected(files.error());
  if (Status fine = CheckWritable(options.output); !fine) {
    return Wrong(options.output, fine.error());
  }
  events.HoldInterrupts();
  const auto pool = StartPool(workers, events, events.stop());
  if (!pool) return Wrong("", pool.error());
  Making making{*std::move(files), ReaderFor(workers), {}, options.size};
  making.search.objective = *ObjectiveFromName(options.objective);
  making.search.actions = options.actions;
  making.search.budget_seconds = options.seconds;
  making.search.seed = options.seed;
  auto result = About("", Maker(**pool, making, events).Make());
  if (!result) return result;
  if (auto wrote = WriteIfNamed(options.output, CoresetToJson(result->coreset)); !wrote) {
    return tl::unexpected(wrote.error());
  }
  return result;
}

Json ToJson(const CoresetResult& result, const CoresetOptions& options) {
  return {{"output", options.output},
          {"programs", result.programs},
          {"candidates", result.candidates},
          {"coverage", result.coreset.coverage}};
}

}  // namespace hone::jobs
