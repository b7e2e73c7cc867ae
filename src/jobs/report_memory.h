// The report of `hone memory`.
#ifndef HONE_JOBS_REPORT_MEMORY_H_
#define HONE_JOBS_REPORT_MEMORY_H_

#include <string>

#include "jobs/plan_memory.h"
#include "memory/planner.h"
#include "report/document.h"

namespace hone::jobs {

struct MemoryReport {
  std::string file;
  const memory::Machine& machine;
  const memory::Planned& planned;
  const Verification& verification;
};

report::Document MakeReport(LoadedNetwork& loaded, const MemoryReport& what);

}  // namespace hone::jobs

#endif  // HONE_JOBS_REPORT_MEMORY_H_
