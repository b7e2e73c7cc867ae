// An example: how many instructions a program has: `hone count`.
#ifndef HONE_JOBS_COUNT_H_
#define HONE_JOBS_COUNT_H_

#include <string>

#include "wire/pool.h"

namespace hone::jobs {

StatusOr<int64_t> CountInstructions(Pool& pool, std::string bytes);

}  // namespace hone::jobs

#endif  // HONE_JOBS_COUNT_H_
