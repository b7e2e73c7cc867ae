// The tuner's questions, asked of real workers.
#ifndef HONE_TUNE_POOL_EVALUATOR_H_
#define HONE_TUNE_POOL_EVALUATOR_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/program.h"
#include "tune/evaluator.h"
#include "wire/pool.h"

namespace hone::tune {

class PoolEvaluator final : public Evaluator {
 public:
  using StartPool = std::function<StatusOr<std::unique_ptr<Pool>>()>;

  // One program, by a pool of its own; Restart starts another. `data` are the bytes of its file.
  // What is asked goes on when `interrupted` becomes true, but for finding alternatives.
  static StatusOr<std::unique_ptr<PoolEvaluator>> Start(
      StartPool start_pool, std::string data, uint64_t seed,
      const std::atomic<bool>* interrupted = nullptr);

  StatusOr<std::vector<Alternative>> Alternatives(bool implementations, bool orders,
                                                  double order_seconds) override;
  StatusOr<Compiled> Compile(const TunePlan& plan, const CompileOptions& options) override;
  StatusOr<ProgramGraph> Describe(const std::string& text) override;
  StatusOr<RaceReport> Race(const TunePlan& a, const TunePlan& b,
                            const RaceOptions& options) override;
  StatusOr<ComparisonReport> Compare(const TunePlan& a, const TunePlan& b,
                                     const CompareOptions& options) override;
  Status Restart() override;
  double Seconds() const override;

  const ProgramInfo& program() const { return program_; }
  Pool& pool() { return *pool_; }

 private:
  PoolEvaluator(StartPool start_pool, std::string data, uint64_t seed,
                const std::atomic<bool>* interrupted)
      : start_pool_(std::move(start_pool)),
        data_(std::move(data)),
        seed_(seed),
        interrupted_(interrupted) {}

  std::vector<Alternative> Orders(double seconds);

  const StartPool start_pool_;
  const std::string data_;
  const uint64_t seed_;
  const std::atomic<bool>* const interrupted_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::unique_ptr<Pool> pool_;
  ProgramInfo program_;
};

// The program after the plan's passes. An unknown pass is an error that suggests the nearest.
StatusOr<StateName> StateAfter(const Pool& pool, ProgramId program,
                               const std::vector<PlannedPass>& passes);

}  // namespace hone::tune

#endif  // HONE_TUNE_POOL_EVALUATOR_H_
