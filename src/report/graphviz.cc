#include "report/graphviz.h"

#include <fmt/format.h>

#include "report/graph_json.h"
#include "report/reachable.h"

namespace hone::report {
namespace {

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c == '\n' ? ' ' : c;
  }
  return quoted + "\"";
}

}  // namespace

std::string ToGraphviz(const ProgramGraph& program) {
  const ProgramGraph graph = Reachable(program);
  std::string dot = fmt::format(
      "digraph {} {{\n  compound=true;\n  node [shape=box, style=rounded, fontname=\"sans-serif\", "
      "fontsize=10];\n  edge [arrowsize=0.6];\n",
      Quoted(graph.name));
  const auto id = [](size_t computation, size_t instruction) {
    return fmt::format("c{}_{}", computation, instruction);
  };
  std::string calls;
  for (size_t c = 0; c < graph.computations.size(); ++c) {
    const ComputationInfo& computation = graph.computations[c];
    dot += fmt::format("  subgraph cluster_{} {{\n    label={};\n    color=gray;\n", c,
                       Quoted(computation.name));
    for (size_t i = 0; i < computation.instructions.size(); ++i) {
      const InstructionInfo& instruction = computation.instructions[i];
      std::string label = Quoted(instruction.name);
      label.insert(label.size() - 1, "\\n");  // a line's end, to dot
      const std::string shape = Quoted(ShapeText(instruction.shape));
      label.insert(label.size() - 1, shape.substr(1, shape.size() - 2));
      dot += fmt::format("    {} [label={}{}];\n", id(c, i), label,
                         i == computation.root ? ", penwidth=2" : "");
      for (uint32_t operand : instruction.operands) {
        dot += fmt::format("    {} -> {};\n", id(c, operand), id(c, i));
      }
      for (uint32_t callee : instruction.called) {
        calls += fmt::format("  {} -> {} [style=dotted, lhead=cluster_{}];\n", id(c, i),
                             id(callee, graph.computations[callee].root), callee);
      }
    }
    dot += "  }\n";
  }
  return dot + calls + "}\n";
}

}  // namespace hone::report
