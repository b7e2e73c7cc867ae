// Workers, each with a thread of its own, as the agent side uses them.
//
// Everything here may be called from any thread. What a call promises, RemoteWorker says.
#ifndef HONE_WIRE_POOL_H_
#define HONE_WIRE_POOL_H_

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "wire/pool_memory.h"
#include "wire/remote_worker.h"
#include "wire/worker_calls.h"

namespace hone {

class Pool : public WorkerCalls<Pool> {
 public:
  // Starts the first worker and learns from it what passes there are.
  static StatusOr<std::unique_ptr<Pool>> Start(const PoolOptions& options);
  ~Pool();

  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  const std::vector<PassInfo>& passes() const { return memory_->facts.passes; }
  const std::vector<ExcludedPass>& excluded() const { return memory_->facts.excluded; }
  const std::vector<std::string>& opcodes() const { return memory_->facts.opcodes; }
  const std::vector<std::string>& types() const { return memory_->facts.types; }
  const std::string& version() const { return memory_->facts.version; }
  // The target that workers compile for: "cpu", or a GPU's name.
  const std::string& target() const { return memory_->facts.target; }
  bool is_gpu() const { return target() != "cpu"; }
  // Whether programs may call kernels of hone-loops: PoolOptions::kernels.
  bool shares_kernels() const { return memory_->options.SharesKernels(); }
  bool makes_kernels() const { return memory_->options.kernels != nullptr; }
  int workers() const { return static_cast<int>(threads_.size()); }

  // Runs `job` on a worker's thread, after what was posted there before.
  void Post(int worker, std::function<void(RemoteWorker&)> job);
  // The same, with a result to wait for.
  template <class Job>
  auto Start(int worker, Job job) -> std::future<decltype(job(std::declval<RemoteWorker&>()))> {
    using Result = decltype(job(std::declval<RemoteWorker&>()));
    auto task = std::make_shared<std::packaged_task<Result(RemoteWorker&)>>(std::move(job));
    auto future = task->get_future();
    Post(worker, [task](RemoteWorker& remote) { (*task)(remote); });
    return future;
  }
  // The same, done when it returns: on this thread where the worker is idle, which spares two
  // wake-ups.
  template <class Job>
  auto On(int worker, Job job) -> decltype(job(std::declval<RemoteWorker&>())) {
    if (const std::unique_ptr<Idle> idle = Claim(worker)) return job(idle->remote());
    return Start(worker, std::move(job)).get();
  }

  // Takes the bytes of a file, in any format that the worker reads; whoever first needs the program
  // loads it. It may turn out to be bad input then.
  ProgramId Add(std::string data);
  // The same, loaded by the first worker.
  StatusOr<ProgramInfo> Load(std::string data);
  // Times its runs on these from now on, as Evaluation::parameters, in place of generated inputs.
  // What they lack is an error of the next call that takes the program.
  void GiveInputs(ProgramId program, std::vector<std::string> arrays);
  void Unload(ProgramId program);
  // Ends all processes. Programs and what was learnt stay; the next call starts a process again.
  void EndProcesses();

  // In parallel; results in the order of the requests.
  std::vector<StatusOr<Applied>> Apply(const std::vector<ApplyRequest>& requests);

  // By the first worker.
  StatusOr<Applied> Apply(const ApplyRequest& request);

  // Sums over all workers, also the lost ones.
  Timing timing() const;
  std::vector<Death> deaths() const;
  int64_t replaced() const;  // workers, for their memory, between two calls
  // Process ids of the workers that run now, for those who watch or kill them.
  std::vector<int> pids() const;
  size_t bare_bytes() const;  // resident memory of a worker that has done nothing yet

 private:
  friend WorkerCalls<Pool>;
  template <class Request>
  StatusOr<typename Request::Result> Ask(const Request& request) {
    return On(0, [&](RemoteWorker& remote) { return remote.Ask(request); });
  }

  class Thread;
  // A worker that is this thread's until it is destroyed.
  class Idle {
   public:
    explicit Idle(Thread& thread) : thread_(thread) {}
    ~Idle();
    Idle(const Idle&) = delete;
    Idle& operator=(const Idle&) = delete;
    RemoteWorker& remote() const;

   private:
    Thread& thread_;
  };
  Pool();
  // Null where the worker is busy.
  std::unique_ptr<Idle> Claim(int worker);

  std::shared_ptr<PoolMemory> memory_;
  std::vector<std::unique_ptr<Thread>> threads_;
};

}  // namespace hone

#endif  // HONE_WIRE_POOL_H_
