// Programs for the report's graph view: arrays over all instructions, texts in tables.
#ifndef HONE_REPORT_GRAPH_JSON_H_
#define HONE_REPORT_GRAPH_JSON_H_

#include <string>

#include "core/program_graph.h"
#include "report/json.h"

namespace hone::report {

// {"name", "computations": [[name, first, count, root], …], "names": [N],
//  "opcodes": [table], "opcode": [N], "shapes": [table], "shape": [N], "bytes": [of each shape],
//  "operands": [count, index within the computation, …, for each of N],
//  "called": [[i, [computation, …]], …], "attributes": [table], "attribute": [N, -1 for none],
//  "literals": [[i, text], …], "parameters": [[i, number], …]}
// i counts over all computations. Long attributes are cut.
Json ToJson(const ProgramGraph& graph);

// As HLO text writes it: "f32[2,3]{1,0}", "(s32[], f32[4]{0})"; long tuples are cut.
std::string ShapeText(const ShapeInfo& shape);

}  // namespace hone::report

#endif  // HONE_REPORT_GRAPH_JSON_H_
