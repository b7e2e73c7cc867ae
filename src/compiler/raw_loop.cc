#include "compiler/raw_loop.h"

#include <chrono>
#include <vector>

#include "compiler/passes/pass_table.h"

namespace hone::compiler {
namespace {

// False where the pass failed.
bool RunPass(PassId pass, xla::HloModule* module, bool& changed) {
  const PassEntry& entry = PassTable()[pass];
  const absl::StatusOr<bool> result = entry.make()->Run(module);
  if (!result.ok()) return false;
  changed = *result || entry.silent;
  // As in States: XLA's clean-up aborts on a stale schedule.
  if (changed && module->has_schedule() && !module->schedule().Update().ok()) {
    module->clear_schedule();
  }
  module->Cleanup();
  return true;
}

}  // namespace

RawLoopResult RunRawLoop(const xla::HloModule& program, const RawLoopOptions& options,
                         wire::Heartbeat& heartbeat) {
  using Clock = std::chrono::steady_clock;
  RawLoopResult result;
  const Clock::time_point start = Clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  while (seconds() < options.seconds) {
    Rng rng = EpisodeRng(options.seed, options.first_episode + result.episodes);
    ++result.episodes;
    auto module = program.Clone(/*suffix=*/"");
    std::vector<PassId> way;  // what changed something
    for (int i = 0; i < options.length; ++i) {
      ++heartbeat.ticks;
      const PassId pass = rng.Pick(options.actions);
      bool changed = false;
      ++result.steps;
      if (RunPass(pass, module.get(), changed)) {
        if (changed) way.push_back(pass);
        continue;
      }
      ++result.failures;
      module = program.Clone(/*suffix=*/"");
      for (PassId again : way) (void)RunPass(again, module.get(), changed);
    }
  }
  result.seconds = seconds();
  return result;
}

}  // namespace hone::compiler
