// Passes in the order given, like hlo-opt, but no input can crash it: `hone run`.
#ifndef HONE_JOBS_RUN_PASSES_H_
#define HONE_JOBS_RUN_PASSES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/program.h"
#include "core/state.h"
#include "core/timing.h"
#include "jobs/events.h"
#include "jobs/json.h"
#include "jobs/workers.h"
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

struct RunFileOptions {
  std::string file;
  std::string passes;  // names, commas between them
  std::string output;  // the file that the program is written to; "" is none
  bool keep_going = false;
};

struct RanFile {
  ProgramInfo program;
  RanPasses ran;
  Timing timing;  // of the worker
};

FileOr<RanFile> RunFile(const RunFileOptions& options, const WorkerOptions& workers,
                        Events& events);

// With the program where it was written to no file.
Json ToJson(const RanFile& done, const RunFileOptions& options);

// Splits at commas and trims spaces; empty parts are kept.
std::vector<std::string> SplitNames(const std::string& list);

}  // namespace hone::jobs

#endif  // HONE_JOBS_RUN_PASSES_H_
