#include "loops/tune.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "loops/race.h"
#include "loops/ranked_search.h"
#include "loops/timer.h"
#include "loops/verify.h"

namespace hone::loops {
namespace {

constexpr size_t kFinalists = 3;

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// What is known of a schedule: the logarithm of its time against the rules of thumb's, or a
// rejection.
struct Known {
  bool failed = false;
  double value = 0;
};

class Tuner {
 public:
  Tuner(Generator& generator, const Task& task, const TuneOptions& options)
      : generator_(generator),
        task_(task),
        options_(options),
        catalogue_(Expand(task), options.machine),
        end_(Now() + options.budget_seconds) {}

  StatusOr<TuneReport> Run() {
    const double start = Now();
    auto stock = MakeKernel(task_, catalogue_.default_schedule());
    HONE_CHECK(stock);
    stock_ = *std::move(stock);
    auto timer = ScheduleTimer::Make(generator_, stock_, options_.machine.threads);
    if (!timer) return tl::unexpected(timer.error());
    timer_ = *timer;
    const Status searched = Search();
    if (!searched) return tl::unexpected(searched.error());
    TuneReport report = Decide();
    report.tried = tried_;
    report.rejected = rejected_;
    report.last_rejection = last_rejection_;
    report.seconds = Now() - start;
    return report;
  }

 private:
  bool Stopped() const { return options_.stop != nullptr && *options_.stop; }
  bool Over() const { return Stopped() || Now() > end_ || tried_ >= options_.budget_steps; }

  Status Search() {
    const auto measure = [&](const Scheduled& scheduled) -> std::optional<double> {
      const Known known = Measure(scheduled);
      return known.failed ? std::nullopt : std::optional(known.value);
    };
    const auto over = [&] { return Over(); };
    if (options_.cost_model == nullptr) {
      return SearchSchedules(catalogue_, options_.search, measure, over);
    }
    return SearchRanked(catalogue_, options_.search, *options_.cost_model, options_.machine,
                        measure, over);
  }

  Known Measure(const Scheduled& scheduled) {
    const std::string text = ScheduleText(scheduled.schedule());
    if (const auto found = known_.find(text); found != known_.end()) return found->second;
    Known& known = known_[text];
    const Kernel kernel{TaskText(task_) + text, MakePayload(scheduled), &task_};
    ++tried_;
    const auto reject = [&](const std::string& why) {
      known.failed = true;
      ++rejected_;
      last_rejection_ = text + why;
      return known;
    };
    const StatusOr<double> value = timer_->Time(kernel);
    if (!value) return reject(value.error().message);
    known.value = *value;
    if (known.value < best_) {
      // Only what is right may lead the search.
      CompareOptions compare = UsualComparison();
      compare.inputs = 1;
      compare.stop = options_.stop;
      const ComparisonReport report = Verify(generator_, kernel, compare, &references_);
      if (report.verdict == Verdict::kDifferent) return reject("it computes something else");
      best_ = known.value;
    }
    ranked_.emplace(known.value, scheduled.schedule());
    if (options_.progress) options_.progress(tried_, rejected_, std::exp(-best_));
    return known;
  }

  // The best few are raced in full; who wins is verified in full, or the next has its turn.
  TuneReport Decide() {
    TuneReport report;
    report.schedule = catalogue_.default_schedule();
    report.race.same_executable = true;
    size_t looked = 0;
    double best = 1;
    for (const auto& [value, schedule] : ranked_) {
      if (value >= 0 || looked == kFinalists) break;
      if (schedule == catalogue_.default_schedule()) continue;
      ++looked;
      const auto kernel = MakeKernel(task_, schedule);
      if (!kernel) continue;
      RaceOptions race;
      race.budget_seconds = std::clamp(options_.budget_seconds / 10, 0.5, 5.0);
      race.seed = options_.search.seed;
      const auto raced =
          Race(generator_, stock_, *kernel, race, false, options_.machine.threads, options_.stop);
      if (!raced || raced->low <= 1 || raced->speedup <= best) continue;
      const ComparisonReport verified =
          Verify(generator_, *kernel, UsualComparison(), &references_);
      if (verified.verdict != Verdict::kEqual) continue;
      best = raced->speedup;
      report.schedule = schedule;
      report.race = *raced;
      report.verified = verified;
    }
    if (report.race.same_executable) {
      report.verified = Verify(generator_, stock_, UsualComparison(), &references_);
    }
    return report;
  }

  Generator& generator_;
  const Task& task_;
  const TuneOptions& options_;
  const Catalogue catalogue_;
  const double end_;
  Kernel stock_;
  std::optional<ScheduleTimer> timer_;
  References references_;
  std::map<std::string, Known> known_;  // by schedule
  std::multimap<double, Schedule> ranked_;
  double best_ = 0;
  int64_t tried_ = 0;
  int64_t rejected_ = 0;
  std::string last_rejection_;
};

}  // namespace

StatusOr<TuneReport> Tune(Generator& generator, const Task& task, const TuneOptions& options) {
  return Tuner(generator, task, options).Run();
}

}  // namespace hone::loops
