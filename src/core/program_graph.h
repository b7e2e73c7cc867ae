// A neutral, complete picture of a program for those who have no XLA: planners, reports, features.
#ifndef HONE_CORE_PROGRAM_GRAPH_H_
#define HONE_CORE_PROGRAM_GRAPH_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hone {

struct ShapeInfo {
  std::string type;  // XLA's element type in lower case, or "tuple", "token", "opaque"
  std::vector<int64_t> dimensions;
  std::vector<int64_t> minor_to_major;  // empty where the shape has no layout
  int64_t bytes = 0;                    // of the whole shape, tuple elements included
  std::vector<ShapeInfo> tuple;
};

struct InstructionInfo {
  std::string name;
  std::string opcode;
  ShapeInfo shape;
  std::vector<uint32_t> operands;  // indices into the computation's instructions
  std::vector<uint32_t> called;    // indices into the program's computations
  std::vector<std::pair<std::string, std::string>> attributes;  // values as HLO text writes them
  int32_t parameter = -1;          // parameter number, -1 for others
  std::string literal;             // of constants of at most 16 elements
  // What the framework calls it and where it was written, "top_k@59": the same behind inlining,
  // which renames. Empty where the program does not tell.
  std::string origin;
};

struct ComputationInfo {
  std::string name;
  std::vector<InstructionInfo> instructions;  // operands before users
  uint32_t root = 0;
};

struct ProgramGraph {
  std::string name;
  std::vector<ComputationInfo> computations;  // callees before callers; the entry is last
};

}  // namespace hone

#endif  // HONE_CORE_PROGRAM_GRAPH_H_
