// Kernels as loop nests: schedules of a task shown, raced against each other, and tuned.
#ifndef HONE_JOBS_SCHEDULE_LOOPS_H_
#define HONE_JOBS_SCHEDULE_LOOPS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "core/comparison.h"
#include "core/race.h"
#include "jobs/events.h"
#include "jobs/json.h"
#include "jobs/quantities.h"
#include "loops/generator.h"
#include "loops/task.h"
#include "loops/tune.h"

namespace hone::jobs {

// The text of a file, or of a task that comes with hone, unchecked. Errors: it is neither.
StatusOr<std::string> ReadTaskText(const std::string& given);

// How a task is named, and run.
struct LoopsOptions {
  std::string task;  // a file, or one that comes with hone
  int threads = 0;   // that share the work; 0: the machine's
  bool sandbox = true;
  bool without_tiles = false;  // of a matrix unit: in rules of thumb products by vectors
};

// The schedule by rules of thumb.
FileOr<loops::Schedule> DefaultScheduleOf(const LoopsOptions& options);

struct ShownLoops {
  loops::Task task;
  loops::Schedule schedule;
  loops::Scheduled scheduled;
  loops::Payload payload;
  loops::CompiledKernel compiled;  // with its texts
};
// `schedule`: a file, `default` (rules of thumb) or `none` (plain loops).
FileOr<ShownLoops> ShowLoops(const LoopsOptions& options, const std::string& schedule);
Json ToJson(const ShownLoops& shown);

struct RaceLoopsOptions {
  std::string schedule;  // as ShowLoops takes it
  std::string against;   // likewise
  double seconds = 5;
  uint64_t seed = 1;
  bool cold = false;   // each run finds no buffer in a cache
  bool verify = true;  // compare with the interpreter first
};
struct RacedLoops {
  loops::Task task;
  ComparisonReport verified;  // of `schedule`
  RaceReport race;            // a: `against`; none where the kernel computes something else
  int threads = 1;

  double gflops() const;  // of `schedule`
};
FileOr<RacedLoops> RaceLoops(const LoopsOptions& options, const RaceLoopsOptions& racing,
                             Events& events);
Json ToJson(const RacedLoops& raced, const RaceLoopsOptions& racing);
// "true", "can't tell", or "skipped".
const char* VerifiedText(const RacedLoops& raced, const RaceLoopsOptions& racing);

struct TuneLoopsOptions {
  std::string search = "local";
  std::string policy;      // a file of `hone train --loops`, or ""
  std::string cost_model;  // a file, or ""
  Budget budget;
  uint64_t seed = 1;
  std::string output;  // a file for the schedule, where it is verified; "" writes none
  std::string store;   // a file: the schedule goes there where it is faster, too; "" is none
};
struct TunedLoops {
  loops::Task task;
  loops::TuneReport report;

  bool verified() const { return report.verified.verdict == Verdict::kEqual; }
};
FileOr<TunedLoops> TuneLoops(const LoopsOptions& options, const TuneLoopsOptions& tuning,
                             Events& events);
Json ToJson(const TunedLoops& tuned, const TuneLoopsOptions& tuning);
// The tasks that come with hone.
Json KnownTasksJson();

}  // namespace hone::jobs

#endif  // HONE_JOBS_SCHEDULE_LOOPS_H_
