// Counts what programs consist of: `hone stats`.
#ifndef HONE_JOBS_STATS_H_
#define HONE_JOBS_STATS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/metrics.h"
#include "core/program.h"
#include "jobs/events.h"
#include "jobs/json.h"
#include "jobs/workers.h"

namespace hone::jobs {

struct Tensor {
  std::string shape;
  int64_t bytes = 0;
  std::string instruction;
  std::string opcode;
  std::string computation;
};

struct Stats {
  std::string target;
  ProgramInfo program;
  Metrics metrics;
  size_t computations = 0;
  std::vector<std::pair<std::string, int64_t>> opcodes;  // most frequent first
  int64_t parameters = 0;
  int64_t parameter_bytes = 0;
  int64_t outputs = 0;
  int64_t output_bytes = 0;
  std::vector<Tensor> largest;
};

struct FileStats {
  std::string file;
  StatusOr<Stats> stats;
};
// Of files, folders and URIs, one after another; `done` is called after each. Where there is one
// program, its error is the job's.
FileOr<std::vector<FileStats>> StatsOf(const std::vector<std::string>& files,
                                       const WorkerOptions& workers, Events& events,
                                       const std::function<void(const FileStats&)>& done);

// {"results"}; of one program, its result alone.
Json ToJson(const std::vector<FileStats>& all);

}  // namespace hone::jobs

#endif  // HONE_JOBS_STATS_H_
