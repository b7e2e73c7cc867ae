#include "wire/remote_worker.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "wire/codec.h"
#include "wire/remote_worker_ask.h"
#include "wire/worker_link.h"

namespace hone {

using wire::FromWire;
using wire::Heartbeat;
using wire::LinkOptions;
using wire::Patience;
using wire::ToWire;
using wire::WorkerLink;

namespace {

// Instructions of the programs that a worker has loaded, beyond which it lets the least recently
// used go: about 200 MB.
constexpr int64_t kMostLoadedInstructions = 150'000;
// Most passes are done by then.
constexpr std::chrono::milliseconds kAwake{3};
// The operating system is asked for the resident size once in so many calls.
constexpr uint64_t kCallsBetweenLooks = 32;

}  // namespace

RemoteWorker::RemoteWorker(std::shared_ptr<PoolMemory> memory) : memory_(std::move(memory)) {
  const PoolOptions& options = memory_->options;
  LinkOptions link;
  link.worker_path = options.worker_path;
  link.arguments = {"--cache-bytes",    std::to_string(options.cache_bytes),
                    "--headroom-bytes", std::to_string(options.headroom_bytes),
                    "--kernel-bytes",   std::to_string(options.kernel_bytes)};
  if (options.memory_limit_bytes != 0) {
    link.arguments.push_back("--memory-bytes");
    link.arguments.push_back(std::to_string(options.memory_limit_bytes));
  }
  if (options.SharesKernels()) {
    link.arguments.insert(link.arguments.end(), {"--kernel-folder", options.kernel_folder});
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
  if (to_spare) link.awake = kAwake;
  link_ = std::make_unique<WorkerLink>(std::move(link));
}
RemoteWorker::~RemoteWorker() = default;

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
    if (loaded_.count(program) == 0) {
      const StatusOr<ProgramInfo> info = LoadHere(program);
      if (!info) return tl::unexpected(info.error());
    }
    if (const Status given = GiveInputsHere(program); !given) return given;
  }
  return {};
}

// Those that somebody gave, where it has not got them.
Status RemoteWorker::GiveInputsHere(ProgramId program) {
  const auto inputs = memory_->InputsOf(program);
  if (inputs == loaded_[program].inputs) return {};
  const auto response = link_->Call<wire::GiveInputsCall>(
      Calling(), [&](auto params) { ToWire(GiveInputsRequest{program, *inputs}, params); });
  if (!response) {
    Mourn(response.error(), "give inputs");
    return tl::unexpected(response.error());
  }
  if (Status given = OutcomeOf(response); !given) return given;
  loaded_[program].inputs = inputs;
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

StatusOr<WorkerFacts> RemoteWorker::Hello() { return Ask(HelloRequest{}); }

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
  auto response = link_->Call<wire::LoadCall>(
      Calling(), [&](auto params) { ToWire(LoadRequest{program, *data}, params); });
  if (!response) {
    Mourn(response.error(), "load");
    if (link_->killed_from_outside()) return tl::unexpected(response.error());
    // What breaks XLA's reader is bad input.
    return MakeError(ErrorCode::kInvalidInput,
                     "XLA broke down reading it: " + response.error().message);
  }
  if (Status answer = OutcomeOf(response); !answer) return tl::unexpected(answer.error());
  ProgramInfo info;
  FromWire(*response, info);
  loaded_[program] = {info.metrics.op_count, calls_, 0, nullptr};
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
  auto response = link_->Call<wire::UnloadCall>(
      Calling(), [&](auto params) { ToWire(UnloadRequest{program}, params); });
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
  auto response = link_->Call<wire::ApplyCall>(patience, [&](auto params) {
    ToWire(request, params);
    auto known = params.initAvoid(static_cast<unsigned>(avoid.size()));
    for (unsigned i = 0; i < known.size(); ++i) ToWire(avoid[i], known[i]);
  });
  if (Status answer = OutcomeOf(response); !answer) {
    Note();
    return tl::unexpected(answer.error());
  }
  Applied applied;
  FromWire(*response, applied);
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

}  // namespace hone
