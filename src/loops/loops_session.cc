#include "loops/loops_session.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace hone::loops {

// A worker and its jobs. The thread begins with the first job: who leads one environment by itself
// needs none.
class LoopsSession::Thread {
 public:
  explicit Thread(std::unique_ptr<Generator> generator) : worker_{std::move(generator)} {}

  ~Thread() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    wake_.notify_one();
    if (thread_.joinable()) thread_.join();
  }

  void Post(std::function<void(LoopsWorker&)> job) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(job));
      if (!thread_.joinable()) thread_ = std::thread([this] { Work(); });
    }
    wake_.notify_one();
  }

  void Here(const std::function<void(LoopsWorker&)>& job) {
    const std::lock_guard lock(using_);
    job(worker_);
  }

  int64_t restarts() {
    const std::lock_guard lock(using_);
    return worker_.generator == nullptr ? 0 : worker_.generator->restarts();
  }

 private:
  void Work() {
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      const std::function<void(LoopsWorker&)> job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      Here(job);
      lock.lock();
    }
  }

  std::mutex using_;  // of worker_
  LoopsWorker worker_;
  std::mutex mutex_;  // of what follows
  std::condition_variable wake_;
  std::deque<std::function<void(LoopsWorker&)>> jobs_;
  bool ending_ = false;
  std::thread thread_;
};

LoopsSession::LoopsSession(const LoopsEnvOptions& options) : options_(options) {}
LoopsSession::~LoopsSession() = default;

StatusOr<std::shared_ptr<LoopsSession>> LoopsSession::Open(const LoopsEnvOptions& options) {
  if (options.tasks.empty()) return MakeError(ErrorCode::kInvalidInput, "there are no tasks");
  if (options.steps_a_nest < 1) {
    return MakeError(ErrorCode::kInvalidInput, "a nest has one step at least");
  }
  if (options.workers < 1 || options.workers > 256) {
    return MakeError(ErrorCode::kInvalidInput, "there are 1 to 256 workers");
  }
  std::shared_ptr<LoopsSession> session(new LoopsSession(options));
  for (size_t i = 0; i < options.tasks.size(); ++i) {
    StatusOr<Task> task = ParseTask(options.tasks[i]);
    if (!task) {
      return MakeError(task.error().code,
                       "task " + std::to_string(i) + ": " + task.error().message);
    }
    session->tasks_.push_back(*std::move(task));
    const Catalogue& catalogue =
        session->catalogues_.emplace_back(Expand(session->tasks_.back()), options.machine);
    session->sites_ = std::max(session->sites_, catalogue.sites().size());
    session->most_steps_ =
        std::max(session->most_steps_,
                 static_cast<size_t>(options.steps_a_nest) * catalogue.program().nests.size());
  }
  for (int i = 0; i < options.workers; ++i) {
    std::unique_ptr<Generator> generator;
    if (!options.estimate) {
      GeneratorOptions how;
      how.sandbox = options.sandbox;
      how.program_path = options.program_path;
      auto started = Generator::Start(how);
      if (!started) return tl::unexpected(started.error());
      generator = *std::move(started);
    }
    session->threads_.push_back(std::make_unique<Thread>(std::move(generator)));
  }
  return session;
}

void LoopsSession::Post(int worker, std::function<void(LoopsWorker&)> job) {
  threads_[static_cast<size_t>(worker)]->Post(std::move(job));
}

void LoopsSession::Here(int worker, const std::function<void(LoopsWorker&)>& job) {
  threads_[static_cast<size_t>(worker)]->Here(job);
}

int64_t LoopsSession::restarts() const {
  int64_t restarts = 0;
  for (const auto& thread : threads_) restarts += thread->restarts();
  return restarts;
}

}  // namespace hone::loops
