// What workers can be asked, by name, for whoever has `Ask(request)` for the requests of
// requests.h.
#ifndef HONE_WIRE_WORKER_CALLS_H_
#define HONE_WIRE_WORKER_CALLS_H_

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/program_task.h"
#include "core/result.h"
#include "wire/requests.h"

namespace hone {

template <class Asks>
class WorkerCalls {
 public:
  // Forks: has the worker keep the state in memory while there is room, so that several
  // continuations from it are cheap. Never needed for correctness.
  Status Hold(const StateName& state) {
    return Ask(HoldRequest{state}).map([](const Nothing&) {});
  }
  StatusOr<std::vector<StockPass>> StockPasses(ProgramId program) {
    return Ask(StockPassesRequest{program});
  }
  StatusOr<Metrics> Measure(const StateName& state) { return Ask(MetricsRequest{state}); }
  StatusOr<ProgramGraph> Describe(const StateName& state) { return Ask(DescribeRequest{state}); }
  StatusOr<ProgramArrays> Arrays(const StateName& state) { return Ask(ArraysRequest{state}); }
  StatusOr<Exported> Export(const StateName& state, ExportFormat format) {
    return Ask(ExportRequest{state, format});
  }
  // With empty plans, as the stock compiler compiles them; so do races.
  StatusOr<ComparisonReport> Compare(const StateName& a, const CompilePlan& plan_a,
                                     const StateName& b, const CompilePlan& plan_b,
                                     const CompareOptions& options) {
    return Ask(CompareRequest{a, plan_a, b, plan_b, options});
  }
  StatusOr<ComparisonReport> Compare(const StateName& a, const StateName& b,
                                     const CompareOptions& options) {
    return Compare(a, {}, b, {}, options);
  }
  StatusOr<Compiled> Compile(const StateName& state, const CompilePlan& plan,
                             const CompileOptions& options) {
    return Ask(CompileRequest{state, plan, options});
  }
  // Given up after `most_seconds`, the worker with it.
  StatusOr<std::vector<KernelTime>> Profile(const StateName& state, const CompilePlan& plan,
                                            double seconds, double most_seconds,
                                            uint64_t inputs_seed = 0) {
    return Ask(ProfileRequest{state, plan, seconds, most_seconds, inputs_seed});
  }
  StatusOr<RunTimeReport> RunTime(const StateName& state, const RunTimeOptions& options) {
    return Ask(RunTimeRequest{state, options});
  }
  // The rewrites that a pass would make in a state. An error where it fails or kills the
  // worker.
  StatusOr<Rewrites> ListRewrites(const StateName& state, PassId pass,
                                  const RewritesOptions& options) {
    StatusOr<Rewrites> rewrites = Ask(RewritesRequest{state, pass, options});
    // Some passes cannot bear to be refused.
    if (!rewrites && !options.whole &&
        (rewrites.error().code == ErrorCode::kWorkerDied ||
         rewrites.error().code == ErrorCode::kDeadline)) {
      RewritesOptions whole = options;
      whole.whole = true;
      return Ask(RewritesRequest{state, pass, whole});
    }
    return rewrites;
  }
  // Runs the pass and stops at its first rewrite; Answer goes on to the next. To get the resulting
  // state, apply the pass with these answers as choices of places.
  StatusOr<Question> Converse(const StateName& state, PassId pass, const RewritesOptions& options) {
    return Ask(ConverseRequest{state, pass, options});
  }
  StatusOr<Question> Answer(bool accept) { return Ask(AnswerRequest{accept}); }
  // The worker keeps the executable of `a`: to race one against many costs one compilation each.
  StatusOr<RaceReport> Race(const StateName& a, const CompilePlan& plan_a, const StateName& b,
                            const CompilePlan& plan_b, const RaceOptions& options) {
    return Ask(RaceRequest{a, plan_a, b, plan_b, options});
  }
  StatusOr<RaceReport> Race(const StateName& a, const StateName& b, const RaceOptions& options) {
    return Race(a, {}, b, {}, options);
  }
  // On inputs made from a seed, by the stock compiler.
  StatusOr<Evaluation> Evaluate(const StateName& state, const EvaluationOptions& options) {
    return Ask(EvaluateRequest{state, options});
  }
  // Parts of a state as programs of their own, as HLO text; at most `most` of them.
  StatusOr<std::vector<std::string>> Extract(const StateName& state, ExtractKind what,
                                             uint64_t seed, uint32_t most) {
    return Ask(ExtractRequest{state, what, seed, most}).map([](Extracted&& extracted) {
      return std::move(extracted.modules);
    });
  }
  // A state whose calls are inlined, taken apart; in its order, at most `most`.
  StatusOr<std::vector<ProgramTask>> Cut(const StateName& state, uint32_t most) {
    return Ask(ExtractRequest{state, ExtractKind::kTasks, 0, most}).map([](Extracted&& cut) {
      std::vector<ProgramTask> tasks;
      const size_t size =
          std::min({cut.modules.size(), cut.what.size(), cut.places.size(), cut.runs.size()});
      for (size_t i = 0; i < size; ++i) {
        tasks.push_back(
            {std::move(cut.modules[i]), std::move(cut.what[i]), cut.places[i], cut.runs[i]});
      }
      return tasks;
    });
  }
  // An error where a pass kills the worker.
  StatusOr<RawLoopResult> RawLoop(ProgramId program, const RawLoopOptions& options) {
    return Ask(RawLoopRequest{program, options.actions, options.seed, options.first_episode,
                              options.length, options.seconds});
  }

 private:
  template <class Request>
  StatusOr<typename Request::Result> Ask(const Request& request) {
    return static_cast<Asks*>(this)->Ask(request);
  }
};

}  // namespace hone

#endif  // HONE_WIRE_WORKER_CALLS_H_
