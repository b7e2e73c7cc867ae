#include "jobs/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "cost/cost_graph.h"
#include "cost/roofline.h"
#include "jobs/version.h"
#include "jobs/write_file.h"
#include "report/html.h"
#include "report/words.h"

namespace hone::jobs {
namespace {

constexpr double kProfileSeconds = 1;

}  // namespace

report::Document BeginReport(const std::string& command, const std::string& file,
                             const std::string& program, const std::string& xla) {
  report::Document document;
  document.command = command;
  document.title = program;
  document.file = file;
  document.facts.push_back({"hone", HoneVersion(), ""});
  if (!xla.empty()) document.facts.push_back({"XLA of", xla, ""});
  return document;
}

FileOr<void> CheckReport(const std::string& path) {
  if (path.empty()) return {};
  if (Status have = report::HaveTemplate(); !have) return Wrong(path, have.error());
  return CheckAllWritable({path});
}

FileOr<void> WriteReport(const std::string& path, const report::Document& document) {
  if (path.empty()) return {};
  const StatusOr<std::string> html = report::ToHtml(document);
  if (!html) return Wrong(path, html.error());
  return WriteIfNamed(path, *html);
}

void PageMaker::Missing(const std::string& section, const std::string& why) {
  document_.remarks.push_back(section + " left out: " + report::Printable(why));
}

report::Document PageMaker::Finish() {
  if (Interrupted()) document_.remarks.push_back("interrupted: some sections are missing");
  return std::move(document_);
}

StatusOr<ProgramGraph> DescribeText(Pool& pool, std::string text) {
  const StatusOr<ProgramInfo> program = pool.Load(std::move(text));
  if (!program) return tl::unexpected(program.error());
  StatusOr<ProgramGraph> graph = pool.Describe({program->id, {}});
  pool.Unload(program->id);
  return graph;
}

StatusOr<report::KernelRun> MeasureKernels(Pool& pool, const StateName& state,
                                           const CompilePlan& plan, const ProgramGraph& optimised,
                                           const cost::Machine& machine, const std::string& label,
                                           double seconds) {
  const StatusOr<std::vector<KernelTime>> times =
      pool.Profile(state, plan, seconds, kMostProfileSeconds);
  if (!times) return tl::unexpected(times.error());
  const cost::CostGraph graph = cost::MakeCostGraph(optimised);
  std::map<std::string, const cost::CostNode*> nodes;
  size_t next = 0;
  for (const ComputationInfo& computation : optimised.computations) {
    for (const InstructionInfo& instruction : computation.instructions) {
      const cost::CostNode& node = graph.nodes[next++];
      if (node.kernel && node.runs > 0) nodes[instruction.name] = &node;
    }
  }
  report::KernelRun run{label, {}};
  for (const KernelTime& time : *times) {
    report::Kernel kernel{time.name, time.opcode, time.calls, time.seconds, 0, 0, 0};
    if (const auto found = nodes.find(time.name); found != nodes.end()) {
      const cost::CostNode& node = *found->second;
      const double calls = static_cast<double>(std::max<int64_t>(time.calls, 1));
      kernel.flops = calls * node.flops;
      kernel.bytes = calls * (node.read + node.written);
      kernel.predicted_seconds = calls * cost::KernelSeconds(graph, node, machine);
    }
    run.kernels.push_back(std::move(kernel));
  }
  return run;
}

StatusOr<CompiledView> ViewCompiled(Pool& pool, const StateName& state, const CompilePlan& plan,
                                    const cost::Machine& machine, const std::string& label) {
  CompileOptions compiling;
  compiling.sites = false;
  compiling.text = true;
  StatusOr<Compiled> compiled = pool.Compile(state, plan, compiling);
  if (!compiled) return tl::unexpected(compiled.error());
  StatusOr<ProgramGraph> graph = DescribeText(pool, std::move(compiled->text));
  if (!graph) return tl::unexpected(graph.error());
  CompiledView view{*std::move(graph), std::nullopt, ""};
  StatusOr<report::KernelRun> run =
      MeasureKernels(pool, state, plan, view.graph, machine, label, kProfileSeconds);
  if (run) {
    view.run = *std::move(run);
  } else {
    view.why_no_run = run.error().message;
  }
  return view;
}

std::optional<report::Json> KernelSection(const cost::Machine& machine,
                                          std::vector<report::KernelRun> runs) {
  runs.erase(std::remove_if(runs.begin(), runs.end(),
                            [](const report::KernelRun& run) { return run.kernels.empty(); }),
             runs.end());
  if (runs.empty()) return std::nullopt;
  report::Kernels kernels;
  kernels.note =
      "By XLA's own trace of a run on generated inputs. The roof is what this machine was measured "
      "to do when the report was made; operations and bytes of a kernel are counted from its "
      "instructions.";
  kernels.flops_per_second = machine.cores * machine.flops_per_second;
  kernels.bytes_per_second = machine.cores * machine.bytes_per_second;
  kernels.runs = std::move(runs);
  return report::ToSection(kernels);
}

}  // namespace hone::jobs
