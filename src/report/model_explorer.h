// Programs for Model Explorer (github.com/google-ai-edge/model-explorer), as its graph JSON.
#ifndef HONE_REPORT_MODEL_EXPLORER_H_
#define HONE_REPORT_MODEL_EXPLORER_H_

#include "core/program_graph.h"
#include "report/json.h"

namespace hone::report {

// A graph collection. The first graph is the entry; a computation that is called from one place
// only lies within its caller, as a namespace of that one's name; others are graphs of their own,
// to which their callers lead (subgraphIds).
Json ToModelExplorer(const ProgramGraph& graph);

}  // namespace hone::report

#endif  // HONE_REPORT_MODEL_EXPLORER_H_
