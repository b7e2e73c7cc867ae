// Programs for Graphviz, in its dot language.
#ifndef HONE_REPORT_GRAPHVIZ_H_
#define HONE_REPORT_GRAPHVIZ_H_

#include <string>

#include "core/program_graph.h"

namespace hone::report {

// A digraph with a cluster for each computation; dotted edges lead from callers to what they call.
std::string ToGraphviz(const ProgramGraph& graph);

}  // namespace hone::report

#endif  // HONE_REPORT_GRAPHVIZ_H_
