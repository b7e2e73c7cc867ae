// Passes in the order given, like hlo-opt, but no input can crash it: `hone run`.
#ifndef HONE_JOBS_RUN_PASSES_H_
#define HONE_JOBS_RUN_PASSES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/program.h"
#include "core/state.h"
#include "jobs/events.h"
#include "jobs/json.h"
#include "wire/pool.h"

namespace hone::jobs {

struct RunPassesOptions {
  std::vector<PassId> passes;
  bool keep_going = false;  // step over passes that fail
  ExportFormat format = ExportFormat::kText;
};

struct RanPass {
  std::string pass;
  Step step;
  int64_t before = 0;  // instructions
  double milliseconds = 0;
};

struct RanPasses {
  std::vector<RanPass> rows;  // ends with the first failure, unless it is stepped over
  StateName state;
  Fingerprint fingerprint;  // of what is exported
  int failed = 0;
  std::optional<std::string> bytes;  // of the program after them; nullopt where a failure ended it

  // The instruction count after the passes; `before` is the program's own.
  int64_t Instructions(int64_t before) const {
    return rows.empty() ? before : rows.back().step.metrics.op_count;
  }
};

StatusOr<RanPasses> RunPasses(Pool& pool, const ProgramInfo& program,
                              const RunPassesOptions& options, Events& events);

Json ToJson(const RanPasses& ran, const ProgramInfo& program);

// Splits at commas and trims spaces; empty parts are kept.
std::vector<std::string> SplitNames(const std::string& list);

}  // namespace hone::jobs

#endif  // HONE_JOBS_RUN_PASSES_H_
