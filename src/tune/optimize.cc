#include "tune/optimize.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <span>

#include "core/objective.h"
#include "env/pass_order.h"
#include "search/searcher.h"
#include "tune/best_orders.h"
#include "tune/choose_order.h"
#include "tune/starts.h"

namespace hone {
namespace {

using Clock = std::chrono::steady_clock;

double Since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Sequences asked for at a time. Fixed, so that a run does not depend on the number of workers.
constexpr size_t kBatch = 4;
// Rounds of questions that told nothing new, after which a search counts as exhausted.
constexpr int kMostIdleRounds = 2000;

class Optimizer {
 public:
  Optimizer(Pool& pool, const ProgramInfo& program, const OptimizeOptions& options)
      : pool_(pool),
        options_(options),
        order_(pool, program, options.objective, options.policy != nullptr) {}

  StatusOr<OptimizeResult> Run() {
    if (Status can = CanHave(pool_, options_.objective); !can) return tl::unexpected(can.error());
    StatusOr<std::vector<PassId>> actions = ActionSet(pool_.passes(), options_.actions);
    if (!actions) return tl::unexpected(actions.error());
    const SearcherInfo* info = FindSearcher(options_.search);
    if (info == nullptr) {
      return MakeError(ErrorCode::kInvalidInput, "there is no searcher '" + options_.search + "'");
    }
    result_.initial = result_.by_default = order_.initial_value();
    finalists_.Offer({order_.initial_value(), {}, order_.program().fingerprint});
    StatusOr<SearchProblem> problem = Problem(*actions, info->needs);
    if (!problem) return tl::unexpected(problem.error());
    const Timing before = pool_.timing();
    const int64_t steps_before = order_.steps();
    evaluated_before_ = order_.evaluated();
    search_start_ = Clock::now();
    if (options_.budget_seconds > 0) {
      order_.EndAt(*search_start_ + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(options_.budget_seconds)));
    }
    Search(*info->make(*problem, options_.seed));
    result_.search_seconds = Since(*search_start_);
    result_.timing = pool_.timing() - before;
    result_.steps = order_.steps() - steps_before;
    result_.evaluated = Evaluated();
    for (const auto& [what, times] : order_.failures()) {
      result_.failures.push_back({pool_.passes()[what.first].name, what.second, times});
    }
    ChooseOrder(
        pool_, order_, options_, InTurn(), by_default_,
        [this](std::string_view phase) { Report(phase); }, result_);
    if (result_.bytes.empty()) {
      return MakeError(ErrorCode::kInternal,
                       "not even the program itself could be made again: " +
                           (result_.rejected.empty() ? "" : result_.rejected.back()));
    }
    return std::move(result_);
  }

 private:
  bool Interrupted() const { return options_.interrupted != nullptr && *options_.interrupted; }

  void Report(std::string_view phase) {
    if (!options_.progress) return;
    options_.progress({phase, Since(start_), order_.steps(), result_.initial, result_.by_default,
                       finalists_.value()});
  }

  StatusOr<SearchProblem> Problem(const std::vector<PassId>& actions, Needs needs) {
    SearchProblem problem;
    problem.actions = actions;
    problem.initial_value = order_.initial_value();
    problem.longest = options_.longest;
    problem.initial_state = order_.program().fingerprint;
    problem.coreset = InActionSet(pool_.passes(), options_.coreset, actions);
    if (needs == Needs::kCoreset && problem.coreset.empty()) {
      return MakeError(ErrorCode::kInvalidInput,
                       "the searcher needs a coreset with passes of the action set '" +
                           options_.actions + "'; `hone coreset` makes one");
    }
    if (options_.policy != nullptr) {
      auto prior = options_.policy->MakePrior(pool_.passes(), pool_.opcodes(), actions,
                                              order_.initial_metrics().op_count);
      if (!prior) return tl::unexpected(prior.error());
      problem.prior = *std::move(prior);
      problem.initial_observed.opcodes = order_.program().opcodes;
      needs_arrays_ = problem.prior->NeedsArrays();
      if (needs_arrays_) problem.initial_observed.arrays = Arrays({order_.program().id, {}});
    } else if (needs == Needs::kPrior) {
      return MakeError(ErrorCode::kInvalidInput,
                       "the searcher needs a policy; `hone train` makes one");
    }
    if (options_.from_default) {
      const Sequence by_default = TakeDefaultOrder(actions, order_);
      if (!by_default.empty()) problem.starts.push_back(by_default);
      AddRuleStarts(pool_.passes(), actions, by_default, problem.starts);
    } else {
      // With a table of its own: what it finds out is not the search's to know.
      PassOrder order(pool_, order_.program(), options_.objective);
      (void)TakeDefaultOrder(actions, order);
    }
    for (const Sequence& known : InActionSet(pool_.passes(), options_.known, actions)) {
      const auto steps =
          Believed(known, std::move(order_.Evaluate(std::vector<Sequence>{known})[0]));
      if (!steps) continue;
      Note(*steps);
      problem.starts.push_back(known);
    }
    if (needs == Needs::kNothing) {  // others know themselves when the coreset has its turn
      problem.starts.insert(problem.starts.end(), problem.coreset.begin(), problem.coreset.end());
    }
    return problem;
  }

  // By the search; 0 until it begins.
  int64_t Evaluated() const { return search_start_ ? order_.evaluated() - evaluated_before_ : 0; }

  // Evaluates the stock compiler's order; returns the passes of it that changed something.
  Sequence TakeDefaultOrder(const std::vector<PassId>& actions, PassOrder& order) {
    Report("default order");
    StatusOr<std::vector<PassId>> stock = DefaultOrder(pool_, order.program(), actions);
    if (!stock) {
      result_.default_complaint = stock.error().message;
      return {};
    }
    const std::vector<std::vector<PassId>> sequences{*stock};
    StatusOr<std::vector<Step>> steps;
    do {
      steps = std::move(order.Evaluate(sequences)[0]);
    } while (steps && !order.AreWellFormed(*steps));
    if (!steps) {
      result_.default_complaint = steps.error().message;
      return {};
    }
    Sequence changing;
    for (const Step& step : *steps) {
      if (step.changed) changing.push_back(step.pass);
      result_.by_default = order.Value(step.metrics);
    }
    if (&order == &order_) {
      Note(*steps);
      if (!changing.empty()) {
        by_default_ = FoundOrder{result_.by_default, changing, steps->back().state};
      }
    }
    return changing;
  }

  // The steps of a sequence, those again that come after a state that XLA's verifier rejects:
  // before the search believes that something is the best so far, the verifier looks at all that
  // leads there.
  StatusOr<std::vector<Step>> Believed(const Sequence& sequence,
                                       StatusOr<std::vector<Step>> steps) {
    while (steps) {
      double lowest = finalists_.value();
      size_t best = 0;
      for (size_t i = 0; i < steps->size(); ++i) {
        const double value = order_.Value((*steps)[i].metrics);
        if (value >= lowest) continue;
        lowest = value;
        best = i + 1;
      }
      if (best == 0 || order_.AreWellFormed(std::span(*steps).first(best))) break;
      steps = std::move(order_.Evaluate(std::vector<Sequence>{sequence})[0]);
    }
    return steps;
  }

  // Keeps the best prefix of what was evaluated.
  void Note(const std::vector<Step>& steps) {
    FoundOrder candidate;
    candidate.value = order_.initial_value();
    std::vector<PassId> taken;
    size_t best = 0;
    for (const Step& step : steps) {
      if (!step.changed) continue;
      taken.push_back(step.pass);
      const double value = order_.Value(step.metrics);
      if (value < candidate.value) {
        candidate.value = value;
        candidate.state = step.state;
        best = taken.size();
      }
    }
    if (best == 0) return;
    taken.resize(best);
    candidate.passes = std::move(taken);
    if (candidate.value < finalists_.value()) {
      const double seconds = search_start_ ? Since(*search_start_) : 0;
      result_.improvements.push_back({Evaluated(), seconds, candidate.value});
    }
    // A finalist that computes something else mostly shares the reason with all that beat it. So
    // the best without rules of patterns, and the best of XLA's own passes, are kept beside them.
    if (!Uses(candidate, pool_.passes(), IsRules)) {
      without_rules_.Offer(candidate);
    } else if (!Uses(candidate, pool_.passes(), IsPatterns)) {
      without_patterns_.Offer(candidate);
    }
    finalists_.Offer(std::move(candidate));
  }

  void Search(Searcher& searcher) {
    Clock::time_point reported = Clock::now();
    int idle_rounds = 0;
    for (;;) {
      if (const std::optional<StopReason> reason = WhyStop()) {
        result_.stop_reason = *reason;
        return;
      }
      const int64_t evaluated = order_.evaluated();
      const std::vector<Sequence> sequences = searcher.Ask(kBatch);
      if (sequences.empty() || idle_rounds == kMostIdleRounds) {
        result_.stop_reason = StopReason::kExhausted;
        return;
      }
      auto results = order_.Evaluate(sequences);
      for (size_t i = 0; i < sequences.size(); ++i) {
        const auto steps = Believed(sequences[i], std::move(results[i]));
        if (steps) Note(*steps);
        searcher.Tell(MakeTrial(sequences[i], steps));
      }
      idle_rounds = order_.evaluated() == evaluated ? idle_rounds + 1 : 0;
      if (Since(reported) > 0.2) {
        Report("search");
        reported = Clock::now();
      }
    }
  }

  std::optional<StopReason> WhyStop() const {
    if (Interrupted()) return StopReason::kInterrupted;
    if (options_.budget_seconds > 0 && Since(*search_start_) >= options_.budget_seconds) {
      return StopReason::kTime;
    }
    if (options_.budget_steps > 0 && Evaluated() >= options_.budget_steps) {
      return StopReason::kSteps;
    }
    return std::nullopt;
  }

  // Null where the worker cannot tell.
  std::shared_ptr<const ProgramArrays> Arrays(const StateName& state) {
    auto arrays = pool_.On(0, [&](RemoteWorker& remote) { return remote.Arrays(state); });
    return arrays ? std::make_shared<const ProgramArrays>(*std::move(arrays)) : nullptr;
  }

  Trial MakeTrial(const Sequence& sequence, const StatusOr<std::vector<Step>>& steps) {
    Trial trial{sequence, {}};
    if (!steps) return trial;
    std::vector<PassId> changes;
    StateName name{order_.program().id, {}};
    for (const Step& step : *steps) {
      ActionResult& result = trial.results.emplace_back();
      result.action = step.pass;
      result.changed = step.changed;
      result.failed = !step.failure.empty();
      result.value = order_.Value(step.metrics);
      result.state = step.state;
      if (options_.policy == nullptr) continue;
      if (step.changed) {
        changes.push_back(step.pass);
        name.links.push_back({step.pass, step.state});
      }
      result.observed.opcodes = order_.Opcodes(step.state);
      result.observed.passes = changes;
    }
    if (needs_arrays_ && !trial.results.empty()) {
      trial.results.back().observed.arrays = Arrays(name);
    }
    return trial;
  }

  // The finalists, then those to fall back on, XLA's own order and at last the program as it is.
  std::vector<FoundOrder> InTurn() {
    std::vector<FoundOrder> all = finalists_.all();
    const auto add = [&](const FoundOrder& other) {
      const bool there = std::any_of(all.begin(), all.end(), [&](const FoundOrder& known) {
        return known.state == other.state;
      });
      if (!there) all.push_back(other);
    };
    for (BestOrders* others : {&without_patterns_, &without_rules_}) {
      for (size_t i = 0; i < std::min(kFallbacks, others->all().size()); ++i) {
        add(others->all()[i]);
      }
    }
    if (by_default_) add(*by_default_);
    add({order_.initial_value(), {}, order_.program().fingerprint});
    return all;
  }

  Pool& pool_;
  const OptimizeOptions& options_;
  PassOrder order_;
  const Clock::time_point start_ = Clock::now();
  std::optional<Clock::time_point> search_start_;  // once the default order has been taken
  int64_t evaluated_before_ = 0;                   // before the search
  BestOrders finalists_;
  BestOrders without_patterns_;  // of hone's rules batch_lanes alone
  BestOrders without_rules_;
  std::optional<FoundOrder> by_default_;  // XLA's own order, where it changes something
  OptimizeResult result_;
  bool needs_arrays_ = false;  // of the policy's
};

}  // namespace

std::string_view StopReasonName(StopReason reason) {
  constexpr std::string_view kNames[] = {"time", "steps", "exhausted", "interrupted"};
  return kNames[static_cast<int>(reason)];
}

StatusOr<OptimizeResult> Optimize(Pool& pool, const ProgramInfo& program,
                                  const OptimizeOptions& options) {
  return Optimizer(pool, program, options).Run();
}

}  // namespace hone
