#include "tune/pool_evaluator.h"

#include <algorithm>
#include <utility>

#include "core/input_seed.h"
#include "tune/find_implementations.h"
#include "tune/optimize.h"
#include "tune/recipe.h"

namespace hone::tune {
namespace {

// A second, of some processor.
constexpr double kGuessedFlops = 5e10;
constexpr double kGuessedBytes = 1e10;
constexpr int kMostDeaths = 2;  // of a worker in a row, and of workers of one call

}  // namespace

StatusOr<StateName> StateAfter(const Pool& pool, ProgramId program,
                               const std::vector<PlannedPass>& passes) {
  StateName state{program, {}};
  for (const PlannedPass& planned : passes) {
    const StatusOr<PassId> pass = FindPass(pool.passes(), planned.pass);
    if (!pass) return tl::unexpected(pass.error());
    DecisionsPtr decisions;
    if (!planned.decisions.AcceptAll()) {
      decisions = std::make_shared<const Decisions>(planned.decisions);
    }
    state.links.push_back({*pass, {}, std::move(decisions)});
  }
  return state;
}

StatusOr<std::unique_ptr<PoolEvaluator>> PoolEvaluator::Start(StartPool start_pool,
                                                              std::string data, uint64_t seed,
                                                              const std::atomic<bool>* interrupted,
                                                              bool apart) {
  std::unique_ptr<PoolEvaluator> evaluator(
      new PoolEvaluator(std::move(start_pool), std::move(data), seed, interrupted, apart));
  if (Status started = evaluator->Restart(); !started) return tl::unexpected(started.error());
  return evaluator;
}

Status PoolEvaluator::Restart() {
  // First: two workers would disturb each other's races. Where no other can be started, the calls
  // to the old pool say why.
  if (pool_ != nullptr) pool_->EndProcesses();
  StatusOr<std::unique_ptr<Pool>> pool = start_pool_();
  if (!pool) return tl::unexpected(pool.error());
  pool_ = *std::move(pool);
  StatusOr<ProgramInfo> program = pool_->Load(data_);
  if (!program) return tl::unexpected(program.error());
  program_ = *std::move(program);
  const std::lock_guard lock(mutex_);
  usable_ = workers();
  deaths_.assign(static_cast<size_t>(usable_), 0);
  free_.clear();
  for (int worker = 0; worker < usable_; ++worker) free_.push_back(worker);
  return {};
}

int PoolEvaluator::Take() {
  std::unique_lock lock(mutex_);
  const int ticket = next_ticket_++;
  const bool owner = std::this_thread::get_id() == owner_;
  waiting_.insert(owner ? waiting_.begin() : waiting_.end(), ticket);
  freed_.wait(lock, [&] { return !free_.empty() && waiting_.front() == ticket; });
  waiting_.pop_front();
  const int worker = free_.front();
  free_.pop_front();
  freed_.notify_all();
  return worker;
}

// A worker that keeps dying, for its machine is gone or broken, is retired while others
// remain.
void PoolEvaluator::GiveBack(int worker, bool died) {
  const std::lock_guard lock(mutex_);
  int& deaths = deaths_[static_cast<size_t>(worker)];
  deaths = died ? deaths + 1 : 0;
  if (deaths >= kMostDeaths && usable_ > 1) {
    --usable_;
  } else if (died) {
    free_.push_back(worker);
  } else {
    free_.push_front(worker);  // it has the program and the stock executable
  }
  freed_.notify_all();
}

template <class Job>
auto PoolEvaluator::OnFree(Job job) -> decltype(job(std::declval<RemoteWorker&>())) {
  for (int attempt = 1;; ++attempt) {
    const int worker = Take();
    auto result = pool_->On(worker, job);
    const bool died = !result && result.error().code == ErrorCode::kWorkerDied;
    GiveBack(worker, died);
    if (!died || workers() == 1 || attempt == kMostDeaths) return result;
  }
}

double PoolEvaluator::Seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

StatusOr<std::vector<Alternative>> PoolEvaluator::Alternatives(const AlternativesWanted& wanted) {
  std::vector<Alternative> alternatives;
  if (wanted.implementations) {
    alternatives =
        FindImplementations(*pool_, program_, wanted.implementation_seconds, interrupted_);
    found_.emplace();
    for (const Alternative& one : alternatives) found_->insert(one.name);
  }
  if (wanted.orders) {
    for (Alternative& order : Orders(wanted.order_seconds)) {
      alternatives.push_back(std::move(order));
    }
  }
  return alternatives;
}

// What `hone optimize` finds in a short time: on a CPU for fewer instructions and for less memory
// traffic; for a GPU, where launches weigh more and nothing else tells what a rule is worth, by its
// model too.
std::vector<Alternative> PoolEvaluator::Orders(double seconds) {
  struct Search {
    Objective objective;
    const char* actions;
    double seconds;
  };
  const std::vector<Search> searches =
      pool_->is_gpu() ? std::vector<Search>{{Objective::kEstimate, "simplify+rules", seconds},
                                            {Objective::kOpCount, "simplify+rules", seconds},
                                            {Objective::kOpCount, "simplify", seconds / 2}}
                      : std::vector<Search>{{Objective::kBytes, "simplify", seconds / 2},
                                            {Objective::kOpCount, "simplify", seconds / 2}};
  std::vector<Alternative> orders;
  const double start = Seconds();
  for (const Search& search : searches) {
    // One that took as long as all may leaves the rest of the budget to what is measured.
    if (Seconds() - start >= seconds) break;
    OptimizeOptions options;
    options.objective = search.objective;
    options.actions = search.actions;
    options.budget_seconds = search.seconds;
    options.seed = seed_;
    options.verify = false;  // the whole plan will be
    options.interrupted = interrupted_;
    const StatusOr<OptimizeResult> result = Optimize(*pool_, program_, options);
    // A program that cannot be optimised has no other order.
    if (!result || result->passes.empty()) continue;
    std::string name = "order:" + std::string(ObjectiveName(search.objective));
    if (options.actions != OptimizeOptions().actions) name += ":" + options.actions;
    Alternative order{Stage::kOrder, std::move(name)};
    for (PassId pass : result->passes) order.passes.push_back({pool_->passes()[pass].name, {}});
    orders.push_back(std::move(order));
  }
  return orders;
}

StatusOr<Compiled> PoolEvaluator::Compile(const TunePlan& plan, const CompileOptions& options) {
  return CompileOf(program_.id, plan, options);
}

StatusOr<Compiled> PoolEvaluator::CompileOf(ProgramId program, const TunePlan& plan,
                                            const CompileOptions& options) {
  const StatusOr<StateName> state = StateAfter(*pool_, program, plan.passes);
  if (!state) return tl::unexpected(state.error());
  return OnFree(
      [&](RemoteWorker& remote) { return remote.Compile(*state, plan.compile, options); });
}

StatusOr<std::vector<KernelTime>> PoolEvaluator::Profile(const TunePlan& plan, double seconds,
                                                         double most_seconds) {
  const StatusOr<StateName> state = StateAfter(*pool_, program_.id, plan.passes);
  if (!state) return tl::unexpected(state.error());
  return pool_->Profile(*state, plan.compile, seconds, most_seconds, FirstInputsSeed(seed_));
}

StatusOr<ProgramGraph> PoolEvaluator::Describe(const std::string& text) {
  const ProgramId module = pool_->Add(text);
  StatusOr<ProgramGraph> graph = OnFree([&](RemoteWorker& remote) -> StatusOr<ProgramGraph> {
    const StatusOr<ProgramInfo> loaded = remote.Load(module);
    if (!loaded) return tl::unexpected(loaded.error());
    StatusOr<ProgramGraph> described = remote.Describe({module, {}});
    return described;
  });
  pool_->Unload(module);
  return graph;
}

StatusOr<RaceReport> PoolEvaluator::Race(const TunePlan& a, const TunePlan& b,
                                         const RaceOptions& options) {
  return RaceOf(program_.id, a, b, options);
}

StatusOr<RaceReport> PoolEvaluator::RaceOf(ProgramId program, const TunePlan& a, const TunePlan& b,
                                           const RaceOptions& options) {
  const StatusOr<StateName> state_a = StateAfter(*pool_, program, a.passes);
  if (!state_a) return tl::unexpected(state_a.error());
  const StatusOr<StateName> state_b = StateAfter(*pool_, program, b.passes);
  if (!state_b) return tl::unexpected(state_b.error());
  return OnFree([&](RemoteWorker& remote) {
    return remote.Race(*state_a, a.compile, *state_b, b.compile, options);
  });
}

StatusOr<ComparisonReport> PoolEvaluator::Compare(const TunePlan& a, const TunePlan& b,
                                                  const CompareOptions& options) {
  return CompareOf(program_.id, a, b, options);
}

StatusOr<ComparisonReport> PoolEvaluator::CompareOf(ProgramId program, const TunePlan& a,
                                                    const TunePlan& b,
                                                    const CompareOptions& options) {
  const StatusOr<StateName> state_a = StateAfter(*pool_, program, a.passes);
  if (!state_a) return tl::unexpected(state_a.error());
  const StatusOr<StateName> state_b = StateAfter(*pool_, program, b.passes);
  if (!state_b) return tl::unexpected(state_b.error());
  CompareOptions comparing = options;
  comparing.pipeline = true;
  return OnFree([&](RemoteWorker& remote) {
    return remote.Compare(*state_a, a.compile, *state_b, b.compile, comparing);
  });
}

// A part of the program; it is in the pool as long as this lives.
class PoolEvaluator::Task final : public Evaluator {
 public:
  Task(PoolEvaluator& whole, ProgramInfo program) : whole_(whole), program_(std::move(program)) {}
  ~Task() override { whole_.pool_->Unload(program_.id); }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  StatusOr<std::vector<Alternative>> Alternatives(const AlternativesWanted& wanted) override {
    if (!wanted.implementations) return std::vector<Alternative>();
    // What changes nothing in the whole changes nothing in a part.
    const auto& found = whole_.found_;
    return FindImplementations(*whole_.pool_, program_, wanted.implementation_seconds,
                               whole_.interrupted_, found ? &*found : nullptr);
  }
  StatusOr<Compiled> Compile(const TunePlan& plan, const CompileOptions& options) override {
    return whole_.CompileOf(program_.id, plan, options);
  }
  StatusOr<std::vector<KernelTime>> Profile(const TunePlan&, double, double) override {
    return MakeError(ErrorCode::kUnsupported, "of a task the whole's profile tells");
  }
  StatusOr<ProgramGraph> Describe(const std::string& text) override {
    return whole_.Describe(text);
  }
  StatusOr<RaceReport> Race(const TunePlan& a, const TunePlan& b,
                            const RaceOptions& options) override {
    return whole_.RaceOf(program_.id, a, b, options);
  }
  StatusOr<ComparisonReport> Compare(const TunePlan& a, const TunePlan& b,
                                     const CompareOptions& options) override {
    return whole_.CompareOf(program_.id, a, b, options);
  }
  Status Restart() override {
    return MakeError(ErrorCode::kUnsupported, "a task has the whole's processes");
  }
  StatusOr<double> RunSeconds() override { return whole_.RunSecondsOf(program_.id); }
  double Guess() const override {
    return program_.metrics.flops / kGuessedFlops + program_.metrics.bytes_accessed / kGuessedBytes;
  }
  std::string Name() const override { return program_.fingerprint.ToHex(); }
  double Seconds() const override { return whole_.Seconds(); }

 private:
  PoolEvaluator& whole_;
  const ProgramInfo program_;
};

StatusOr<double> PoolEvaluator::RunSecondsOf(ProgramId program) {
  RunTimeOptions options;
  options.runs = 3;
  options.least_seconds = 0;
  options.budget_seconds = 1;
  options.seed = FirstInputsSeed(seed_);
  const auto report =
      OnFree([&](RemoteWorker& remote) { return remote.RunTime({program, {}}, options); });
  if (!report) return tl::unexpected(report.error());
  return *std::min_element(report->seconds.begin(), report->seconds.end());
}

std::vector<ProgramTask> PoolEvaluator::Cut(size_t most) {
  const std::vector<PlannedPass> inlined = {{"call-inliner:every_call_site", {}}};
  const StatusOr<StateName> state = StateAfter(*pool_, program_.id, inlined);
  if (!state) return {};
  auto tasks =
      OnFree([&](RemoteWorker& remote) { return remote.Cut(*state, static_cast<uint32_t>(most)); });
  return tasks ? *std::move(tasks) : std::vector<ProgramTask>();
}

StatusOr<std::unique_ptr<Evaluator>> PoolEvaluator::OfTask(const ProgramTask& task) {
  StatusOr<ProgramInfo> program = pool_->Load(task.text);
  if (!program) return tl::unexpected(program.error());
  return std::make_unique<Task>(*this, *std::move(program));
}

}  // namespace hone::tune
