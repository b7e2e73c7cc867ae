// hone graph: a program for the tools that draw graphs.
#include <memory>
#include <string>
#include <utility>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "report/graphviz.h"
#include "report/model_explorer.h"

namespace hone::cli {
namespace {

struct GraphOptions {
  CommonOptions common;
  std::string file;
  std::string format = "model-explorer";
  std::string output;
};

int RunGraph(const GraphOptions& options) {
  const bool json = options.common.json;
  if (Status writable = MayWrite(options.output); !writable) {
    return Fail(writable.error(), options.output, json);
  }
  auto data = ReadNamed(options.file, options.common);
  if (!data) return Fail(data.error(), json);
  const Waiting waiting(options.common.ShowProgress(), "reading " + options.file);
  const auto pool = StartPool(options.common);
  if (!pool) return Fail(pool.error(), json);
  const StatusOr<ProgramInfo> program = (*pool)->Load(*std::move(data));
  if (!program) return Fail(program.error(), options.file, json);
  const StatusOr<ProgramGraph> graph = (*pool)->Describe({program->id, {}});
  if (!graph) return Fail(graph.error(), options.file, json);
  const std::string text =
      options.format == "dot"
          ? report::ToGraphviz(*graph)
          : report::ToModelExplorer(*graph).dump(-1, ' ', false, Json::error_handler_t::replace) +
                "\n";
  if (options.output.empty()) return Finish(text, kFine);
  if (Status wrote = WriteFile(options.output, text); !wrote) {
    return Fail(wrote.error(), options.output, json);
  }
  if (!json) return kFine;
  return Finish(Json{{"file", options.file},
                     {"format", options.format},
                     {"instructions", program->metrics.op_count},
                     {"output", options.output}},
                kFine);
}

}  // namespace

Run AddGraph(CLI::App& app) {
  auto options = std::make_shared<GraphOptions>();
  app.add_option("FILE", options->file, "the program")->required()->type_name("");
  app.add_option("--format", options->format, "for which tool: model-explorer, dot (Graphviz)")
      ->check(CLI::IsMember({"model-explorer", "dot"}))
      ->capture_default_str();
  app.add_option("-o,--output", options->output, "write it here, not to stdout")->type_name("OUT");
  AddDatasetsOption(app, options->common.datasets);
  AddCommonOptions(app, options->common);
  return [options] { return RunGraph(*options); };
}

}  // namespace hone::cli
