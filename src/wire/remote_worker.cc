#include "wire/remote_worker.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "wire/codec.h"
#include "wire/give_kernels.h"
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

// Instructions of the programs that a worker has loaded, beyond which it lets the least recently
// used go: about 200 MB.
constexpr int64_t kMostLoadedInstructions = 150'000;
// Most passes are done by then.
constexpr double kSpinSeconds = 3e-3;
// The operating system is asked for the resident size once in so many calls.
constexpr uint64_t kCallsBetweenLooks = 32;
// How often a call may lose its worker to somebody outside: machines of a cluster come and go.
constexpr int kMostKills = 5;
// That an interrupted comparison has for the run in hand, before it answers with what it has.
constexpr double kAnswerSeconds = 5;

// The error that the worker answered with, if any.
template <class Response>
Status Outcome(const StatusOr<Response>& response) {
  if (!response) return tl::unexpected(response.error());
  Error error;
  if (FromWire(response->getFailure(), error)) return tl::unexpected(error);
  return {};
}

}  // namespace

RemoteWorker::RemoteWorker(std::shared_ptr<PoolMemory> memory) : memory_(std::move(memory)) {
  const PoolOptions& options = memory_->options;
  LinkOptions link;
  link.worker_path = options.worker_path;
  link.arguments = {"--cache-bytes", std::to_string(options.cache_bytes), "--headroom-bytes",
                    std::to_string(options.headroom_bytes), "--kernel-bytes",
                    std::to_string(options.kernel_bytes)};
  if (options.memory_limit_bytes != 0) {
    link.arguments.push_back("--memory-bytes");
    link.arguments.push_back(std::to_string(options.memory_limit_bytes));
  }
  link.arguments.push_back("--sandbox");
  link.arguments.push_back(options.sandbox ? "on" : "off");
  for (const std::string& file : options.rule_files) {
    link.arguments.push_back("--rules");
    link.arguments.push_back(file);
  }
  if (options.target != "cpu") {
    link.arguments.insert(link.arguments.end(), {"--target", options.target});
  }
  if (options.stand_in_constants) {
    link.arguments.push_back("--stand-in-constants");
    link.arguments.push_back("1");
  }
  link.memory_limit_bytes = options.memory_limit_bytes;
  link.headroom_bytes = options.headroom_bytes;
  const bool to_spare = static_cast<int>(std::thread::hardware_concurrency()) > options.workers;
  link.spin_seconds = to_spare ? kSpinSeconds : 0;
  link_ = std::make_unique<WorkerLink>(std::move(link));
}
RemoteWorker::~RemoteWorker() = default;

// A call that is made again when the worker was killed from outside.
template <class C, class Make>
StatusOr<wire::Reply<C>> RemoteWorker::CallOn(const std::vector<ProgramId>& programs,
                                              const Patience& patience, const std::string& doing,
                                              Make make) {
  StatusOr<wire::Reply<C>> response = MakeError(ErrorCode::kInternal, "not called");
  for (int attempt = 0; attempt <= kMostKills; ++attempt) {
    if (Status ready = Prepare(programs); !ready) {
      response = tl::unexpected(ready.error());
      // Only from outside: of its own it dies of a program that is bad input.
      if (ready.error().code == ErrorCode::kWorkerDied) continue;
      break;
    }
    response = link_->Call<C>(patience, make);
    Note();
    if (response) {
      const std::vector<std::string> lacking = wire::KernelsLacking(response->getFailure());
      if (lacking.empty() || !memory_->options.kernels) break;
      // What it was given, it does not lack the next time.
      const Status given = GiveKernels(lacking);
      if (given) continue;
      response = tl::unexpected(given.error());
      break;
    }
    Mourn(response.error(), doing);
    if (!link_->killed_from_outside()) break;
  }
  return response;
}

// The call that `make` makes, on a worker that has `programs`, and what `read` reads from its answer.
template <class C, class Make, class Read>
auto RemoteWorker::Ask(const std::vector<ProgramId>& programs, const Patience& patience,
                       const std::string& doing, Make make, Read read) {
  auto response = CallOn<C>(programs, patience, doing, make);
  using Result = StatusOr<decltype(read(*response))>;
  if (Status answer = Outcome(response); !answer) return Result(tl::unexpected(answer.error()));
  return Result(read(*response));
}

Patience RemoteWorker::Calling() const {
  return {memory_->options.call_deadline_seconds, false, nullptr};
}

// A running worker that has the programs loaded.
Status RemoteWorker::Prepare(const std::vector<ProgramId>& programs) {
  StatusOr<bool> fresh = link_->Connect();
  if (!fresh) return tl::unexpected(fresh.error());
  if (*fresh) loaded_.clear();
  pid_ = link_->pid();
  ++calls_;
  for (ProgramId program : programs) {
    if (const auto found = loaded_.find(program); found != loaded_.end()) {
      found->second.last_used = calls_;
    }
  }
  for (ProgramId program : programs) {
    if (loaded_.count(program) != 0) continue;
    if (StatusOr<ProgramInfo> info = LoadHere(program); !info) return tl::unexpected(info.error());
  }
  return {};
}

void RemoteWorker::Note() {
  bare_ = link_->bare_bytes();
  {
    std::lock_guard lock(mutex_);
    timing_ = link_->timing();
  }
  if (calls_ % kCallsBetweenLooks == 0) KeepWithinMemory();
}

// The worker trims itself. What it cannot give back, by fragmentation or in XLA's own caches, a new
// worker does not have.
void RemoteWorker::KeepWithinMemory() {
  const size_t headroom = memory_->options.headroom_bytes;
  if (headroom == 0 || link_->ResidentBytes() < bare_ + headroom / 10 * 9) return;
  End();
  ++replaced_;
}

void RemoteWorker::End() {
  link_->Disconnect();
  loaded_.clear();
  pid_ = -1;
}

void RemoteWorker::Mourn(const Error& error, const std::string& doing) {
  loaded_.clear();
  pid_ = -1;
  memory_->Bury(error, doing);
}

Timing RemoteWorker::timing() const {
  std::lock_guard lock(mutex_);
  return timing_;
}

StatusOr<WorkerFacts> RemoteWorker::Hello() {
  auto response =
      CallOn<wire::HelloCall>({}, Calling(), "hello", [](Worker::HelloParams::Builder) {});
  if (Status answer = Outcome(response); !answer) return tl::unexpected(answer.error());
  WorkerFacts facts;
  facts.version = response->getVersion().cStr();
  facts.target = response->getTarget().cStr();
  for (auto pass : response->getPasses()) facts.passes.push_back(FromWire(pass));
  for (auto excluded : response->getExcluded()) {
    facts.excluded.push_back({excluded.getClassName().cStr(), excluded.getReason().cStr()});
  }
  for (auto opcode : response->getOpcodes()) facts.opcodes.push_back(opcode.cStr());
  for (auto type : response->getTypes()) facts.types.push_back(type.cStr());
  return facts;
}

// What this very call needs stays, however much it is.
void RemoteWorker::MakeRoomFor(ProgramId program) {
  int64_t sum = 0;
  for (const auto& [id, loaded] : loaded_) sum += loaded.instructions;
  while (sum > kMostLoadedInstructions && loaded_.size() > 1) {
    const auto oldest =
        std::min_element(loaded_.begin(), loaded_.end(), [program](const auto& a, const auto& b) {
          if ((a.first == program) != (b.first == program)) return b.first == program;
          return a.second.last_used < b.second.last_used;
        });
    if (oldest->second.last_used == calls_) return;
    sum -= oldest->second.instructions;
    Unload(ProgramId{oldest->first});
  }
}

StatusOr<ProgramInfo> RemoteWorker::LoadHere(ProgramId program) {
  const std::shared_ptr<const std::string> data = memory_->Data(program);
  if (data == nullptr) {
    return MakeError(ErrorCode::kInvalidInput,
                     "no program " + std::to_string(program) + " is loaded");
  }
  auto response = link_->Call<wire::LoadCall>(Calling(), [&](Worker::LoadParams::Builder request) {
    request.setProgram(program);
    request.setData(kj::arrayPtr(reinterpret_cast<const kj::byte*>(data->data()), data->size()));
  });
  if (!response) {
    Mourn(response.error(), "load");
    if (link_->killed_from_outside()) return tl::unexpected(response.error());
    // What breaks XLA's reader is bad input.
    return MakeError(ErrorCode::kInvalidInput,
                     "XLA broke down reading it: " + response.error().message);
  }
  if (Status answer = Outcome(response); !answer) return tl::unexpected(answer.error());
  ProgramInfo info = FromWire(response->getInfo());
  loaded_[program] = {info.metrics.op_count, calls_, 0};
  MakeRoomFor(program);
  return info;
}

StatusOr<ProgramInfo> RemoteWorker::Load(ProgramId program) {
  StatusOr<ProgramInfo> info = MakeError(ErrorCode::kInternal, "not loaded");
  for (int attempt = 0; attempt <= kMostKills; ++attempt) {
    if (Status ready = Prepare({}); !ready) return tl::unexpected(ready.error());
    info = LoadHere(program);
    if (info) Note();
    if (info || info.error().code != ErrorCode::kWorkerDied) break;
  }
  return info;
}

void RemoteWorker::Unload(ProgramId program) {
  if (loaded_.erase(program) == 0 || link_->pid() < 0) return;
  auto response = link_->Call<wire::UnloadCall>(Calling(), [&](Worker::UnloadParams::Builder request) {
    request.setProgram(program);
  });
  if (!response) Mourn(response.error(), "unload");
}

StatusOr<Applied> RemoteWorker::ApplyOnce(const ApplyRequest& request) {
  const ProgramId program = request.from.program;
  if (Status ready = Prepare({program}); !ready) return tl::unexpected(ready.error());
  size_t& told = loaded_[program].failures_told;
  const std::vector<KnownFailure> avoid = memory_->FailuresOf(program, told);
  told += avoid.size();
  link_->heartbeat()->step = Heartbeat::kReplaying;
  const Patience patience{memory_->options.pass_deadline_seconds, true, memory_->options.stop, 0,
                          request.until};
  auto response = link_->Call<wire::ApplyCall>(patience, [&](Worker::ApplyParams::Builder wire_request) {
    ToWire(request.from, wire_request.initFrom());
    auto passes = wire_request.initPasses(static_cast<unsigned>(request.passes.size()));
    for (unsigned i = 0; i < passes.size(); ++i) passes.set(i, request.passes[i]);
    auto known = wire_request.initAvoid(static_cast<unsigned>(avoid.size()));
    for (unsigned i = 0; i < known.size(); ++i) ToWire(avoid[i], known[i]);
    ToWire(request.options, wire_request.initOptions());
    auto left = wire_request.initLeft(static_cast<unsigned>(request.left.size()));
    for (unsigned i = 0; i < left.size(); ++i) {
      left[i].setProgram(request.left[i].program);
      ToWire(request.left[i].state, left[i].initState());
    }
    auto decisions = wire_request.initDecisions(static_cast<unsigned>(request.decisions.size()));
    for (unsigned i = 0; i < decisions.size(); ++i) {
      if (request.decisions[i] != nullptr) ToWire(*request.decisions[i], decisions[i]);
    }
  });
  if (Status answer = Outcome(response); !answer) {
    Note();
    return tl::unexpected(answer.error());
  }
  Applied applied;
  applied.start = FromWire(response->getStart());
  for (auto step : response->getSteps()) applied.steps.push_back(FromWire(step));
  Note();
  return applied;
}

// Passes that kill are found, remembered and stepped over.
StatusOr<Applied> RemoteWorker::Apply(const ApplyRequest& request) {
  using Seconds = std::chrono::duration<double>;
  if (request.until &&
      Seconds(std::chrono::steady_clock::now() - *request.until).count() > wire::kStopPatience) {
    return MakeError(ErrorCode::kInterrupted, "not begun: the budget is over");
  }
  // Every pass may kill once; more deaths mean that they could not be pinned on a state.
  size_t deaths_left = request.passes.size() + 8;
  int kills_left = kMostKills;  // of which no pass is guilty
  // On the way to the state that it was to start from, or between two passes.
  int rebuilds_left = 2;
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
    const uint64_t decisions =
        in_a_pass && !request.decisions.empty() ? HashOf(request.decisions[step]) : 0;
    Mourn(error, in_a_pass ? "pass " + memory_->facts.passes[pass].name : "rebuilding a state");
    if (link_->killed_from_outside()) {
      if (kills_left-- == 0) return applied;
      continue;
    }
    if (!in_a_pass) {
      if (--rebuilds_left == 0) return applied;
      continue;
    }
    const auto& links = request.from.links;
    if (request.options.episode && request.passes.size() == 1 && !links.empty()) {
      const Fingerprint state = links.back().state;  // nothing is to be done again
      memory_->Blame(request.from.program, {state, pass, error.message, decisions});
      Step failed;
      failed.pass = pass;
      failed.state = state;
      failed.failure = error.message;
      return Applied{state, {std::move(failed)}};
    }
    // Which state did it die on? The passes before it tell, on a new worker.
    ApplyRequest before = request;
    before.passes.resize(step);
    if (!before.decisions.empty()) before.decisions.resize(step);
    before.left.clear();
    const StatusOr<Applied> prefix = Apply(before);
    if (!prefix) return prefix;
    const Fingerprint state = prefix->steps.empty() ? prefix->start : prefix->steps.back().state;
    memory_->Blame(request.from.program, {state, pass, error.message, decisions});
  }
}

Status RemoteWorker::Hold(const StateName& state) {
  const auto held = Ask<wire::HoldCall>(
      {state.program}, Calling(), "hold",
      [&](Worker::HoldParams::Builder request) { ToWire(state, request.initState()); },
      [](const auto&) { return true; });
  return held ? Status() : tl::unexpected(held.error());
}

StatusOr<std::vector<StockPass>> RemoteWorker::StockPasses(ProgramId program) {
  return Ask<wire::StockPassesCall>(
      {program}, Calling(), "stock pipeline",
      [&](Worker::StockPassesParams::Builder request) {
        request.setProgram(program);
      },
      [](const auto& response) {
        std::vector<StockPass> passes;
        for (auto pass : response.getPasses()) passes.push_back(FromWire(pass));
        return passes;
      });
}

StatusOr<Metrics> RemoteWorker::Measure(const StateName& state) {
  return Ask<wire::MetricsCall>(
      {state.program}, Calling(), "metrics",
      [&](Worker::MetricsParams::Builder request) { ToWire(state, request.initState()); },
      [](const auto& response) { return FromWire(response.getMetrics()); });
}

StatusOr<ProgramGraph> RemoteWorker::Describe(const StateName& state) {
  return Ask<wire::DescribeCall>(
      {state.program}, Calling(), "describe",
      [&](Worker::DescribeParams::Builder request) { ToWire(state, request.initState()); },
      [](const auto& response) { return FromWire(response.getGraph()); });
}

StatusOr<ProgramArrays> RemoteWorker::Arrays(const StateName& state) {
  return Ask<wire::ArraysCall>(
      {state.program}, Calling(), "arrays",
      [&](Worker::ArraysParams::Builder request) { ToWire(state, request.initState()); },
      [](const auto& response) { return FromWire(response.getArrays()); });
}

StatusOr<Exported> RemoteWorker::Export(const StateName& state, ExportFormat format) {
  return Ask<wire::ExportCall>(
      {state.program}, Calling(), "export",
      [&](Worker::ExportParams::Builder request) {
        ToWire(state, request.initState());
        request.setFormat(format == ExportFormat::kText ? wire::ExportFormat::TEXT
                                                        : wire::ExportFormat::PROTO);
      },
      [](const auto& response) {
        const auto data = response.getData();
        return Exported{{reinterpret_cast<const char*>(data.begin()), data.size()},
                        FromWire(response.getState())};
      });
}

StatusOr<ComparisonReport> RemoteWorker::Compare(const StateName& a, const CompilePlan& plan_a,
                                                 const StateName& b, const CompilePlan& plan_b,
                                                 const CompareOptions& options) {
  const Patience patience{options.budget_seconds * 1.5 + options.grace_seconds, false, options.stop,
                          kAnswerSeconds};
  return Ask<wire::CompareCall>(
      {a.program, b.program}, patience, "compare",
      [&](Worker::CompareParams::Builder request) {
        ToWire(a, request.initA());
        ToWire(b, request.initB());
        ToWire(plan_a, request.initPlanA());
        ToWire(plan_b, request.initPlanB());
        ToWire(options, request.initOptions());
      },
      [](const auto& response) { return FromWire(response.getReport()); });
}

StatusOr<Evaluation> RemoteWorker::Evaluate(const StateName& state,
                                            const EvaluationOptions& options) {
  const Patience patience{options.deadline_seconds, false, nullptr};
  return Ask<wire::EvaluateCall>(
      {state.program}, patience, "evaluate",
      [&](Worker::EvaluateParams::Builder request) {
        ToWire(state, request.initState());
        ToWire(options, request.initOptions());
      },
      [](const auto& response) { return FromWire(response.getEvaluation()); });
}

StatusOr<RunTimeReport> RemoteWorker::RunTime(const StateName& state,
                                              const RunTimeOptions& options) {
  const Patience patience{options.budget_seconds * 1.5 + 30, false, nullptr};
  return Ask<wire::RunTimeCall>(
      {state.program}, patience, "run time",
      [&](Worker::RunTimeParams::Builder request) {
        ToWire(state, request.initState());
        ToWire(options, request.initOptions());
      },
      [](const auto& response) {
        RunTimeReport report;
        report.compile_seconds = response.getCompileSeconds();
        report.compiled_instructions = response.getCompiledInstructions();
        for (double seconds : response.getSeconds()) report.seconds.push_back(seconds);
        return report;
      });
}

StatusOr<Rewrites> RemoteWorker::ListRewrites(const StateName& state, PassId pass,
                                              const RewritesOptions& options) {
  const Patience patience{memory_->options.pass_deadline_seconds, true, memory_->options.stop};
  auto rewrites = Ask<wire::RewritesCall>(
      {state.program}, patience, "rewrites of pass " + memory_->facts.passes[pass].name,
      [&](Worker::RewritesParams::Builder request) {
        ToWire(state, request.initState());
        request.setPass(pass);
        ToWire(options, request.initOptions());
      },
      [](const auto& response) { return FromWire(response.getRewrites()); });
  // Some passes cannot bear to be refused.
  if (!rewrites && !options.whole &&
      (rewrites.error().code == ErrorCode::kWorkerDied ||
       rewrites.error().code == ErrorCode::kDeadline)) {
    RewritesOptions whole = options;
    whole.whole = true;
    return ListRewrites(state, pass, whole);
  }
  return rewrites;
}

namespace {

template <class Response>
Question QuestionOf(const Response& response) {
  return {response.getDone(), FromWire(response.getSite())};
}

}  // namespace

StatusOr<Question> RemoteWorker::Converse(const StateName& state, PassId pass,
                                          const RewritesOptions& options) {
  return Ask<wire::ConverseCall>(
      {state.program}, Calling(), "pass " + memory_->facts.passes[pass].name,
      [&](Worker::ConverseParams::Builder request) {
        ToWire(state, request.initState());
        request.setPass(pass);
        ToWire(options, request.initOptions());
      },
      [](const auto& response) { return QuestionOf(response); });
}

StatusOr<Question> RemoteWorker::Answer(bool accept) {
  return Ask<wire::AnswerCall>(
      {}, Calling(), "a rewrite",
      [&](Worker::AnswerParams::Builder request) { request.setAccept(accept); },
      [](const auto& response) { return QuestionOf(response); });
}

StatusOr<Compiled> RemoteWorker::Compile(const StateName& state, const CompilePlan& plan,
                                         const CompileOptions& options) {
  const Patience patience{options.deadline_seconds, false, nullptr};
  return Ask<wire::CompileCall>(
      {state.program}, patience, "compile",
      [&](Worker::CompileParams::Builder request) {
        ToWire(state, request.initState());
        ToWire(plan, request.initPlan());
        ToWire(options, request.initOptions());
      },
      [](const auto& response) { return FromWire(response.getCompiled()); });
}

StatusOr<std::vector<KernelTime>> RemoteWorker::Profile(const StateName& state,
                                                        const CompilePlan& plan,
                                                        double seconds, double most_seconds,
                                                        uint64_t inputs_seed) {
  const Patience patience{most_seconds, false, nullptr};
  return Ask<wire::ProfileCall>(
      {state.program}, patience, "profile",
      [&](Worker::ProfileParams::Builder request) {
        ToWire(state, request.initState());
        ToWire(plan, request.initPlan());
        request.setSeconds(seconds);
        request.setSeed(inputs_seed);
      },
      [](const auto& response) {
        std::vector<KernelTime> kernels;
        for (auto kernel : response.getKernels()) {
          kernels.push_back({kernel.getName().cStr(), kernel.getOpcode().cStr(),
                             kernel.getSeconds(), kernel.getCalls()});
        }
        return kernels;
      });
}

StatusOr<RaceReport> RemoteWorker::Race(const StateName& a, const CompilePlan& plan_a,
                                        const StateName& b, const CompilePlan& plan_b,
                                        const RaceOptions& options) {
  // Between two ticks: a compilation or a sample. The worker knows when b's turn has come, and says
  // so. How many samples there are is the budget's.
  const Patience patience{options.compile_seconds, true, nullptr};
  return Ask<wire::RaceCall>(
      {a.program, b.program}, patience, "race",
      [&](Worker::RaceParams::Builder request) {
        ToWire(a, request.initA());
        ToWire(b, request.initB());
        ToWire(plan_a, request.initPlanA());
        ToWire(plan_b, request.initPlanB());
        ToWire(options, request.initOptions());
      },
      [](const auto& response) { return FromWire(response.getReport()); });
}

StatusOr<std::vector<std::string>> RemoteWorker::Extract(const StateName& state, ExtractKind what,
                                                         uint64_t seed, uint32_t most) {
  return Ask<wire::ExtractCall>(
      {state.program}, Calling(), "extract",
      [&](Worker::ExtractParams::Builder request) {
        ToWire(state, request.initState());
        request.setWhat(static_cast<uint8_t>(what));
        request.setSeed(seed);
        request.setMost(most);
      },
      [](const auto& response) {
        std::vector<std::string> modules;
        for (auto module : response.getModules()) modules.push_back(module.cStr());
        return modules;
      });
}

StatusOr<std::vector<ProgramTask>> RemoteWorker::Cut(const StateName& state, uint32_t most) {
  return Ask<wire::ExtractCall>(
      {state.program}, Calling(), "cut",
      [&](Worker::ExtractParams::Builder request) {
        ToWire(state, request.initState());
        request.setWhat(static_cast<uint8_t>(ExtractKind::kTasks));
        request.setMost(most);
      },
      [](const auto& response) { return wire::TasksFromWire(response); });
}

StatusOr<RawLoopResult> RemoteWorker::RawLoop(ProgramId program, const RawLoopOptions& options) {
  const Patience patience{memory_->options.pass_deadline_seconds, true, memory_->options.stop};
  return Ask<wire::RawLoopCall>(
      {program}, patience, "raw loop",
      [&](Worker::RawLoopParams::Builder request) {
        request.setProgram(program);
        auto actions = request.initActions(static_cast<unsigned>(options.actions.size()));
        for (unsigned i = 0; i < actions.size(); ++i) actions.set(i, options.actions[i]);
        request.setSeed(options.seed);
        request.setFirstEpisode(options.first_episode);
        request.setLength(static_cast<uint32_t>(options.length));
        request.setSeconds(options.seconds);
      },
      [](const auto& response) {
        return RawLoopResult{response.getSteps(), response.getEpisodes(), response.getFailures(),
                             response.getSeconds()};
      });
}

}  // namespace hone
