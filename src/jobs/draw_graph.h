// A program for the tools that draw graphs: `hone graph`.
#ifndef HONE_JOBS_DRAW_GRAPH_H_
#define HONE_JOBS_DRAW_GRAPH_H_

#include <cstdint>
#include <string>

#include "jobs/events.h"
#include "jobs/json.h"
#include "jobs/workers.h"

namespace hone::jobs {

struct DrawOptions {
  std::string file;
  std::string format = "model-explorer";  // or "dot"
  std::string output;                     // a file; "" writes none
};

struct DrawnGraph {
  std::string text;
  int64_t instructions = 0;
};

FileOr<DrawnGraph> DrawGraph(const DrawOptions& options, const WorkerOptions& workers,
                             Events& events);

Json ToJson(const DrawnGraph& drawn, const DrawOptions& options);

}  // namespace hone::jobs

#endif  // HONE_JOBS_DRAW_GRAPH_H_
