#include "env/session.h"

#include <algorithm>
#include <numeric>

#include "core/median.h"
#include "core/objective.h"
#include "env/pass_order.h"

namespace hone {

StatusOr<std::shared_ptr<Session>> Session::Open(std::vector<ProgramSource> programs,
                                                 const EnvOptions& options,
                                                 const PoolOptions& pool_options) {
  const auto bad = [](const std::string& message) {
    return MakeError(ErrorCode::kInvalidInput, message);
  };
  if (programs.empty()) return bad("an environment needs at least one program");
  if (options.traj_limit < 1) return bad("traj_limit must be at least 1");
  if (options.curriculum_episodes < 1) return bad("curriculum_episodes must be at least 1");
  std::shared_ptr<Session> session(new Session);
  session->options_ = options;
  StatusOr<std::unique_ptr<Pool>> pool = Pool::Start(pool_options);
  if (!pool) return tl::unexpected(pool.error());
  session->pool_ = *std::move(pool);
  if (session->pool_->passes().size() > PassSet().size()) {
    return MakeError(ErrorCode::kInternal, "the registry has more passes than a PassSet");
  }
  if (Status can = CanHave(*session->pool_, options.reward.objective); !can) {
    return tl::unexpected(can.error());
  }
  StatusOr<std::vector<PassId>> actions = ActionSet(session->pool_->passes(), options.actions);
  if (!actions) return tl::unexpected(actions.error());
  session->actions_ = *std::move(actions);
  session->by_size_.resize(programs.size());
  std::iota(session->by_size_.begin(), session->by_size_.end(), size_t{0});
  std::stable_sort(
      session->by_size_.begin(), session->by_size_.end(),
      [&](size_t a, size_t b) { return programs[a].data.size() < programs[b].data.size(); });
  for (ProgramSource& source : programs) {
    Slot& slot = session->slots_.emplace_back();
    slot.name = std::move(source.name);
    slot.id = session->pool_->Add(std::move(source.data));
  }
  return session;
}

ApplyOptions Session::apply_options() const {
  const RewardOptions& reward = options_.reward;
  ApplyOptions options;
  options.episode = true;
  options.opcodes = options_.observation.opcodes || options_.observation.opcode_counts;
  options.cost = options_.observation.cost || reward.shaping != 0;
  options.peak_memory = options_.observation.peak_memory;
  Require(reward.objective, options);
  return options;
}

const EnvProgram* Session::Loaded(size_t program) const {
  std::lock_guard lock(mutex_);
  return slots_[program].program.get();
}

std::optional<std::string> Session::WhyBad(size_t program) const {
  std::lock_guard lock(mutex_);
  return slots_[program].bad;
}

size_t Session::Scheduled(size_t index, size_t count, int64_t episode, Rng& rng) const {
  switch (options_.schedule) {
    case Schedule::kRoundRobin:
      return (index + static_cast<size_t>(episode) * count) % programs();
    case Schedule::kRandom:
      return rng.Below(programs());
    case Schedule::kCurriculum: {
      const auto open = static_cast<size_t>(episode / options_.curriculum_episodes) + 1;
      return by_size_[rng.Below(std::min(open, programs()))];
    }
  }
  return 0;
}

StatusOr<EnvProgram> Session::LoadNow(ProgramId id, RemoteWorker& remote) {
  EnvProgram program;
  StatusOr<ProgramInfo> info = remote.Load(id);
  if (!info) return tl::unexpected(info.error());
  program.info = *std::move(info);
  program.initial = program.info.metrics;
  const StateName start{id, {}};
  if (apply_options().peak_memory || apply_options().estimate) {
    if (const StatusOr<Metrics> measured = remote.Measure(start)) program.initial = *measured;
  }
  if (options_.reward.final_default != 0 || options_.reward.headroom != 0) {
    StatusOr<std::vector<StockPass>> stock = remote.StockPasses(id);
    if (!stock) return tl::unexpected(stock.error());
    ApplyRequest request;
    request.from = start;
    request.passes = InActions(*stock, pool_->passes(), actions_);
    request.options = apply_options();
    request.options.episode = false;
    const StatusOr<Applied> applied = remote.Apply(request);
    if (!applied) return tl::unexpected(applied.error());
    const Metrics& metrics =
        applied->steps.empty() ? program.initial : applied->steps.back().metrics;
    program.default_value = ObjectiveValue(options_.reward.objective, metrics);
  }
  if (options_.reward.final_run_time != 0) {
    const StatusOr<RunTimeReport> report = remote.RunTime(start, {});
    if (!report) return tl::unexpected(report.error());
    program.run_seconds = Median(report->seconds);
  }
  return program;
}

Status Session::Load(size_t index, RemoteWorker& remote) {
  Slot& slot = slots_[index];
  std::lock_guard loading(slot.loading);
  if (Loaded(index) != nullptr) return {};
  if (const auto why = WhyBad(index)) return MakeError(ErrorCode::kInvalidInput, *why);
  StatusOr<EnvProgram> program = LoadNow(slot.id, remote);
  std::lock_guard lock(mutex_);
  if (!program) {
    slot.bad = slot.name + ": " + program.error().message;
    return MakeError(program.error().code, *slot.bad);
  }
  slot.program = std::make_unique<EnvProgram>(*std::move(program));
  return {};
}

std::optional<Session::Known> Session::Find(size_t program, const Fingerprint& from, PassId pass,
                                            uint64_t decisions) const {
  if (!options_.use_table) return std::nullopt;
  std::lock_guard lock(mutex_);
  const TransitionTable& table = slots_[program].table;
  const TransitionTable::Transition* known = table.Find(from, pass, decisions);
  if (known == nullptr) return std::nullopt;
  Known found;
  found.step.pass = pass;
  found.step.state = known->to;
  found.step.changed = known->to != from;
  found.step.failure = known->failure;
  found.step.looked = true;
  if (found.step.changed) {
    const TransitionTable::State& state = *table.Find(known->to);
    found.step.metrics = state.metrics;
    found.step.opcodes = state.opcodes;
    found.run_seconds = state.run_seconds;
  }
  return found;
}

void Session::Record(size_t program, const Fingerprint& from, const Step& step,
                     uint64_t decisions) {
  std::lock_guard lock(mutex_);
  if (!step.failure.empty()) ++failures_[{step.pass, step.failure}];
  if (!options_.use_table) return;
  TransitionTable& table = slots_[program].table;
  const size_t before = table.size();
  table.Record(from, step, decisions);
  transitions_ += table.size() - before;
  if (transitions_ <= static_cast<size_t>(options_.most_transitions)) return;
  for (Slot& slot : slots_) slot.table.Clear();
  transitions_ = 0;
}

std::shared_ptr<const Rewrites> Session::FindListing(size_t program, const Fingerprint& state,
                                                     PassId pass) const {
  if (!options_.use_table) return nullptr;
  std::lock_guard lock(mutex_);
  return slots_[program].table.FindListing(state, pass);
}

void Session::RecordListing(size_t program, const Fingerprint& state, PassId pass,
                            std::shared_ptr<const Rewrites> listing) {
  if (!options_.use_table) return;
  std::lock_guard lock(mutex_);
  listed_ += 1 + listing->sites.size();
  if (listed_ > static_cast<size_t>(options_.most_transitions)) {
    for (Slot& slot : slots_) slot.table.ClearListings();
    listed_ = 0;
  }
  slots_[program].table.RecordListing(state, pass, std::move(listing));
}

void Session::RecordRunTime(size_t program, const Fingerprint& state, double seconds) {
  std::lock_guard lock(mutex_);
  slots_[program].table.RecordRunTime(state, seconds);
}

std::optional<double> Session::RunTime(size_t program, const Fingerprint& state) const {
  std::lock_guard lock(mutex_);
  const TransitionTable::State* known = slots_[program].table.Find(state);
  if (known == nullptr || known->run_seconds < 0) return std::nullopt;
  return known->run_seconds;
}

PassSet Session::Idle(size_t program, const Fingerprint& state) const {
  std::lock_guard lock(mutex_);
  const TransitionTable::State* known = slots_[program].table.Find(state);
  return known == nullptr ? PassSet() : known->idle;
}

size_t Session::transitions() const {
  std::lock_guard lock(mutex_);
  return transitions_;
}

std::map<std::pair<PassId, std::string>, int64_t> Session::failures() const {
  std::lock_guard lock(mutex_);
  return failures_;
}

}  // namespace hone
