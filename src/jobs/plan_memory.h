// A scratchpad accelerator's memory planned for a program, and the plan held to its claims: `hone
// memory`.
#ifndef HONE_JOBS_PLAN_MEMORY_H_
#define HONE_JOBS_PLAN_MEMORY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/program.h"
#include "jobs/events.h"
#include "jobs/json.h"
#include "memory/machine.h"
#include "memory/network.h"
#include "memory/plan_file.h"
#include "memory/planner.h"
#include "store/store.h"
#include "wire/pool.h"

namespace hone::jobs {

struct LoadedNetwork {
  std::unique_ptr<Pool> pool;
  ProgramInfo info;
  std::string fingerprint;
  memory::Network program;                       // as it is written
  std::vector<memory::OrderedNetwork> networks;  // what may be planned: ByParts of it
  double seconds = 0;                            // processor time of making them
  size_t planned = 0;                            // index of the network that is planned

  const memory::Network& network() const { return networks[planned].network; }
};
StatusOr<LoadedNetwork> LoadNetwork(std::unique_ptr<Pool> pool, std::string bytes,
                                    const memory::Machine& machine);
// Sets `loaded.planned` to the network that a plan's file is of. Errors: kInvalidInput, no such
// network.
Status TakeNetworkOf(const memory::PlanFile& header, LoadedNetwork& loaded);

struct VerifyOptions {
  bool numbers = true;  // else only addresses are checked, because of `why_not`
  std::string why_not = "as asked";
  double seconds = 120;  // that comparing numbers may take, XLA's runs included
  uint64_t seed = 0;     // of the inputs
};

struct Verification {
  bool ok = false;
  bool numbers =
      false;  // values were computed and compared with XLA's; else only addresses checked
  bool interrupted = false;  // before all was done
  std::string what;          // for people
  int64_t loaded_bytes = 0;
  int64_t stored_bytes = 0;
};
// Runs the plan on the simulator and compares the traffic with the plan's claims; with numbers
// also the outputs with XLA's, where every operator can be computed here and there is time. An
// interrupt leaves what is known by then.
Verification VerifyPlan(LoadedNetwork& loaded, const memory::Machine& machine,
                        const memory::Plan& plan, const VerifyOptions& options, Events& events);

struct PlanMemoryOptions {
  double budget_seconds = 60;
  double verify_gflops = 100;  // larger programs are simulated without computing values
  double verify_seconds = 0;   // VerifyOptions::seconds; 0: twice the budget, at least 20
  uint64_t seed = 0;           // of the inputs
  // Planning begins with the plan that it has; a better one is added. May be null.
  store::Store* store = nullptr;
  std::string file;  // what the program is called there
};
struct MemoryResult {
  memory::Planned planned;  // `known` where it is the store's
  Verification verification;
};
// Plans one of the networks, and sets `loaded.planned` to its index. An interrupt ends the planning
// or the verification that is under way; the best plan so far is kept.
StatusOr<MemoryResult> PlanMemory(LoadedNetwork& loaded, const memory::Machine& machine,
                                  const PlanMemoryOptions& options, Events& events);

Json ToJson(const LoadedNetwork& loaded, const memory::Machine& machine,
            const MemoryResult& result);
// {"verified": true, "traffic" where numbers were not compared, or false; "verification"}
Json ToJson(const Verification& verification);

}  // namespace hone::jobs

#endif  // HONE_JOBS_PLAN_MEMORY_H_
