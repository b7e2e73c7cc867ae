// A program's graph for the memory planner, in which random bits are computed by known operations.
#ifndef HONE_JOBS_DESCRIBE_FOR_PLAN_H_
#define HONE_JOBS_DESCRIBE_FOR_PLAN_H_

#include "core/program_graph.h"
#include "wire/pool.h"

namespace hone::jobs {

// The program's graph; each rng-bit-generator calls the computation that XLA's own
// RngBitGeneratorExpander makes of it (Philox or ThreeFry), so that whoever knows integer
// arithmetic can compute its bits. Errors: those of the worker.
StatusOr<ProgramGraph> DescribeForPlan(Pool& pool, ProgramId program);

}  // namespace hone::jobs

#endif  // HONE_JOBS_DESCRIBE_FOR_PLAN_H_
