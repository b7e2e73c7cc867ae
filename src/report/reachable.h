// The computations of a program that its entry reaches.
#ifndef HONE_REPORT_REACHABLE_H_
#define HONE_REPORT_REACHABLE_H_

#include "core/program_graph.h"

namespace hone::report {

// Without the computations that passes have left behind, which nothing calls any more: only what is
// reached from the entry, callees before callers, the entry last. The entry is, of the computations
// that nothing calls, the one that reaches most instructions.
ProgramGraph Reachable(const ProgramGraph& graph);

}  // namespace hone::report

#endif  // HONE_REPORT_REACHABLE_H_
