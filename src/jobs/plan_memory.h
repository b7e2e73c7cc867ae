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
  double seconds = 0;                            // of processor time that this took
  size_t planned = 0;                            // of the networks, what is

  const memory::Network& network() const { return networks[planned].network; }
};
StatusOr<LoadedNetwork> LoadNetwork(std::unique_ptr<Pool> pool, std::string bytes,
                                    const memory::Machine& machine);
// Takes the network that a plan's file is of. Errors: kInvalidInput where there is none such.
Status TakeNetworkOf(const memory::PlanFile& header, LoadedNetwork& loaded);

struct Verification {
  bool ok = false;
  bool numbers = false;  // computed and compared with XLA; else followed where bytes lie
  std::string what;      // for people
  int64_t loaded_bytes = 0;
  int64_t stored_bytes = 0;
};
// Runs the plan on the simulator and holds traffic to the plan's claims; with `numbers` also
// outputs to XLA's, where every operator can be computed here.
Verification VerifyPlan(LoadedNetwork& loaded, const memory::Machine& machine,
                        const memory::Plan& plan, bool numbers, uint64_t seed, Events& events);

struct PlanMemoryOptions {
  double budget_seconds = 60;
  double verify_gflops = 100;  // programs of more products are followed without numbers
  uint64_t seed = 0;           // of the inputs
  store::Store* store =
      nullptr;       // what it has is begun with, what moves less goes there; may be null
  std::string file;  // what the program is called there
};
struct MemoryResult {
  memory::Planned planned;  // `known` where it is the store's
  Verification verification;
};
// Plans one of the networks, which is `loaded.planned` from then on.
StatusOr<MemoryResult> PlanMemory(LoadedNetwork& loaded, const memory::Machine& machine,
                                  const PlanMemoryOptions& options, Events& events);

Json ToJson(const LoadedNetwork& loaded, const memory::Machine& machine,
            const MemoryResult& result);
// {"verified": true, "traffic" where numbers were not compared, or false; "verification"}
Json ToJson(const Verification& verification);

}  // namespace hone::jobs

#endif  // HONE_JOBS_PLAN_MEMORY_H_
