// Workers, as the agent side sees them: calls that always return, whatever XLA does.
//
// A worker that dies, hangs past its deadline or takes too much memory is replaced and what it was
// doing is done again; a pass that did it is remembered and reported as failed on that state.
// Everything here may be called from any thread. Requests of one batch run in parallel.
#ifndef HONE_WIRE_POOL_H_
#define HONE_WIRE_POOL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/comparison.h"
#include "core/pass.h"
#include "core/program.h"
#include "core/program_graph.h"
#include "core/result.h"
#include "core/state.h"
#include "core/timing.h"

namespace hone {

struct PoolOptions {
  int workers = 1;
  std::string worker_path;               // "" is the hone-worker beside this executable
  double pass_deadline_seconds = 60;     // one pass, or the copying of one module
  double call_deadline_seconds = 300;    // every other call but compare, which has its own budget
  size_t memory_limit_bytes = 0;         // resident, a worker; 0 is three quarters of the machine's
  size_t cache_bytes = size_t{1} << 30;  // modules that a worker keeps beside the loaded programs
  // When it becomes true, passes under way for more than two seconds are given up.
  const std::atomic<bool>* stop = nullptr;
};

// What is to be run from where.
struct ApplyRequest {
  StateName from;
  std::vector<PassId> passes;
  ApplyOptions options;
};

enum class ExportFormat { kText, kProto };

struct Exported {
  std::string bytes;
  Fingerprint state;
};

// A worker that was lost, and to what.
struct Death {
  ErrorCode code = ErrorCode::kWorkerDied;
  std::string doing;  // "pass algsimp", "compare", …
  std::string why;
};

class Pool {
 public:
  // Starts the first worker and learns from it what passes there are.
  static StatusOr<std::unique_ptr<Pool>> Start(const PoolOptions& options);
  ~Pool();

  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  const std::vector<PassInfo>& passes() const;
  const std::vector<ExcludedPass>& excluded() const;
  const std::string& version() const;  // of XLA: the wheel's name and version
  int workers() const;

  // The bytes of a file, in any format that the worker reads.
  StatusOr<ProgramInfo> Load(std::string data);
  void Unload(ProgramId program);

  // Results in the order of the requests.
  std::vector<StatusOr<Applied>> Apply(const std::vector<ApplyRequest>& requests);
  StatusOr<Applied> Apply(const ApplyRequest& request);

  // Forks: has the first worker keep the state in memory while there is room, so that several
  // continuations from it are cheap. Never needed for correctness.
  Status Hold(const StateName& state);

  StatusOr<std::vector<StockPass>> StockPasses(ProgramId program);
  StatusOr<Metrics> Measure(const StateName& state);
  StatusOr<ProgramGraph> Describe(const StateName& state);
  StatusOr<Exported> Export(const StateName& state, ExportFormat format);
  StatusOr<ComparisonReport> Compare(const StateName& a, const StateName& b,
                                     const CompareOptions& options);

  // Sums over all workers, also the lost ones.
  Timing timing() const;
  std::vector<Death> deaths() const;
  // Process ids of the workers that run now, for tests that kill them.
  std::vector<int> pids() const;

 private:
  class Link;
  struct Shared;
  Pool();

  std::shared_ptr<Shared> shared_;
  std::vector<std::unique_ptr<Link>> links_;
};

}  // namespace hone

#endif  // HONE_WIRE_POOL_H_
