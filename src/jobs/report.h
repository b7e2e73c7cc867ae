// Shared by the pages: versions, graphs, and where time goes.
#ifndef HONE_JOBS_REPORT_H_
#define HONE_JOBS_REPORT_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/compile_plan.h"
#include "core/program_graph.h"
#include "cost/machine.h"
#include "jobs/events.h"
#include "report/document.h"
#include "report/sections/kernels.h"
#include "wire/pool.h"

namespace hone::jobs {

// With versions among the facts. `xla` may be empty.
report::Document BeginReport(const std::string& command, const std::string& file,
                             const std::string& program, const std::string& xla);

// Can a report be made, and written there? Before long work. Fine where none is wanted.
FileOr<void> CheckReport(const std::string& path);

// As one HTML file; none where the path is empty.
FileOr<void> WriteReport(const std::string& path, const report::Document& document);

// Shared by all makers of a job's page.
class PageMaker {
 protected:
  PageMaker(Events& events, report::Document document)
      : events_(events), document_(std::move(document)) {}

  bool Interrupted() const { return events_.stopped(); }
  void Missing(const std::string& section, const std::string& why);
  // The page, which says where it was interrupted.
  report::Document Finish();

  Events& events_;
  report::Document document_;
};

// An optimised program, from its text. The pool forgets it again.
StatusOr<ProgramGraph> DescribeText(Pool& pool, std::string text);

// A trace of kernels that takes longer than this is given up.
inline constexpr double kMostProfileSeconds = 120;

// Runs the state under the plan for about `seconds`, and says of each kernel how long it took and
// how long the roofline would have it take. `optimised` is the graph of the same compilation.
StatusOr<report::KernelRun> MeasureKernels(Pool& pool, const StateName& state,
                                           const CompilePlan& plan, const ProgramGraph& optimised,
                                           const cost::Machine& machine, const std::string& label,
                                           double seconds);

// The optimised program under the plan, and the kernels in it.
struct CompiledView {
  ProgramGraph graph;
  std::optional<report::KernelRun> run;
  std::string why_no_run;
};
StatusOr<CompiledView> ViewCompiled(Pool& pool, const StateName& state, const CompilePlan& plan,
                                    const cost::Machine& machine, const std::string& label);

// The section of these runs; none where there is no kernel.
std::optional<report::Json> KernelSection(const cost::Machine& machine,
                                          std::vector<report::KernelRun> runs);

}  // namespace hone::jobs

#endif  // HONE_JOBS_REPORT_H_
