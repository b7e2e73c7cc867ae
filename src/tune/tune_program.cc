#include "tune/tune_program.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "tune/candidates.h"
#include "tune/choose_implementations.h"
#include "tune/conclude.h"
#include "tune/ended.h"
#include "tune/kernel_shares.h"
#include "tune/lessons.h"
#include "tune/measurer.h"
#include "tune/promise.h"
#include "tune/ranking.h"
#include "tune/tasks.h"
#include "tune/trace.h"
#include "tune/tune_run.h"

namespace hone::tune {
namespace {

constexpr double kLeastBudgetToTrace = 5;
constexpr double kMostTraceShare = 0.2;  // of the budget
constexpr double kFlagsShare = 0.15;      // of the search, for what may come before all else
constexpr double kTasksShare = 0.5;      // of the search, for tuning tasks
constexpr double kLeastTasksSeconds = 3;
constexpr size_t kMostTasks = 200;
constexpr double kImplementationShare = 0.2;  // of the budget, for finding out which there are
constexpr double kOrderShare = 0.05;          // the same for orders
constexpr double kMostOrderSeconds = 30;
// A smaller program is seldom a faster one: little time is better spent on implementations.
constexpr double kLeastBudgetToOrder = 30;
constexpr double kEndAgain = 1.2;              // of what the end took: the next one's
constexpr double kLeastPlansMore = 3;          // are worth searching on
constexpr double kSinglesShare = 0.3;          // of the evaluations that fit
constexpr double kLookAgain[] = {0.35, 0.65};  // shares of the search, where the best is listed

class Tuner : public TuneRun {
 public:
  Tuner(Evaluator& evaluator, const TuneOptions& options) : TuneRun(evaluator, options) {}

  TuneResult Run() {
    std::optional<std::string> not_tunable = Prepare();
    if (!not_tunable) {
      end_.prepared = Elapsed();
      const bool first = !FlagsAreDear();
      if (first) TryFlags();
      TuneTasks();
      RaceAlternatives();
      if (!first) TryFlags();
      ChooseKernels();
      options_.mode == Mode::kJoint ? SearchJointly() : SearchInTurn();
      // What was given up for a small budget may do in a larger one.
      if (measurer_.given_up() == 0) not_tunable = WhyNotTunable(/*failures=*/1);
      if (!not_tunable) {
        end_.searched = Elapsed();
        end_.reserve = Reserve();
        Count();
        end_.next = SecondsAPlan(measurer_, end_);
        result_.reason = WhyNothing(result_, options_, end_, last_error_);
        Conclude(measurer_, evaluator_, space_, InTurn({&finalists_, &behind_}), options_,
                 {start_, std::max(0.0, options_.budget_seconds - Elapsed())}, result_);
        while (SearchOn()) continue;
      }
    }
    if (not_tunable) {
      result_.stop = TuneStop::kNotTunable;
      result_.reason = *not_tunable;
    }
    Count();
    result_.seconds = Elapsed();
    result_.ended = HowItEnded(result_, options_, end_);
    return std::move(result_);
  }

 private:
  void Count() {
    result_.variables = space_.variables.size();
    result_.stock_seconds = measurer_.RunSeconds();
    result_.evaluations = measurer_.evaluations();
    result_.races = measurer_.races();
    result_.failures = measurer_.failures();
    result_.given_up = measurer_.given_up();
    result_.busy_seconds = measurer_.busy_seconds() / evaluator_.workers();
    result_.phases = measurer_.phases();
  }

  // Why there is nothing to tune, if so.
  std::optional<std::string> Prepare() {
    Report("compile");
    const bool trace = options_.budget_seconds >= kLeastBudgetToTrace && !Interrupted();
    const StatusOr<Compiled> listing = List({}, /*text=*/trace);
    if (!listing) return WhyNotCompiled(listing.error(), options_);
    result_.sites = listing->sites;
    measurer_.KnowStock(listing->fingerprint, listing->seconds);
    if (trace) {
      const Trace traced =
          TraceStock(measurer_, options_, *listing, kMostTraceShare * options_.budget_seconds);
      if (traced.too_long) return traced.too_long;
      shares_ = traced.shares;
    }
    const bool implementations = options_.stages.Has(Stage::kImplementation);
    const bool orders =
        options_.stages.Has(Stage::kOrder) &&
        (!implementations || options_.estimated || options_.budget_seconds >= kLeastBudgetToOrder);
    if ((implementations || orders) && !Interrupted()) {
      Report("alternatives");
      const double budget = options_.budget_seconds;
      const auto alternatives =
          measurer_.Alternatives({implementations, orders, kImplementationShare * budget,
                                  std::min(kMostOrderSeconds, kOrderShare * budget)});
      // A program without alternatives can still be tuned.
      if (alternatives) {
        AddAlternatives(DearestFirst(shares_, *alternatives), options_.stages, space_);
      }
    }
    AddListing(*listing, options_.stages, shares_, space_);
    if (space_.variables.empty()) return std::string("there is nothing to decide in these stages");
    return std::nullopt;
  }

  // Whether the first flags take a good part of the search, and there is what promises more.
  bool FlagsAreDear() const {
    const bool promising = std::any_of(
        space_.alternatives.begin(), space_.alternatives.end(),
        [&](const Alternative& one) { return Promise(shares_, one) > kMuchPromise; });
    const double seconds = measurer_.StockCompileSeconds() + measurer_.RaceSeconds(Look::kShort);
    return promising && static_cast<double>(FirstFlags(space_, shares_).size()) * seconds >
                            kFlagsShare * (SearchSeconds() - Elapsed());
  }

  // Before the budget is spent on what is many; each on top of the best.
  void TryFlags() {
    for (const choices::Assignment& flag : FirstFlags(space_, shares_)) {
      if (Stopped(SearchSeconds())) return;
      Report("flags");
      choices::Assignment with = Best();
      for (size_t i = 0; i < with.size(); ++i) {
        if (flag[i] != space_.variables[i].stock) with[i] = flag[i];
      }
      Examine(with);
    }
  }

  // Kernels and their neighbourhoods alone; then what won there, in the whole.
  void TuneTasks() {
    // A budget of evaluations is one of the whole's.
    if (!options_.tasks || options_.budget_evaluations > 0) return;
    const double seconds = kTasksShare * (SearchSeconds() - Elapsed());
    if (seconds < kLeastTasksSeconds || Interrupted()) return;
    const double before = evaluator_.Seconds();
    const auto stopped = [&] {
      Report("tasks");
      return Interrupted();
    };
    result_.tasks = tune::TuneTasks(evaluator_, evaluator_.Cut(kMostTasks), options_,
                                    shares_.seconds(), seconds, stopped);
    measurer_.Spent("tasks", evaluator_.Seconds() - before);
    for (const TunePlan& plan : Compose(space_, result_.tasks)) {
      if (Stopped(SearchSeconds())) return;
      Report("tasks");
      const Measured measured = measurer_.Measure(plan, Look::kLong);
      if (measured.failed()) last_error_ = measured.error;
      if (measured.failed() || !Offer(plan, measured) || measured.race.low <= 1) continue;
      starts_.push_back(plan);
      return;  // what of it does not matter the end finds out
    }
  }

  enum class Ended { kStopped, kExhausted, kGrown };

  // The starts: what was learned elsewhere, what the caller believes in, the best so far.
  std::vector<choices::Assignment> Starts() const {
    std::vector<choices::Assignment> starts;
    for (const TunePlan& plan : starts_) starts.push_back(AssignmentOf(space_, plan));
    for (const TunePlan& plan : options_.starts) starts.push_back(AssignmentOf(space_, plan));
    starts.push_back(Apply({}, space_, lessons_));
    if (!finalists_.list().empty()) {
      const choices::Assignment best = AssignmentOf(space_, finalists_.list().front().plan);
      starts.push_back(best);
      // The best's own choices, and what was learned of the rest.
      Candidate own;
      for (size_t i = 0; i < best.size(); ++i) {
        own.own.push_back(best[i] == space_.variables[i].stock ? Candidate::kUndecided : best[i]);
      }
      starts.push_back(Apply(own, space_, lessons_));
    }
    return starts;
  }

  choices::Problem ProblemOf(const Round& round) const {
    choices::Problem problem;
    for (size_t i : round.variables) {
      problem.variables.push_back(space_.variables[i]);
      problem.variables.back().single = i >= round.known;
    }
    for (const choices::Assignment& start : Starts()) {
      problem.starts.push_back(PartOf(round, start));
    }
    const double left = std::max(0.0, std::min(round.until, SearchSeconds()) - Elapsed());
    double fits = left * evaluator_.workers() / measurer_.EvaluationSeconds();
    if (options_.budget_evaluations > 0) {
      const int64_t end = std::min(round.evaluations, options_.budget_evaluations);
      fits = std::min(fits, static_cast<double>(end - measurer_.evaluations()));
    }
    problem.singles = static_cast<size_t>(std::max(8.0, kSinglesShare * fits));
    if (!options_.policy.known().empty()) {
      problem.promise = [&](const std::vector<size_t>& some, uint32_t choice) {
        std::vector<size_t> variables;
        for (size_t i : some) variables.push_back(round.variables[i]);
        return Promise(options_.policy, space_, variables, choice);
      };
    }
    return problem;
  }

  Ended Search(const Round& round) {
    const Ended ended = SearchAhead(round);
    measurer_.Forget();
    return ended;
  }

  // With several workers as many candidates are under way as keep them busy; they are told in the
  // order in which they were asked for, so that what is asked next does not depend on who is
  // faster.
  Ended SearchAhead(const Round& round) {
    const auto chooser =
        choices::FindChooser(options_.strategy)->make(ProblemOf(round), options_.seed);
    if (round.joint) {
      // A space that has grown since: what was told then was decided the stock way there.
      const choices::Assignment stock = choices::StockAssignment(space_.variables);
      for (choices::Trial& trial : told_) {
        const auto known = static_cast<std::ptrdiff_t>(trial.assignment.size());
        trial.assignment.insert(trial.assignment.end(), stock.begin() + known, stock.end());
        chooser->Tell(trial);
      }
    }
    // A generation is a turn.
    StageTurns turns(space_, options_.estimate ? 1 : options_.turn);
    std::deque<choices::Assignment> ahead;  // whose values are being found out
    while (!Stopped(round.until) && measurer_.evaluations() < round.evaluations) {
      Report("search");
      if (round.joint && next_look_ < std::size(kLookAgain) &&
          Progress() > kLookAgain[next_look_]) {
        ++next_look_;
        if (ListBest()) return Ended::kGrown;
      }
      if (options_.estimate) {
        const int group = round.joint ? turns.Next() : choices::kEveryGroup;
        if (!Generation(round, group, *chooser)) return Ended::kExhausted;
        continue;
      }
      AskAhead(round, turns, *chooser, ahead);
      if (ahead.empty()) return Ended::kExhausted;
      const choices::Assignment asked = std::move(ahead.front());
      ahead.pop_front();
      Tell(round, Examine(asked), *chooser);
    }
    return Ended::kStopped;
  }

  void AskAhead(const Round& round, StageTurns& turns, choices::Chooser& chooser,
                std::deque<choices::Assignment>& ahead) {
    const size_t window = measurer_.Window();
    int64_t left = round.evaluations - measurer_.evaluations();
    if (options_.budget_evaluations > 0) {
      left = std::min(left, options_.budget_evaluations - measurer_.evaluations());
    }
    while (ahead.size() < window && static_cast<int64_t>(ahead.size()) < left) {
      const int group = round.joint ? turns.Next() : choices::kEveryGroup;
      const std::vector<Candidate> candidates = GenerateCandidates(chooser, 1, group);
      if (candidates.empty()) return;
      ahead.push_back(Apply(Whole(round, candidates[0]), space_, lessons_));
      if (window == 1) continue;
      const TunePlan plan = PlanOf(space_, ahead.back());
      if (!plan.empty()) measurer_.Foresee(plan, Look::kShort);
    }
  }

  void Tell(const Round& round, choices::Trial trial, choices::Chooser& chooser) {
    if (round.joint) told_.push_back(trial);
    trial.assignment = PartOf(round, trial.assignment);
    chooser.Tell(trial);
  }

  // Several candidates are compiled; those whose value is known already are told, of the others the
  // best by the estimate measured. False where there was none to be asked for.
  bool Generation(const Round& round, int group, choices::Chooser& chooser) {
    const size_t top = TopOf(round.joint ? group : space_.variables[round.variables[0]].group);
    const double left = std::min(round.until, SearchSeconds()) - Elapsed();
    const size_t size =
        GenerationSize(top, measurer_.PrepareSeconds(), measurer_.RestSeconds(), left);
    const std::vector<Candidate> candidates = GenerateCandidates(chooser, size, group);
    if (candidates.empty()) return false;
    const auto over = [&] {
      return Stopped(round.until) || measurer_.evaluations() >= round.evaluations;
    };
    std::vector<Ranked> generation;
    std::set<std::string> executables;
    for (const Candidate& candidate : candidates) {
      if (over()) break;
      Report("search");
      Ranked ranked{Apply(Whole(round, candidate), space_, lessons_), {}, 0};
      const TunePlan plan = PlanOf(space_, ranked.assignment);
      if (!plan.empty()) ranked.prepared = measurer_.Prepare(plan);
      if (plan.empty() || measurer_.Known(ranked.prepared)) {
        Tell(round,
             plan.empty() ? choices::Trial{ranked.assignment, 0, false}
                          : Examine(ranked.assignment, ranked.prepared),
             chooser);
        continue;
      }
      if (!executables.insert(ranked.prepared.executable).second) continue;  // ranked already
      if (ranked.prepared.graph) {
        ranked.estimate =
            options_.estimate(*ranked.prepared.graph, ChoicesOf(space_, ranked.assignment));
      }
      generation.push_back(std::move(ranked));
    }
    result_.passed_over += static_cast<int64_t>(KeepTop(top, generation));
    for (const Ranked& ranked : generation) {
      if (over()) break;
      Report("search");
      Tell(round, Examine(ranked.assignment, ranked.prepared), chooser);
    }
    return true;
  }

  // How much of the search is over, by whichever budget is spent faster.
  double Progress() const {
    const double by_time = Elapsed() / std::max(SearchSeconds(), 1e-9);
    if (options_.budget_evaluations == 0) return by_time;
    return std::max(by_time, static_cast<double>(measurer_.evaluations()) /
                                 static_cast<double>(options_.budget_evaluations));
  }

  // All stages in turns. Now and then the best is listed: other layouts and implementations make
  // other sites.
  void SearchJointly() {
    size_t known = 0;
    for (;;) {
      Round round;
      for (size_t i = 0; i < space_.variables.size(); ++i) round.variables.push_back(i);
      round.base = choices::StockAssignment(space_.variables);
      round.known = known;
      round.joint = true;
      round.until = SearchSeconds();
      known = space_.variables.size();
      const Ended ended = Search(round);
      if (ended == Ended::kStopped) return;
      if (ended == Ended::kExhausted && !ListBest()) {
        result_.stop = TuneStop::kExhausted;
        return;
      }
    }
  }

  // One stage after another, each with an equal share of what is left.
  void SearchInTurn() {
    bool exhausted = true;
    for (size_t s = 0; s < options_.stages.list.size(); ++s) {
      const Stage stage = options_.stages.list[s];
      if (s > 0) ListBest();
      Round round;
      for (size_t i = 0; i < space_.variables.size(); ++i) {
        if (space_.decisions[i].stage == stage) round.variables.push_back(i);
      }
      if (round.variables.empty()) continue;
      round.base = Best();
      const auto stages_left = static_cast<int64_t>(options_.stages.list.size() - s);
      round.until = Elapsed() + (SearchSeconds() - Elapsed()) / static_cast<double>(stages_left);
      if (options_.budget_evaluations > 0) {
        const int64_t left = options_.budget_evaluations - measurer_.evaluations();
        round.evaluations = measurer_.evaluations() + left / stages_left;
      }
      exhausted = Search(round) == Ended::kExhausted && exhausted;
      if (Interrupted() || WhyNotTunable()) return;
    }
    if (exhausted) result_.stop = TuneStop::kExhausted;
  }

  // What the end left of the budget is searched as well, from the plan that is kept, and what is
  // better brought to an end of its own. True where that was so.
  bool SearchOn() {
    if (!result_.kept || result_.stop != TuneStop::kTime || options_.mode != Mode::kJoint) {
      return false;
    }
    known_end_ = kEndAgain * (Elapsed() - end_.searched);
    if (SearchSeconds() - Elapsed() < kLeastPlansMore * measurer_.UsualSeconds()) return false;
    const Prepared prepared = measurer_.Prepare(result_.plan);
    if (!prepared.error.empty()) return false;
    finalists_.Clear();
    behind_.Clear();
    finalists_.Offer(
        {result_.plan, prepared.executable, -std::log(result_.race.speedup), result_.race}, 0);
    SearchJointly();
    std::vector<Finalist> better;
    for (const Finalist& finalist : finalists_.list()) {
      if (finalist.executable == prepared.executable) break;
      better.push_back(finalist);
    }
    if (better.empty() || Interrupted()) return false;
    // They were measured in other processes.
    const StatusOr<RaceReport> race =
        measurer_.Race(result_.plan, better.front().plan, Look::kLong);
    if (!race || race->same_executable || race->low <= 1) return false;
    end_.searched = Elapsed();
    end_.reserve = known_end_;
    TuneResult before = result_;
    result_.kept = false;
    result_.gains.clear();
    Conclude(measurer_, evaluator_, space_, better, options_,
             {start_, std::max(0.0, options_.budget_seconds - Elapsed())}, result_);
    if (result_.kept) {
      result_.others.push_back({before.plan, before.race.speedup});
      return true;
    }
    before.rejected = std::move(result_.rejected);
    before.stop = result_.stop;
    result_ = std::move(before);
    return false;
  }

  std::vector<choices::Trial> told_;  // of the joint search, over the whole space
  size_t next_look_ = 0;              // of kLookAgain
  SearchEnd end_;
};

}  // namespace

TuneResult TuneProgram(Evaluator& evaluator, const TuneOptions& options) {
  return Tuner(evaluator, options).Run();
}

}  // namespace hone::tune
