// The report of `hone memory`.
#ifndef HONE_CLI_REPORT_MEMORY_H_
#define HONE_CLI_REPORT_MEMORY_H_

#include <string>

#include "cli/memory.h"
#include "memory/planner.h"
#include "report/document.h"

namespace hone::cli {

struct MemoryReport {
  std::string file;
  const memory::Machine& machine;
  const memory::Planned& planned;
  const Verification& verification;
};

report::Document MakeReport(LoadedNetwork& loaded, const MemoryReport& what);

}  // namespace hone::cli

#endif  // HONE_CLI_REPORT_MEMORY_H_
