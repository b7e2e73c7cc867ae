// The sites of a listing in the graph of the same state: HloEnv's view, in which the edges from an
// instruction to its users carry alternative producers.
#ifndef HONE_ENV_ALTERNATIVES_H_
#define HONE_ENV_ALTERNATIVES_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/program_arrays.h"
#include "core/program_graph.h"
#include "core/rewrite.h"

namespace hone {

// A originals, S sites, U edges that alternatives would take over.
struct Alternatives {
  std::vector<int32_t> original;    // [A] nodes of ProgramArrays that have alternatives, ascending
  std::vector<int32_t> site_start;  // [A + 1] sites of original i: site_start[i] to [i + 1]
  std::vector<int32_t> site;        // [S] numbers of sites, as the pass asked
  std::vector<int32_t> user_start;  // [A + 1] likewise of
  std::vector<int32_t> user;        // [U] the nodes that use the original as an operand
};

// The node of each site's original; -1 where it is not there (a site that another one enables).
std::vector<int32_t> NodesOfSites(const ProgramGraph& graph, const Rewrites& rewrites);
Alternatives FindAlternatives(const ProgramArrays& arrays, const std::vector<int32_t>& nodes);

// Nodes in the order of ProgramArrays, as (computation, instruction) of the graph.
std::vector<std::pair<uint32_t, uint32_t>> NodesOf(const ProgramGraph& graph);

// The opcode of the last instruction of a site's text; empty where there is none.
std::string_view RootOpcode(std::string_view text);

}  // namespace hone

#endif  // HONE_ENV_ALTERNATIVES_H_
