// Counts what a program consists of: `hone stats`.
#ifndef HONE_JOBS_STATS_H_
#define HONE_JOBS_STATS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/metrics.h"
#include "core/program.h"
#include "jobs/json.h"
#include "wire/pool.h"

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

// The program is loaded, and forgotten by the pool afterwards.
StatusOr<Stats> StatsOf(Pool& pool, std::string bytes);

Json ToJson(const std::string& file, const Stats& stats);

}  // namespace hone::jobs

#endif  // HONE_JOBS_STATS_H_
