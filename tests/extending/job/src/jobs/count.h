// An example: how many instructions a program has: `hone count`.
#ifndef HONE_JOBS_COUNT_H_
#define HONE_JOBS_COUNT_H_

#include <cstdint>
#include <string>

#include "jobs/events.h"
#include "jobs/workers.h"

namespace hone::jobs {

FileOr<int64_t> CountInstructions(const std::string& file, const WorkerOptions& workers,
                                  Events& events);

}  // namespace hone::jobs

#endif  // HONE_JOBS_COUNT_H_
