// Loops that go on until their data say so: on made-up inputs they may do otherwise than on a
// user's.
#ifndef HONE_JOBS_DATA_LOOPS_H_
#define HONE_JOBS_DATA_LOOPS_H_

#include <string>

#include "core/program.h"
#include "wire/pool.h"

namespace hone::jobs {

// How many there are: those whose number of trips XLA cannot tell. 0 where that cannot be found
// out.
int CountDataLoops(Pool& pool, const ProgramInfo& program);

// What that means for times that were taken on made-up inputs; "" where there are none.
std::string BesideDataLoops(int loops);

}  // namespace hone::jobs

#endif  // HONE_JOBS_DATA_LOOPS_H_
