#include "report/sections/graphs.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "report/graph_json.h"
#include "report/graphviz.h"
#include "report/model_explorer.h"
#include "report/reachable.h"

namespace hone::report {
namespace {

ShapeInfo Array(std::vector<int64_t> dimensions) {
  ShapeInfo shape;
  shape.type = "f32";
  shape.bytes = 4;
  for (int64_t d = static_cast<int64_t>(dimensions.size()); d-- > 0;) {
    shape.minor_to_major.push_back(d);
    shape.bytes *= dimensions[static_cast<size_t>(d)];
  }
  shape.dimensions = std::move(dimensions);
  return shape;
}

InstructionInfo Instruction(const std::string& name, const std::string& opcode,
                            std::vector<uint32_t> operands, std::vector<uint32_t> called = {}) {
  InstructionInfo instruction;
  instruction.name = name;
  instruction.opcode = opcode;
  instruction.shape = Array({2, 3});
  instruction.operands = std::move(operands);
  instruction.called = std::move(called);
  return instruction;
}

// The sum of a fused square and itself, doubled by a computation that two calls share.
ProgramGraph Program() {
  ProgramGraph graph;
  graph.name = "a \"program\"";
  graph.computations = {
      {"fused",
       {Instruction("p.0", "parameter", {}), Instruction("square", "multiply", {0, 0})},
       1},
      {"shared", {Instruction("p.1", "parameter", {}), Instruction("double", "add", {0, 0})}, 1},
      {"main",
       {Instruction("x", "parameter", {}), Instruction("fusion", "fusion", {0}, {0}),
        Instruction("call.0", "call", {1}, {1}), Instruction("call.1", "call", {2}, {1})},
       3}};
  graph.computations[0].instructions[0].parameter = 0;
  graph.computations[2].instructions[1].attributes = {{"kind", "kLoop"}, {"calls", "fused"}};
  return graph;
}

TEST(ShapeText, IsAsHloTextWritesIt) {
  EXPECT_EQ(ShapeText(Array({2, 3})), "f32[2,3]{1,0}");
  ShapeInfo tuple;
  tuple.type = "tuple";
  tuple.tuple = {Array({2}), Array({3})};
  EXPECT_EQ(ShapeText(tuple), "(f32[2]{0}, f32[3]{0})");
  tuple.tuple.resize(20, Array({1}));
  EXPECT_NE(ShapeText(tuple).find("… 12 more)"), std::string::npos);
}

TEST(Reachable, LeavesOutWhatNothingCalls) {
  ProgramGraph graph = Program();
  // A dead computation in the middle, and one behind the entry, which calls a live one.
  graph.computations.insert(graph.computations.begin() + 1,
                            {"dead", {Instruction("p.2", "parameter", {})}, 0});
  for (InstructionInfo& instruction : graph.computations[3].instructions) {
    for (uint32_t& callee : instruction.called) callee += callee >= 1 ? 1 : 0;
  }
  graph.computations.push_back({"behind", {Instruction("call.2", "call", {}, {0})}, 0});
  EXPECT_EQ(ToJson(Reachable(graph)), ToJson(Program()));
  EXPECT_EQ(ToModelExplorer(graph)["graphs"].size(), 2u);
}

TEST(GraphJson, HasEveryInstructionInTablesAndArrays) {
  const Json json = ToJson(Program());
  EXPECT_EQ(json["names"].size(), 8u);
  EXPECT_EQ(json["computations"][2], Json({"main", 4, 4, 3}));
  EXPECT_EQ(json["shapes"], Json({"f32[2,3]{1,0}"}));
  EXPECT_EQ(json["bytes"], Json({24}));
  EXPECT_EQ(json["operands"], Json::parse("[0, 2,0,0, 0, 2,0,0, 0, 1,0, 1,1, 1,2]"));
  EXPECT_EQ(json["called"], Json::parse("[[5,[0]],[6,[1]],[7,[1]]]"));
  EXPECT_EQ(json["attributes"], Json({"kind=kLoop\ncalls=fused"}));
  EXPECT_EQ(json["attribute"][5], 0);
  EXPECT_EQ(json["attribute"][4], -1);
  EXPECT_EQ(json["opcodes"][json["opcode"][7].get<size_t>()], "call");
}

TEST(GraphJson, LongAttributesAreCutBetweenCharacters) {
  ProgramGraph graph = Program();
  std::string umlauts;
  for (int i = 0; i < 200; ++i) umlauts += "ä";
  graph.computations[2].instructions[0].attributes = {{"a", umlauts + umlauts}};
  const std::string text = ToJson(graph)["attributes"][0];
  EXPECT_LT(text.size(), 260u);
  EXPECT_NO_THROW((void)Json(text).dump());
}

TEST(Graphs, ViewsHaveTheirMarks) {
  const ProgramGraph graph = Program();
  const Json json = ToSection(Graphs{"note", {{"before", &graph, {{"x", "here"}}}}});
  EXPECT_EQ(json["views"][0]["marks"], Json::parse(R"([["x","here"]])"));
  EXPECT_EQ(json["views"][0]["graph"]["name"], "a \"program\"");
}

TEST(ModelExplorer, NestsWhatIsCalledOnceAndLeadsToWhatIsShared) {
  const Json json = ToModelExplorer(Program());
  ASSERT_EQ(json["graphs"].size(), 2u);
  EXPECT_EQ(json["graphs"][0]["id"], "main");
  EXPECT_EQ(json["graphs"][1]["id"], "shared");
  std::set<std::string> ids;
  for (const Json& node : json["graphs"][0]["nodes"]) {
    ids.insert(node["id"].get<std::string>());
    if (node["id"] == "square") {
      EXPECT_EQ(node["namespace"], "fusion");
      EXPECT_EQ(node["incomingEdges"].size(), 2u);
      EXPECT_EQ(node["incomingEdges"][1]["sourceNodeId"], "p.0");
      EXPECT_EQ(node["incomingEdges"][1]["targetNodeInputId"], "1");
    }
    if (node["id"] == "call.0") {
      EXPECT_EQ(node["subgraphIds"], Json({"shared"}));
    }
    if (node["id"] == "fusion") {
      EXPECT_FALSE(node.contains("subgraphIds"));
    }
  }
  EXPECT_EQ(ids, (std::set<std::string>{"p.0", "square", "x", "fusion", "call.0", "call.1"}));
}

TEST(Graphviz, HasAClusterForEachComputationAndQuotesNames) {
  const std::string dot = ToGraphviz(Program());
  EXPECT_EQ(dot.rfind("digraph \"a \\\"program\\\"\" {", 0), 0u) << dot;
  for (const char* line :
       {"subgraph cluster_2 {", "c0_0 -> c0_1;", "c2_0 -> c2_1;",
        "c2_1 -> c0_1 [style=dotted, lhead=cluster_0];", "c2_1 [label=\"fusion\\nf32[2,3]{1,0}\"];",
        "c2_3 [label=\"call.1\\nf32[2,3]{1,0}\", penwidth=2];"}) {
    EXPECT_NE(dot.find(line), std::string::npos) << line << "\n" << dot;
  }
}

}  // namespace
}  // namespace hone::report
