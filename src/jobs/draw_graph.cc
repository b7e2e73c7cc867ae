#include "jobs/draw_graph.h"

#include <memory>
#include <utility>

#include "jobs/write_file.h"
#include "report/graphviz.h"
#include "report/model_explorer.h"

namespace hone::jobs {

FileOr<DrawnGraph> DrawGraph(const DrawOptions& options, const WorkerOptions& workers,
                             Events& events) {
  if (auto fine = CheckAllWritable({options.output}); !fine) return tl::unexpected(fine.error());
  FileOr<std::string> data = ReadNamed(options.file, workers);
  if (!data) return tl::unexpected(data.error());
  const std::shared_ptr<void> waiting = events.During("reading " + options.file);
  const auto pool = StartPool(workers, events);
  if (!pool) return Wrong("", pool.error());
  const StatusOr<ProgramInfo> program = (*pool)->Load(*std::move(data));
  if (!program) return Wrong(options.file, program.error());
  const StatusOr<ProgramGraph> graph = (*pool)->Describe({program->id, {}});
  if (!graph) return Wrong(options.file, graph.error());
  DrawnGraph drawn{"", program->metrics.op_count};
  if (options.format == "dot") {
    drawn.text = report::ToGraphviz(*graph);
  } else {
    drawn.text =
        report::ToModelExplorer(*graph).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  if (auto wrote = WriteIfNamed(options.output, drawn.text); !wrote) {
    return tl::unexpected(wrote.error());
  }
  return drawn;
}

Json ToJson(const DrawnGraph& drawn, const DrawOptions& options) {
  return {{"file", options.file},
          {"format", options.format},
          {"instructions", drawn.instructions},
          {"output", options.output}};
}

}  // namespace hone::jobs
