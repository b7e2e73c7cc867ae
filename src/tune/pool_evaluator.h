// The tuner's questions, asked of real workers.
#ifndef HONE_TUNE_POOL_EVALUATOR_H_
#define HONE_TUNE_POOL_EVALUATOR_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/program.h"
#include "tune/evaluator.h"
#include "wire/pool.h"

namespace hone::tune {

class PoolEvaluator final : public Evaluator {
 public:
  using StartPool = std::function<StatusOr<std::unique_ptr<Pool>>()>;

  // One program, by a pool of its own; Restart starts another. `data` are the bytes of its file.
  // When `interrupted` becomes true only the search for alternatives stops; all other calls go on.
  // With `apart` each worker is on a machine of its own, and they measure at the same time.
  static StatusOr<std::unique_ptr<PoolEvaluator>> Start(
      StartPool start_pool, std::string data, uint64_t seed,
      const std::atomic<bool>* interrupted = nullptr, bool apart = false);

  int workers() const override { return apart_ ? pool_->workers() : 1; }
  bool kernels_last() const override { return pool_->shares_kernels(); }
  StatusOr<std::vector<Alternative>> Alternatives(const AlternativesWanted& wanted) override;
  StatusOr<Compiled> Compile(const TunePlan& plan, const CompileOptions& options) override;
  StatusOr<std::vector<KernelTime>> Profile(const TunePlan& plan, double seconds,
                                            double most_seconds) override;
  StatusOr<ProgramGraph> Describe(const std::string& text) override;
  StatusOr<RaceReport> Race(const TunePlan& a, const TunePlan& b,
                            const RaceOptions& options) override;
  StatusOr<ComparisonReport> Compare(const TunePlan& a, const TunePlan& b,
                                     const CompareOptions& options) override;
  std::vector<ProgramTask> Cut(size_t most) override;
  StatusOr<std::unique_ptr<Evaluator>> OfTask(const ProgramTask& task) override;
  std::string Name() const override { return program_.fingerprint.ToHex(); }
  Status Restart() override;
  double Seconds() const override;

  const ProgramInfo& program() const { return program_; }
  Pool& pool() { return *pool_; }

 private:
  class Task;

  PoolEvaluator(StartPool start_pool, std::string data, uint64_t seed,
                const std::atomic<bool>* interrupted, bool apart)
      : start_pool_(std::move(start_pool)),
        data_(std::move(data)),
        seed_(seed),
        interrupted_(interrupted),
        apart_(apart) {}

  std::vector<Alternative> Orders(double seconds);
  // For any program of the pool.
  StatusOr<Compiled> CompileOf(ProgramId program, const TunePlan& plan,
                               const CompileOptions& options);
  StatusOr<RaceReport> RaceOf(ProgramId program, const TunePlan& a, const TunePlan& b,
                              const RaceOptions& options);
  StatusOr<ComparisonReport> CompareOf(ProgramId program, const TunePlan& a, const TunePlan& b,
                                       const CompareOptions& options);
  StatusOr<double> RunSecondsOf(ProgramId program);
  // Has a call answered by whichever worker is free, in the order in which calls come; those of the
  // thread that owns this go first. Where a worker dies of it, another machine decides.
  template <class Job>
  auto OnFree(Job job) -> decltype(job(std::declval<RemoteWorker&>()));
  int Take();
  void GiveBack(int worker, bool died);

  const StartPool start_pool_;
  const std::string data_;
  const uint64_t seed_;
  const std::atomic<bool>* const interrupted_;
  const bool apart_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const std::thread::id owner_ = std::this_thread::get_id();
  std::unique_ptr<Pool> pool_;
  ProgramInfo program_;
  std::optional<std::set<std::string>> found_;  // implementations, once they were looked for
  std::mutex mutex_;                            // of what follows
  std::condition_variable freed_;
  std::list<int> free_;      // workers
  std::vector<int> deaths_;  // of each, in a row
  int usable_ = 0;           // workers that are not left alone
  std::list<int> waiting_;   // tickets
  int next_ticket_ = 0;
};

// The program after the plan's passes. An unknown pass is an error that suggests the nearest.
StatusOr<StateName> StateAfter(const Pool& pool, ProgramId program,
                               const std::vector<PlannedPass>& passes);

}  // namespace hone::tune

#endif  // HONE_TUNE_POOL_EVALUATOR_H_
