// Program states in a worker: content-addressed and immutable to the outside, mutated in place
// inside wherever nobody else needs the old one.
#ifndef HONE_COMPILER_STATES_H_
#define HONE_COMPILER_STATES_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/program.h"
#include "core/program_arrays.h"
#include "core/result.h"
#include "core/state.h"
#include "wire/heartbeat.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

struct StatesOptions {
  // Modules beyond these bytes (an estimate) are dropped, least recently used first.
  size_t cache_bytes = size_t{1} << 30;
  // Resident memory that may be taken beside what the process has when it starts: near it, what is
  // held and remembered is let go. 0 is no limit.
  size_t headroom_bytes = 0;
  std::vector<std::string> rule_files;  // paths
  // Programs whose text has elided constants may be run, with made-up values for them.
  bool stand_in_constants = false;
};

class States {
 public:
  States(const StatesOptions& options, wire::Heartbeat* heartbeat);
  ~States();

  StatusOr<ProgramInfo> Load(ProgramId program, std::string_view data);
  Status Unload(ProgramId program);

  // A pass that fails leaves the state as it was. What is in `avoid` fails without being run.
  StatusOr<Applied> Apply(const StateName& from, const std::vector<PassId>& passes,
                          const std::vector<KnownFailure>& avoid, const ApplyOptions& options,
                          const std::vector<DecisionsPtr>& decisions = {});

  // The rewrites that the pass would make; the state stays as it is.
  StatusOr<Rewrites> ListRewrites(const StateName& state, PassId pass,
                                  const RewritesOptions& options);

  // Keeps the state in memory while there is room.
  Status Hold(const StateName& state);
  // An episode is done with the state: one module of it is dropped, if no Hold keeps it.
  void Leave(ProgramId program, const Fingerprint& state);

  StatusOr<ProgramArrays> Arrays(const StateName& state);

  // The state's module, rebuilt from the program with nothing remembered: equal names give equal
  // modules, to the byte.
  StatusOr<std::unique_ptr<xla::HloModule>> Rebuild(const StateName& state);

  // The program as loaded; null where there is none of that name.
  const xla::HloModule* Find(ProgramId program) const;
  bool HasElidedConstants(ProgramId program) const;

  Timing& timing() { return heartbeat_->timing; }

 private:
  struct Program;
  struct Held;
  class Walk;

  StatusOr<Program*> FindProgram(const StateName& state);
  void Store(Program& program, const Fingerprint& state, std::unique_ptr<xla::HloModule> module);
  std::unique_ptr<xla::HloModule> Take(std::list<Held>::iterator held, bool last_stays);
  void Evict(std::list<Held>::iterator victim);
  void KeepWithinMemory();
  void Forget();  // transitions, metrics, complaints, touches: all that can be found out again
  std::unique_ptr<xla::HloModule> Copy(const xla::HloModule& module);
  void Free(std::unique_ptr<xla::HloModule> module);

  const size_t byte_limit_;
  const bool stand_in_constants_;
  wire::Heartbeat* const heartbeat_;
  std::unordered_map<ProgramId, std::unique_ptr<Program>> programs_;
  std::list<Held> held_;  // most recently used first
  size_t held_bytes_ = 0;
  size_t trim_above_ = 0;  // resident bytes; 0 is never
  size_t remembered_ = 0;  // transitions of all programs
  unsigned calls_ = 0;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_STATES_H_
