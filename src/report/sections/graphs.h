// A program as a graph, or two: before and after.
#ifndef HONE_REPORT_SECTIONS_GRAPHS_H_
#define HONE_REPORT_SECTIONS_GRAPHS_H_

#include <string>
#include <utility>
#include <vector>

#include "core/program_graph.h"
#include "report/json.h"

namespace hone::report {

struct GraphView {
  std::string label;  // "as given", "result"
  const ProgramGraph* graph = nullptr;
  // Instructions that the report speaks of, and what it says of them.
  std::vector<std::pair<std::string, std::string>> marks;
};

struct Graphs {
  std::string note;
  std::vector<GraphView> views;  // with two, instructions of the same name are the same
};

Json ToSection(const Graphs& graphs);

}  // namespace hone::report

#endif  // HONE_REPORT_SECTIONS_GRAPHS_H_
