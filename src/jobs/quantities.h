// Durations, sizes and budgets as people write them.
#ifndef HONE_JOBS_QUANTITIES_H_
#define HONE_JOBS_QUANTITIES_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "core/result.h"

namespace hone::jobs {

// Whichever is spent first; one that was not given is infinite.
struct Budget {
  double seconds = std::numeric_limits<double>::infinity();
  int64_t steps = std::numeric_limits<int64_t>::max();
};

// "30s", "2m", "1.5h", "500ms"; a bare number is seconds. Positive, at most a year.
StatusOr<double> ParseDuration(std::string_view text);

// "512MiB", "1GiB", "2GB", "64k"; a bare number is bytes. Units without an i are powers of 1000,
// single letters powers of 1024.
StatusOr<size_t> ParseSize(std::string_view text);

// A duration, "2000steps", or both: "30s,2000steps".
StatusOr<Budget> ParseBudget(std::string_view text);

}  // namespace hone::jobs

#endif  // HONE_JOBS_QUANTITIES_H_
