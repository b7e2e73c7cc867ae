// One worker, used by one thread at a time: calls that always return, whatever XLA does.
//
// A worker that dies, hangs past its deadline or takes too much memory is replaced and what it was
// doing is done again; a pass that did it is remembered and reported as failed on that state.
#ifndef HONE_WIRE_REMOTE_WORKER_H_
#define HONE_WIRE_REMOTE_WORKER_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/comparison.h"
#include "core/compile_plan.h"
#include "core/evaluation.h"
#include "core/program.h"
#include "core/program_arrays.h"
#include "core/program_graph.h"
#include "core/program_task.h"
#include "core/race.h"
#include "core/raw_loop.h"
#include "core/result.h"
#include "core/rewrite.h"
#include "core/run_time.h"
#include "core/state.h"
#include "core/timing.h"
#include "wire/pool_memory.h"

namespace hone {

namespace wire {
class WorkerLink;
struct Patience;
template <class C>
class Reply;
}  // namespace wire

// A state whose module an episode leaves behind.
struct LeftState {
  ProgramId program = 0;
  Fingerprint state;
};

// What is to be run from where.
struct ApplyRequest {
  StateName from;
  std::vector<PassId> passes;
  std::vector<DecisionsPtr> decisions = {};  // empty, or one a pass
  ApplyOptions options;
  std::vector<LeftState> left;  // dropped first
  // The end of a search: a pass that still runs some time later is given up, and not blamed.
  std::optional<std::chrono::steady_clock::time_point> until = std::nullopt;
};

enum class ExportFormat { kText, kProto };

struct Exported {
  std::string bytes;
  Fingerprint state;
};

// What a pass that is asked rewrite by rewrite says next.
struct Question {
  bool done = false;  // there is nothing more to ask; `site` means nothing
  RewriteSite site;
};

enum class ExtractKind : uint8_t {
  kRandom,        // an instruction drawn from `seed`, with what it is computed from, `most` deep
  kFusions,       // each fusion
  kInstructions,  // each instruction of the entry
  kTasks,         // kernels and their neighbourhoods: Cut
};

class RemoteWorker {
 public:
  explicit RemoteWorker(std::shared_ptr<PoolMemory> memory);
  ~RemoteWorker();
  RemoteWorker(const RemoteWorker&) = delete;
  RemoteWorker& operator=(const RemoteWorker&) = delete;

  StatusOr<WorkerFacts> Hello();
  // Ends the process, if one runs; the next call starts another.
  void End();
  StatusOr<ProgramInfo> Load(ProgramId program);
  void Unload(ProgramId program);

  StatusOr<Applied> Apply(const ApplyRequest& request);
  // Forks: has the worker keep the state in memory while there is room, so that several
  // continuations from it are cheap. Never needed for correctness.
  Status Hold(const StateName& state);

  StatusOr<std::vector<StockPass>> StockPasses(ProgramId program);
  StatusOr<Metrics> Measure(const StateName& state);
  StatusOr<ProgramGraph> Describe(const StateName& state);
  StatusOr<ProgramArrays> Arrays(const StateName& state);
  StatusOr<Exported> Export(const StateName& state, ExportFormat format);
  StatusOr<ComparisonReport> Compare(const StateName& a, const CompilePlan& plan_a,
                                     const StateName& b, const CompilePlan& plan_b,
                                     const CompareOptions& options);
  StatusOr<Compiled> Compile(const StateName& state, const CompilePlan& plan,
                             const CompileOptions& options);
  // Given up after `most_seconds`, the worker with it.
  StatusOr<std::vector<KernelTime>> Profile(const StateName& state, const CompilePlan& plan,
                                            double seconds, double most_seconds,
                                            uint64_t inputs_seed = 0);
  StatusOr<RunTimeReport> RunTime(const StateName& state, const RunTimeOptions& options);
  // What a pass would do to a state, rewrite by rewrite. An error where it fails or kills the worker.
  StatusOr<Rewrites> ListRewrites(const StateName& state, PassId pass,
                                  const RewritesOptions& options);
  // Runs the pass and stops at its first rewrite; Answer goes on to the next. What was answered is
  // had as a state by applying the pass with these answers as choices of places.
  StatusOr<Question> Converse(const StateName& state, PassId pass, const RewritesOptions& options);
  StatusOr<Question> Answer(bool accept);
  StatusOr<RaceReport> Race(const StateName& a, const CompilePlan& plan_a, const StateName& b,
                            const CompilePlan& plan_b, const RaceOptions& options);
  // On inputs made from `seed`, by the stock compiler.
  StatusOr<Evaluation> Evaluate(const StateName& state, const EvaluationOptions& options);
  // Parts of a state as programs of their own, as HLO text; at most `most` of them.
  StatusOr<std::vector<std::string>> Extract(const StateName& state, ExtractKind what,
                                             uint64_t seed, uint32_t most);
  // A state whose calls are inlined, taken apart; in its order, at most `most`.
  StatusOr<std::vector<ProgramTask>> Cut(const StateName& state, uint32_t most);
  // An error where a pass kills the worker.
  StatusOr<RawLoopResult> RawLoop(ProgramId program, const RawLoopOptions& options);

  // From any thread.
  Timing timing() const;
  int pid() const { return pid_; }             // -1 where none runs
  size_t bare_bytes() const { return bare_; }  // resident when it was ready for its first call
  int64_t replaced() const { return replaced_; }  // for its memory, between two calls

 private:
  template <class C, class Make>
  StatusOr<wire::Reply<C>> CallOn(const std::vector<ProgramId>& programs,
                                  const wire::Patience& patience, const std::string& doing,
                                  Make make);
  template <class C, class Make, class Read>
  auto Ask(const std::vector<ProgramId>& programs, const wire::Patience& patience,
           const std::string& doing, Make make, Read read);
  wire::Patience Calling() const;
  Status Prepare(const std::vector<ProgramId>& programs);
  StatusOr<ProgramInfo> LoadHere(ProgramId program);
  Status GiveKernels(const std::vector<std::string>& tasks);
  void MakeRoomFor(ProgramId program);
  StatusOr<Applied> ApplyOnce(const ApplyRequest& request);
  void Note();
  void KeepWithinMemory();
  void Mourn(const Error& error, const std::string& doing);

  struct Loaded {
    int64_t instructions = 0;
    uint64_t last_used = 0;
    size_t failures_told = 0;  // of PoolMemory::failures
  };

  const std::shared_ptr<PoolMemory> memory_;
  std::unique_ptr<wire::WorkerLink> link_;
  std::map<ProgramId, Loaded> loaded_;
  uint64_t calls_ = 0;
  mutable std::mutex mutex_;  // of timing_
  Timing timing_;
  std::atomic<int> pid_{-1};
  std::atomic<size_t> bare_{0};
  std::atomic<int64_t> replaced_{0};
};

}  // namespace hone

#endif  // HONE_WIRE_REMOTE_WORKER_H_
