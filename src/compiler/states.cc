#include "compiler/states.h"

#include <malloc.h>

#include <algorithm>
#include <optional>

#include "absl/status/statusor.h"
#include "compiler/arrays.h"
#include "compiler/load.h"
#include "compiler/metrics.h"
#include "compiler/sites/listing.h"
#include "compiler/stopwatch.h"
#include "compiler/walk.h"
#include "core/resident.h"

namespace hone::compiler {
namespace {

// mallinfo2 says 718 to 1047 on clones of four real programs; the rest is what malloc cannot reuse.
constexpr size_t kBytesPerInstruction = 1536;
// Transitions remembered, of all programs, before all are forgotten: about 100 MB.
constexpr size_t kMostTransitions = 1'000'000;
// Of one state: copies that episodes left, for the next ones that come by.
constexpr size_t kMostModulesOfAState = 16;

// The operating system is asked for the resident size once in so many calls.
constexpr int kCallsBetweenLooks = 32;

}  // namespace

States::States(const StatesOptions& options, wire::Heartbeat* heartbeat)
    : byte_limit_(options.cache_bytes),
      stand_in_constants_(options.stand_in_constants),
      heartbeat_(heartbeat) {
  heartbeat->bare_bytes = ResidentBytes();
  if (options.headroom_bytes > 0) {
    trim_above_ = heartbeat->bare_bytes + options.headroom_bytes / 4 * 3;
  }
}

States::~States() = default;

StatusOr<ProgramInfo> States::Load(ProgramId id, std::string_view data) {
  StatusOr<LoadedModule> loaded = LoadModule(data);
  if (!loaded) return tl::unexpected(loaded.error());
  auto program = std::make_unique<Program>();
  program->module = std::move(loaded->module);
  const ModuleDigest digest = DigestModule(*program->module);
  program->info.fingerprint = digest.fingerprint;
  program->info.id = id;
  program->info.name = program->module->name();
  program->info.format = loaded->format;
  program->info.elided_constants = loaded->elided_constants > 0 && !stand_in_constants_;
  program->info.stand_in_constants = stand_in_constants_ ? loaded->elided_constants : 0;
  program->info.opcodes = digest.opcodes;
  Metrics& metrics = program->info.metrics;
  CountInto(digest, metrics);
  AnalyseCost(*program->module, metrics);
  CountKernels(*program->module, metrics);
  program->metrics[digest.fingerprint] = metrics;
  if (programs_.count(id) != 0) (void)Unload(id);
  return (programs_[id] = std::move(program))->info;
}

Status States::Unload(ProgramId id) {
  const auto found = programs_.find(id);
  if (found == programs_.end()) {
    return MakeError(ErrorCode::kInvalidInput, "no program " + std::to_string(id) + " is loaded");
  }
  for (auto held = held_.begin(); held != held_.end();) {
    const auto next = std::next(held);
    if (held->program == found->second.get()) Evict(held);
    held = next;
  }
  programs_.erase(found);
  return {};
}

StatusOr<Applied> States::Apply(const StateName& from, const std::vector<PassId>& passes,
                                const std::vector<KnownFailure>& avoid, const ApplyOptions& options,
                                const std::vector<DecisionsPtr>& decisions) {
  for (PassId pass : passes) {
    if (pass >= PassTable().size()) {
      return MakeError(ErrorCode::kInvalidInput, "there is no pass " + std::to_string(pass));
    }
  }
  StatusOr<Program*> program = FindProgram(from);
  if (!program) return tl::unexpected(program.error());
  KeepWithinMemory();
  for (const KnownFailure& known : avoid) {
    (*program)->lethal[{known.state, known.pass, known.decisions}] = known.failure;
  }
  Walk walk(*this, **program, from.links, options);
  if (options.fresh || !walk.known()) {
    if (Status built = walk.Build(); !built) return tl::unexpected(built.error());
  }
  Applied applied;
  applied.start = walk.state();
  applied.steps.reserve(passes.size());
  for (size_t i = 0; i < passes.size(); ++i) {
    applied.steps.push_back(walk.Take(passes[i], static_cast<uint32_t>(i),
                                      i < decisions.size() ? decisions[i] : nullptr));
  }
  walk.Finish();
  return applied;
}

Status States::Hold(const StateName& state) {
  StatusOr<Program*> program = FindProgram(state);
  if (!program) return tl::unexpected(program.error());
  if (!state.links.empty()) (*program)->touches[state.links.back().state] += 2;
  Walk walk(*this, **program, state.links, ApplyOptions{});
  Status built = walk.Build();
  if (built) walk.Finish();
  return built;
}

StatusOr<ProgramArrays> States::Arrays(const StateName& state) {
  StatusOr<Program*> program = FindProgram(state);
  if (!program) return tl::unexpected(program.error());
  ApplyOptions options;
  options.episode = true;
  Walk walk(*this, **program, state.links, options);
  if (Status built = walk.Build(); !built) return tl::unexpected(built.error());
  Stopwatch watch(timing().metrics);
  ProgramArrays arrays = ArraysOf(walk.module());
  walk.Finish();
  return arrays;
}

StatusOr<Rewrites> States::ListRewrites(const StateName& state, PassId pass,
                                        const RewritesOptions& options) {
  if (pass >= PassTable().size()) {
    return MakeError(ErrorCode::kInvalidInput, "there is no pass " + std::to_string(pass));
  }
  StatusOr<Program*> program = FindProgram(state);
  if (!program) return tl::unexpected(program.error());
  KeepWithinMemory();
  const PassEntry& entry = PassTable()[pass];
  ApplyOptions episode;
  episode.episode = true;
  Walk walk(*this, **program, state.links, episode);
  if (Status built = walk.Build(); !built) return tl::unexpected(built.error());
  const Fingerprint here = walk.state();
  Rewrites rewrites;
  double pass_seconds = 0;
  if (options.time_pass) {
    const std::unique_ptr<xla::HloModule> copy = Copy(walk.module());
    Stopwatch watch(pass_seconds);
    (void)entry.make()->Run(copy.get());
  }
  heartbeat_->step = 0;
  ++heartbeat_->ticks;
  bool intact = true;
  if (!options.whole) rewrites = ListSites(entry, &walk.module(), here, options, intact);
  if (intact) {
    walk.Finish();
  } else {
    walk.Spoil();
  }
  if (options.whole || !rewrites.separable) {
    StatusOr<std::unique_ptr<xla::HloModule>> module = Rebuild(state);
    if (!module) return tl::unexpected(module.error());
    StatusOr<Rewrites> whole = ListWhole(entry, module->get());
    if (!whole) return whole;
    rewrites = *std::move(whole);
  }
  rewrites.state = here;
  rewrites.pass_seconds = pass_seconds;
  return rewrites;
}

StatusOr<std::unique_ptr<xla::HloModule>> States::Rebuild(const StateName& state) {
  StatusOr<Program*> program = FindProgram(state);
  if (!program) return tl::unexpected(program.error());
  ApplyOptions options;
  options.fresh = true;
  Walk walk(*this, **program, state.links, options);
  if (Status built = walk.Build(); !built) return tl::unexpected(built.error());
  return walk.TakeModule();
}

const xla::HloModule* States::Find(ProgramId program) const {
  const auto found = programs_.find(program);
  return found == programs_.end() ? nullptr : found->second->module.get();
}

bool States::HasElidedConstants(ProgramId program) const {
  const auto found = programs_.find(program);
  return found != programs_.end() && found->second->info.elided_constants;
}

StatusOr<States::Program*> States::FindProgram(const StateName& state) {
  const auto found = programs_.find(state.program);
  if (found == programs_.end()) {
    return MakeError(ErrorCode::kInvalidInput,
                     "no program " + std::to_string(state.program) + " is loaded");
  }
  for (const Link& link : state.links) {
    if (link.pass >= PassTable().size()) {
      return MakeError(ErrorCode::kInvalidInput, "there is no pass " + std::to_string(link.pass));
    }
  }
  return found->second.get();
}

void States::Store(Program& program, const Fingerprint& state,
                   std::unique_ptr<xla::HloModule> module) {
  const auto known = program.held.find(state);
  if (known != program.held.end()) {
    const auto held = known->second;
    if (held->modules.size() >= kMostModulesOfAState) return Free(std::move(module));
    held_bytes_ += held->bytes;
    held->modules.push_back(std::move(module));
    held_.splice(held_.begin(), held_, held);
  } else {
    const size_t bytes = static_cast<size_t>(module->instruction_count()) * kBytesPerInstruction;
    Held& held = held_.emplace_front(Held{&program, state, {}, bytes});
    held.modules.push_back(std::move(module));
    program.held[state] = held_.begin();
    held_bytes_ += bytes;
  }
  while (held_bytes_ > byte_limit_ && !held_.empty()) Evict(std::prev(held_.end()));
}

std::unique_ptr<xla::HloModule> States::Take(std::list<Held>::iterator held, bool last_stays) {
  if (last_stays && held->modules.size() == 1) {
    held_.splice(held_.begin(), held_, held);
    return Copy(*held->modules.front());
  }
  std::unique_ptr<xla::HloModule> module = std::move(held->modules.back());
  held->modules.pop_back();
  held_bytes_ -= held->bytes;
  if (held->modules.empty()) Evict(held);
  return module;
}

void States::Leave(ProgramId id, const Fingerprint& state) {
  const auto program = programs_.find(id);
  if (program == programs_.end()) return;
  const auto held = program->second->held.find(state);
  const auto touches = program->second->touches.find(state);
  if (held == program->second->held.end() || touches != program->second->touches.end()) return;
  Free(Take(held->second, /*last_stays=*/false));
}

void States::Evict(std::list<Held>::iterator victim) {
  held_bytes_ -= victim->modules.size() * victim->bytes;
  victim->program->held.erase(victim->state);
  for (auto& module : victim->modules) Free(std::move(module));
  held_.erase(victim);
}

void States::KeepWithinMemory() {
  if (remembered_ > kMostTransitions) Forget();
  if (trim_above_ == 0 || ++calls_ % kCallsBetweenLooks != 0) return;
  if (ResidentBytes() < trim_above_) return;
  for (const size_t half = held_bytes_ / 2; held_bytes_ > half;) Evict(std::prev(held_.end()));
  Forget();
  malloc_trim(0);
}

void States::Forget() {
  for (auto& [id, program] : programs_) {
    program->transitions.clear();
    program->metrics.clear();
    program->complaints.clear();
    program->touches.clear();
  }
  remembered_ = 0;
}

std::unique_ptr<xla::HloModule> States::Copy(const xla::HloModule& module) {
  ++heartbeat_->ticks;
  ++timing().clones_made;
  Stopwatch watch(timing().clones);
  return module.Clone(/*suffix=*/"");
}

void States::Free(std::unique_ptr<xla::HloModule> module) {
  Stopwatch watch(timing().clones);
  module.reset();
}

}  // namespace hone::compiler
