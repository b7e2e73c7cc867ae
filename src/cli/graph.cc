// hone graph: a program for the tools that draw graphs.
#include <memory>

#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/options.h"
#include "jobs/draw_graph.h"

namespace hone::cli {
namespace {

struct GraphFlags {
  CommonOptions common;
  jobs::DrawOptions job;
};

int RunGraph(const GraphFlags& flags) {
  CommandEvents events(flags.common);
  const auto drawn = jobs::DrawGraph(flags.job, flags.common, events);
  if (!drawn) return Fail(drawn.error(), flags.common.json);
  if (flags.job.output.empty()) return Finish(drawn->text, kFine);
  return flags.common.json ? Finish(ToJson(*drawn, flags.job), kFine) : int{kFine};
}

}  // namespace

Run AddGraph(CLI::App& app) {
  auto flags = std::make_shared<GraphFlags>();
  AddWord(app, "FILE", flags->job.file, "the program");
  app.add_option("--format", flags->job.format, "for which tool: model-explorer, dot (Graphviz)")
      ->check(CLI::IsMember({"model-explorer", "dot"}))
      ->capture_default_str();
  app.add_option("-o,--output", flags->job.output, "write it here, not to stdout")
      ->type_name("OUT");
  AddProgramOptions(app, flags->common);
  return [flags] { return RunGraph(*flags); };
}

}  // namespace hone::cli
