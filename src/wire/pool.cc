#include "wire/pool.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "wire/codec.h"
#include "wire/worker_link.h"

namespace hone {

using wire::FromWire;
using wire::Heartbeat;
using wire::LinkOptions;
using wire::Patience;
using wire::ToWire;
using wire::Worker;
using wire::WorkerLink;

namespace {

// The error that the worker answered with, if any.
template <class Response>
Status Answer(const StatusOr<Response>& response) {
  if (!response) return tl::unexpected(response.error());
  Error error;
  if (FromWire(response->getFailure(), error)) return tl::unexpected(error);
  return {};
}

}  // namespace

struct Pool::Shared {
  PoolOptions options;
  std::string version;
  std::vector<PassInfo> passes;
  std::vector<ExcludedPass> excluded;

  mutable std::mutex mutex;
  std::map<ProgramId, std::shared_ptr<const std::string>> programs;
  std::map<ProgramId, std::vector<KnownFailure>> failures;
  std::vector<Death> deaths;
  ProgramId next_program = 0;

  std::vector<KnownFailure> FailuresOf(ProgramId program) const {
    std::lock_guard lock(mutex);
    const auto found = failures.find(program);
    return found == failures.end() ? std::vector<KnownFailure>() : found->second;
  }

  void Bury(const Error& error, std::string doing) {
    std::lock_guard lock(mutex);
    deaths.push_back({error.code, std::move(doing), error.message});
  }
};

// One worker, its thread, and the jobs for it.
class Pool::Link {
 public:
  explicit Link(std::shared_ptr<Shared> shared)
      : shared_(std::move(shared)), thread_([this] { Work(); }) {}

  ~Link() {
    {
      std::lock_guard lock(mutex_);
      ending_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

  // Runs `job` on the worker's thread; the future is ready when it is done.
  template <class Job>
  auto Post(Job job) -> std::future<decltype(job(std::declval<Link&>()))> {
    auto task = std::make_shared<std::packaged_task<decltype(job(*this))()>>(
        [this, job = std::move(job)]() mutable { return job(*this); });
    auto future = task->get_future();
    {
      std::lock_guard lock(mutex_);
      jobs_.push_back([task] { (*task)(); });
    }
    wake_.notify_one();
    return future;
  }

  Patience Calling() const { return {shared_->options.call_deadline_seconds, false, nullptr}; }

  Status Hello();
  StatusOr<ProgramInfo> Load(ProgramId program);
  void Unload(ProgramId program);
  StatusOr<Applied> Apply(const ApplyRequest& request);

  // A call that is made again, once, when the worker was killed from outside.
  template <class Make>
  auto CallOn(const std::vector<ProgramId>& programs, const Patience& patience,
              const std::string& doing, Make make) {
    using Response = decltype(link_->Call(patience, make));
    Response response = MakeError(ErrorCode::kInternal, "not called");
    for (int attempt = 0; attempt < 2; ++attempt) {
      if (Status ready = Prepare(programs); !ready) {
        response = tl::unexpected(ready.error());
        if (ready.error().code == ErrorCode::kWorkerDied) continue;
        break;
      }
      response = link_->Call(patience, make);
      Note();
      if (response) break;
      Mourn(response.error(), doing);
      if (!link_->killed_from_outside()) break;
    }
    return response;
  }

  // From any thread: the call that `make` makes, on a worker that has `programs`, and what `read`
  // reads from its answer.
  template <class Make, class Read>
  auto Ask(const std::vector<ProgramId>& programs, const Patience& patience,
           const std::string& doing, Make make, Read read) {
    using Result = decltype(read(*CallOn(programs, patience, doing, make)));
    return Post([&](Link& link) -> StatusOr<Result> {
             auto response = link.CallOn(programs, patience, doing, make);
             if (Status answer = Answer(response); !answer) {
               return tl::unexpected(answer.error());
             }
             return read(*response);
           })
        .get();
  }

  Timing timing() const {
    std::lock_guard lock(mutex_);
    return timing_;
  }
  int pid() const { return pid_; }

 private:
  void Work() {
    link_ = std::make_unique<WorkerLink>(LinkOptions{shared_->options.worker_path,
                                                     shared_->options.cache_bytes,
                                                     shared_->options.memory_limit_bytes});
    for (;;) {
      std::function<void()> job;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
        if (jobs_.empty()) break;
        job = std::move(jobs_.front());
        jobs_.pop_front();
      }
      job();
    }
    link_.reset();
  }

  // A running worker that has the programs loaded.
  Status Prepare(const std::vector<ProgramId>& programs) {
    StatusOr<bool> fresh = link_->Connect();
    if (!fresh) return tl::unexpected(fresh.error());
    if (*fresh) loaded_.clear();
    pid_ = link_->pid();
    for (ProgramId program : programs) {
      if (loaded_.count(program) != 0) continue;
      if (StatusOr<ProgramInfo> info = LoadHere(program); !info) {
        return tl::unexpected(info.error());
      }
    }
    return {};
  }

  StatusOr<ProgramInfo> LoadHere(ProgramId program);
  StatusOr<Applied> ApplyOnce(const ApplyRequest& request);

  void Note() {
    std::lock_guard lock(mutex_);
    timing_ = link_->timing();
  }

  void Mourn(const Error& error, const std::string& doing) {
    loaded_.clear();
    pid_ = -1;
    shared_->Bury(error, doing);
  }

  const std::shared_ptr<Shared> shared_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  bool ending_ = false;
  Timing timing_;
  std::atomic<int> pid_{-1};
  // Of the worker's thread.
  std::unique_ptr<WorkerLink> link_;
  std::set<ProgramId> loaded_;
  std::thread thread_;  // last: it uses the rest
};

Status Pool::Link::Hello() {
  auto response =
      CallOn({}, Calling(), "hello", [](Worker::Client& worker) { return worker.helloRequest(); });
  if (!response) return tl::unexpected(response.error());
  shared_->version = response->getVersion().cStr();
  for (auto pass : response->getPasses()) shared_->passes.push_back(FromWire(pass));
  for (auto excluded : response->getExcluded()) {
    shared_->excluded.push_back({excluded.getClassName().cStr(), excluded.getReason().cStr()});
  }
  return {};
}

StatusOr<ProgramInfo> Pool::Link::LoadHere(ProgramId program) {
  std::shared_ptr<const std::string> data;
  {
    std::lock_guard lock(shared_->mutex);
    const auto found = shared_->programs.find(program);
    if (found == shared_->programs.end()) {
      return MakeError(ErrorCode::kInvalidInput,
                       "no program " + std::to_string(program) + " is loaded");
    }
    data = found->second;
  }
  auto response = link_->Call(Calling(), [&](Worker::Client& worker) {
    auto request = worker.loadRequest();
    request.setProgram(program);
    request.setData(kj::arrayPtr(reinterpret_cast<const kj::byte*>(data->data()), data->size()));
    return request;
  });
  Note();
  if (!response) {
    Mourn(response.error(), "load");
    if (link_->killed_from_outside()) return tl::unexpected(response.error());
    // What breaks XLA's reader is bad input.
    return MakeError(ErrorCode::kInvalidInput,
                     "XLA broke down reading it: " + response.error().message);
  }
  if (Status answer = Answer(response); !answer) return tl::unexpected(answer.error());
  loaded_.insert(program);
  return FromWire(response->getInfo());
}

StatusOr<ProgramInfo> Pool::Link::Load(ProgramId program) {
  StatusOr<ProgramInfo> info = MakeError(ErrorCode::kInternal, "not loaded");
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (Status ready = Prepare({}); !ready) return tl::unexpected(ready.error());
    info = LoadHere(program);
    if (info || info.error().code != ErrorCode::kWorkerDied) break;
  }
  return info;
}

void Pool::Link::Unload(ProgramId program) {
  if (loaded_.erase(program) == 0 || link_->pid() < 0) return;
  (void)CallOn({}, Calling(), "unload", [&](Worker::Client& worker) {
    auto request = worker.unloadRequest();
    request.setProgram(program);
    return request;
  });
}

StatusOr<Applied> Pool::Link::ApplyOnce(const ApplyRequest& request) {
  if (Status ready = Prepare({request.from.program}); !ready) {
    return tl::unexpected(ready.error());
  }
  const std::vector<KnownFailure> avoid = shared_->FailuresOf(request.from.program);
  Heartbeat* heartbeat = link_->heartbeat();
  heartbeat->step = Heartbeat::kReplaying;
  const Patience patience{shared_->options.pass_deadline_seconds, true, shared_->options.stop};
  auto response = link_->Call(patience, [&](Worker::Client& worker) {
    auto wire_request = worker.applyRequest();
    ToWire(request.from, wire_request.initFrom());
    auto passes = wire_request.initPasses(static_cast<unsigned>(request.passes.size()));
    for (unsigned i = 0; i < passes.size(); ++i) passes.set(i, request.passes[i]);
    auto known = wire_request.initAvoid(static_cast<unsigned>(avoid.size()));
    for (unsigned i = 0; i < known.size(); ++i) ToWire(avoid[i], known[i]);
    ToWire(request.options, wire_request.initOptions());
    return wire_request;
  });
  Note();
  if (Status answer = Answer(response); !answer) return tl::unexpected(answer.error());
  Applied applied;
  applied.start = FromWire(response->getStart());
  for (auto step : response->getSteps()) applied.steps.push_back(FromWire(step));
  return applied;
}

// Passes that kill are found, remembered and stepped over.
StatusOr<Applied> Pool::Link::Apply(const ApplyRequest& request) {
  // Every pass may kill once; more deaths mean that they could not be pinned on a state.
  size_t deaths_left = request.passes.size() + 8;
  int kills_left = 5;  // from outside, of which no pass is guilty
  int rebuilds_left =
      2;  // on the way to the state that it was to start from, or between two passes
  for (;;) {
    StatusOr<Applied> applied = ApplyOnce(request);
    if (applied || deaths_left-- == 0) return applied;
    const Error error = applied.error();
    if (error.code == ErrorCode::kInterrupted) Mourn(error, "interrupted");
    if (error.code != ErrorCode::kWorkerDied && error.code != ErrorCode::kDeadline &&
        error.code != ErrorCode::kMemory) {
      return applied;
    }
    const uint32_t step = link_->last_step();
    const bool in_a_pass = step < request.passes.size();
    const PassId pass = in_a_pass ? request.passes[step] : 0;
    Mourn(error, in_a_pass ? "pass " + shared_->passes[pass].name : "rebuilding a state");
    if (link_->killed_from_outside()) {
      if (kills_left-- == 0) return applied;
      continue;
    }
    if (!in_a_pass) {
      if (--rebuilds_left == 0) return applied;
      continue;
    }
    // Which state did it die on? The passes before it tell, on a new worker.
    ApplyRequest before = request;
    before.passes.resize(step);
    StatusOr<Applied> prefix = Apply(before);
    if (!prefix) return prefix;
    const Fingerprint state = prefix->steps.empty() ? prefix->start : prefix->steps.back().state;
    std::lock_guard lock(shared_->mutex);
    shared_->failures[request.from.program].push_back({state, pass, error.message});
  }
}

Pool::Pool() : shared_(std::make_shared<Shared>()) {}
Pool::~Pool() = default;

StatusOr<std::unique_ptr<Pool>> Pool::Start(const PoolOptions& options) {
  std::unique_ptr<Pool> pool(new Pool);
  PoolOptions& own = pool->shared_->options;
  own = options;
  own.workers = std::max(1, options.workers);
  if (own.worker_path.empty()) own.worker_path = wire::FindWorker();
  if (own.memory_limit_bytes == 0) {
    own.memory_limit_bytes = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) / 4 * 3 *
                             static_cast<size_t>(sysconf(_SC_PAGESIZE));
  }
  for (int i = 0; i < own.workers; ++i) {
    pool->links_.push_back(std::make_unique<Link>(pool->shared_));
  }
  const Status hello = pool->links_[0]->Post([](Link& link) { return link.Hello(); }).get();
  if (!hello) {
    return MakeError(hello.error().code,
                     hello.error().message +
                         " (hone-worker does not start: does `./test` pass, is the XLA cache "
                         "still there? setup/install puts it back)");
  }
  return pool;
}

const std::vector<PassInfo>& Pool::passes() const { return shared_->passes; }
const std::vector<ExcludedPass>& Pool::excluded() const { return shared_->excluded; }
const std::string& Pool::version() const { return shared_->version; }
int Pool::workers() const { return static_cast<int>(links_.size()); }

StatusOr<ProgramInfo> Pool::Load(std::string data) {
  ProgramId id;
  {
    std::lock_guard lock(shared_->mutex);
    id = shared_->next_program++;
    shared_->programs[id] = std::make_shared<const std::string>(std::move(data));
  }
  StatusOr<ProgramInfo> info = links_[0]->Post([id](Link& link) { return link.Load(id); }).get();
  if (!info) {
    std::lock_guard lock(shared_->mutex);
    shared_->programs.erase(id);
  }
  return info;
}

void Pool::Unload(ProgramId program) {
  {
    std::lock_guard lock(shared_->mutex);
    shared_->programs.erase(program);
    shared_->failures.erase(program);
  }
  for (auto& link : links_) {
    link->Post([program](Link& l) {
          l.Unload(program);
          return true;
        })
        .get();
  }
}

std::vector<StatusOr<Applied>> Pool::Apply(const std::vector<ApplyRequest>& requests) {
  std::vector<StatusOr<Applied>> results(requests.size(),
                                         MakeError(ErrorCode::kInternal, "not run"));
  std::atomic<size_t> next{0};
  std::vector<std::future<bool>> done;
  for (size_t i = 0; i < std::min(links_.size(), requests.size()); ++i) {
    done.push_back(links_[i]->Post([&](Link& link) {
      for (size_t j; (j = next++) < requests.size();) results[j] = link.Apply(requests[j]);
      return true;
    }));
  }
  for (auto& future : done) future.get();
  return results;
}

StatusOr<Applied> Pool::Apply(const ApplyRequest& request) {
  return links_[0]->Post([&](Link& link) { return link.Apply(request); }).get();
}

Status Pool::Hold(const StateName& state) {
  const auto held = links_[0]->Ask(
      {state.program}, links_[0]->Calling(), "hold",
      [&](Worker::Client& worker) {
        auto request = worker.holdRequest();
        ToWire(state, request.initState());
        return request;
      },
      [](const auto&) { return true; });
  return held ? Status() : tl::unexpected(held.error());
}

StatusOr<std::vector<StockPass>> Pool::StockPasses(ProgramId program) {
  return links_[0]->Ask(
      {program}, links_[0]->Calling(), "stock pipeline",
      [&](Worker::Client& worker) {
        auto request = worker.stockPassesRequest();
        request.setProgram(program);
        return request;
      },
      [](const auto& response) {
        std::vector<StockPass> passes;
        for (auto pass : response.getPasses()) passes.push_back(FromWire(pass));
        return passes;
      });
}

StatusOr<Metrics> Pool::Measure(const StateName& state) {
  return links_[0]->Ask(
      {state.program}, links_[0]->Calling(), "metrics",
      [&](Worker::Client& worker) {
        auto request = worker.metricsRequest();
        ToWire(state, request.initState());
        return request;
      },
      [](const auto& response) { return FromWire(response.getMetrics()); });
}

StatusOr<ProgramGraph> Pool::Describe(const StateName& state) {
  return links_[0]->Ask(
      {state.program}, links_[0]->Calling(), "describe",
      [&](Worker::Client& worker) {
        auto request = worker.describeRequest();
        ToWire(state, request.initState());
        return request;
      },
      [](const auto& response) { return FromWire(response.getGraph()); });
}

StatusOr<Exported> Pool::Export(const StateName& state, ExportFormat format) {
  return links_[0]->Ask(
      {state.program}, links_[0]->Calling(), "export",
      [&](Worker::Client& worker) {
        auto request = worker.exportRequest();
        ToWire(state, request.initState());
        request.setFormat(format == ExportFormat::kText ? wire::ExportFormat::TEXT
                                                        : wire::ExportFormat::PROTO);
        return request;
      },
      [](const auto& response) {
        const auto data = response.getData();
        return Exported{{reinterpret_cast<const char*>(data.begin()), data.size()},
                        FromWire(response.getState())};
      });
}

StatusOr<ComparisonReport> Pool::Compare(const StateName& a, const StateName& b,
                                         const CompareOptions& options) {
  // Compiling cannot be stopped from inside, so the budget is enforced with some grace.
  const Patience patience{options.budget_seconds * 1.5 + 30, false, nullptr};
  return links_[0]->Ask(
      {a.program, b.program}, patience, "compare",
      [&](Worker::Client& worker) {
        auto request = worker.compareRequest();
        ToWire(a, request.initA());
        ToWire(b, request.initB());
        ToWire(options, request.initOptions());
        return request;
      },
      [](const auto& response) { return FromWire(response.getReport()); });
}

Timing Pool::timing() const {
  Timing sum;
  for (const auto& link : links_) sum += link->timing();
  return sum;
}

std::vector<Death> Pool::deaths() const {
  std::lock_guard lock(shared_->mutex);
  return shared_->deaths;
}

std::vector<int> Pool::pids() const {
  std::vector<int> pids;
  for (const auto& link : links_) {
    if (const int pid = link->pid(); pid > 0) pids.push_back(pid);
  }
  return pids;
}

}  // namespace hone
