// One worker, used by one thread at a time: calls that always return, whatever XLA does.
//
// A worker that dies, hangs past its deadline or takes too much memory is replaced and what it was
// doing is done again; a pass that did it is remembered and reported as failed on that state.
#ifndef HONE_WIRE_REMOTE_WORKER_H_
#define HONE_WIRE_REMOTE_WORKER_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/program.h"
#include "core/result.h"
#include "core/timing.h"
#include "wire/pool_memory.h"
#include "wire/requests.h"
#include "wire/worker_calls.h"

namespace hone {

namespace wire {
class WorkerLink;
struct Patience;
}  // namespace wire

class RemoteWorker : public WorkerCalls<RemoteWorker> {
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

  // From any thread.
  Timing timing() const;
  int pid() const { return pid_; }                // -1 where none runs
  size_t bare_bytes() const { return bare_; }     // resident when it was ready for its first call
  int64_t replaced() const { return replaced_; }  // for its memory, between two calls

 private:
  friend WorkerCalls<RemoteWorker>;
  friend class Pool;
  // Whatever needs no more than a worker that has the programs, and time.
  template <class Request>
  StatusOr<typename Request::Result> Ask(const Request& request);
  wire::Patience Calling() const;
  Status Prepare(const std::vector<ProgramId>& programs);
  StatusOr<ProgramInfo> LoadHere(ProgramId program);
  Status GiveInputsHere(ProgramId program);
  Status GiveKernels(const std::vector<std::string>& tasks);
  void MakeRoomFor(ProgramId program);
  StatusOr<Applied> ApplyOnce(const ApplyRequest& request);
  void Note();
  void KeepWithinMemory();
  void Mourn(const Error& error, const std::string& doing);

  struct Loaded {
    int64_t instructions = 0;
    uint64_t last_used = 0;
    size_t failures_told = 0;                                // of PoolMemory::failures
    std::shared_ptr<const std::vector<std::string>> inputs;  // PoolMemory::inputs, as it has them
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
