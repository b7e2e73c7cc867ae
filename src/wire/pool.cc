#include "wire/pool.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <thread>

#include "wire/worker_process.h"

namespace hone {

// One worker, its thread, and the jobs for it.
class Pool::Thread {
 public:
  explicit Thread(std::shared_ptr<PoolMemory> memory)
      : remote_(std::move(memory)), thread_([this] { Work(); }) {}

  ~Thread() {
    {
      std::lock_guard lock(mutex_);
      ending_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

  void Post(std::function<void(RemoteWorker&)> job) {
    {
      std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(job));
    }
    wake_.notify_one();
  }

  bool Claim() {
    std::lock_guard lock(mutex_);
    if (busy_ || !jobs_.empty()) return false;
    return busy_ = true;
  }
  void Release() {
    {
      std::lock_guard lock(mutex_);
      busy_ = false;
    }
    wake_.notify_one();
  }

  RemoteWorker& remote() { return remote_; }

 private:
  void Work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return !busy_ && (ending_ || !jobs_.empty()); });
      if (jobs_.empty()) return;
      const std::function<void(RemoteWorker&)> job = std::move(jobs_.front());
      jobs_.pop_front();
      busy_ = true;
      lock.unlock();
      job(remote_);
      lock.lock();
      busy_ = false;
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void(RemoteWorker&)>> jobs_;
  bool busy_ = false;  // a job runs, here or on a thread that has claimed the worker
  bool ending_ = false;
  RemoteWorker remote_;
  std::thread thread_;  // last: it uses the rest
};

Pool::Idle::~Idle() { thread_.Release(); }
RemoteWorker& Pool::Idle::remote() const { return thread_.remote(); }

std::unique_ptr<Pool::Idle> Pool::Claim(int worker) {
  Thread& thread = *threads_[static_cast<size_t>(worker)];
  return thread.Claim() ? std::make_unique<Idle>(thread) : nullptr;
}

Pool::Pool() : memory_(std::make_shared<PoolMemory>()) {}
Pool::~Pool() = default;

StatusOr<std::unique_ptr<Pool>> Pool::Start(const PoolOptions& options) {
  std::unique_ptr<Pool> pool(new Pool);
  PoolOptions& own = pool->memory_->options;
  own = options;
  own.workers = std::max(1, options.workers);
  if (own.worker_path.empty()) own.worker_path = wire::FindWorker(own.target);
  if (own.memory_limit_bytes == 0) {
    own.memory_limit_bytes = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) / 4 * 3 *
                             static_cast<size_t>(sysconf(_SC_PAGESIZE));
  }
  for (int i = 0; i < own.workers; ++i) {
    pool->threads_.push_back(std::make_unique<Thread>(pool->memory_));
  }
  StatusOr<WorkerFacts> facts = pool->On(0, [](RemoteWorker& remote) { return remote.Hello(); });
  if (!facts) {
    // A rule file with a mistake, which the message names.
    if (facts.error().code == ErrorCode::kInvalidInput) return tl::unexpected(facts.error());
    return MakeError(facts.error().code,
                     facts.error().message +
                         " (hone-worker does not start: does `./test` pass, is the XLA cache "
                         "still there? setup/install puts it back)");
  }
  pool->memory_->facts = *std::move(facts);
  return pool;
}

void Pool::Post(int worker, std::function<void(RemoteWorker&)> job) {
  threads_[static_cast<size_t>(worker)]->Post(std::move(job));
}

ProgramId Pool::Add(std::string data) {
  std::lock_guard lock(memory_->mutex);
  const ProgramId id = memory_->next_program++;
  memory_->programs[id] = std::make_shared<const std::string>(std::move(data));
  return id;
}

StatusOr<ProgramInfo> Pool::Load(std::string data) {
  const ProgramId id = Add(std::move(data));
  StatusOr<ProgramInfo> info = On(0, [id](RemoteWorker& remote) { return remote.Load(id); });
  if (!info) {
    std::lock_guard lock(memory_->mutex);
    memory_->programs.erase(id);
  }
  return info;
}

void Pool::GiveInputs(ProgramId program, std::vector<std::string> arrays) {
  std::lock_guard lock(memory_->mutex);
  memory_->inputs[program] = std::make_shared<const std::vector<std::string>>(std::move(arrays));
}

void Pool::Unload(ProgramId program) {
  {
    std::lock_guard lock(memory_->mutex);
    memory_->programs.erase(program);
    memory_->inputs.erase(program);
    memory_->failures.erase(program);
  }
  for (int i = 0; i < workers(); ++i) {
    // A busy one does it next.
    if (const std::unique_ptr<Idle> idle = Claim(i)) {
      idle->remote().Unload(program);
    } else {
      Post(i, [program](RemoteWorker& remote) { remote.Unload(program); });
    }
  }
}

std::vector<StatusOr<Applied>> Pool::Apply(const std::vector<ApplyRequest>& requests) {
  std::vector<StatusOr<Applied>> results(requests.size(),
                                         MakeError(ErrorCode::kInternal, "not run"));
  std::atomic<size_t> next{0};
  std::vector<std::future<void>> done;
  for (size_t i = 0; i < std::min(threads_.size(), requests.size()); ++i) {
    done.push_back(Start(static_cast<int>(i), [&](RemoteWorker& remote) {
      for (size_t j; (j = next++) < requests.size();) results[j] = remote.Apply(requests[j]);
    }));
  }
  for (auto& future : done) future.get();
  return results;
}

StatusOr<Applied> Pool::Apply(const ApplyRequest& request) {
  return On(0, [&](RemoteWorker& remote) { return remote.Apply(request); });
}

Timing Pool::timing() const {
  Timing sum;
  for (const auto& thread : threads_) sum += thread->remote().timing();
  return sum;
}

std::vector<Death> Pool::deaths() const {
  std::lock_guard lock(memory_->mutex);
  return memory_->deaths;
}

int64_t Pool::replaced() const {
  int64_t sum = 0;
  for (const auto& thread : threads_) sum += thread->remote().replaced();
  return sum;
}

void Pool::EndProcesses() {
  for (int worker = 0; worker < workers(); ++worker) {
    On(worker, [](RemoteWorker& remote) { remote.End(); });
  }
}

std::vector<int> Pool::pids() const {
  std::vector<int> pids;
  for (const auto& thread : threads_) {
    if (const int pid = thread->remote().pid(); pid > 0) pids.push_back(pid);
  }
  return pids;
}

size_t Pool::bare_bytes() const { return threads_[0]->remote().bare_bytes(); }

}  // namespace hone
