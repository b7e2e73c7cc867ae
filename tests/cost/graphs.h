// Optimised programs, put together by hand.
#ifndef HONE_TESTS_COST_GRAPHS_H_
#define HONE_TESTS_COST_GRAPHS_H_

#include <string>
#include <utility>
#include <vector>

#include "core/program_graph.h"

namespace hone::cost {

inline ShapeInfo F32(std::vector<int64_t> dimensions) {
  ShapeInfo shape;
  shape.type = "f32";
  shape.bytes = 4;
  for (int64_t extent : dimensions) shape.bytes *= extent;
  for (size_t d = dimensions.size(); d-- > 0;) {
    shape.minor_to_major.push_back(static_cast<int64_t>(d));
  }
  shape.dimensions = std::move(dimensions);
  return shape;
}

// Adds an instruction and returns its index.
inline uint32_t Add(ComputationInfo& to, std::string opcode, ShapeInfo shape,
                    std::vector<uint32_t> operands = {}) {
  InstructionInfo instruction;
  instruction.opcode = std::move(opcode);
  instruction.shape = std::move(shape);
  instruction.operands = std::move(operands);
  if (instruction.opcode == "parameter") {
    instruction.parameter = 0;
    for (const InstructionInfo& known : to.instructions) {
      instruction.parameter += known.parameter >= 0 ? 1 : 0;
    }
  }
  to.instructions.push_back(std::move(instruction));
  to.root = static_cast<uint32_t>(to.instructions.size() - 1);
  return to.root;
}

}  // namespace hone::cost

#endif  // HONE_TESTS_COST_GRAPHS_H_
