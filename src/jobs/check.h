// Whether two programs compute the same, or one under a plan and without: `hone check`.
#ifndef HONE_JOBS_CHECK_H_
#define HONE_JOBS_CHECK_H_

#include <string>

#include "core/comparison.h"
#include "core/program.h"
#include "jobs/events.h"
#include "jobs/given_inputs.h"
#include "jobs/json.h"
#include "jobs/workers.h"

namespace hone::jobs {

struct CheckOptions {
  std::string a;
  std::string b;       // another program, or
  std::string plan;    // a file: `a` under it
  std::string device;  // as device::ParseDeviceName takes it; "": XLA:CPU computes
  GivenInputs inputs;
  CompareOptions compare;
};

struct Checked {
  ComparisonReport report;  // what kept XLA from answering is no verdict
  ProgramInfo stands_in;    // one of the two, with made-up values if either has some
};

FileOr<Checked> Check(const CheckOptions& options, const WorkerOptions& workers, Events& events);

Json ToJson(const Checked& checked, const CheckOptions& options);

}  // namespace hone::jobs

#endif  // HONE_JOBS_CHECK_H_
