// A program as arrays, for graph networks: compressed sparse rows over all its instructions.
#ifndef HONE_CORE_PROGRAM_ARRAYS_H_
#define HONE_CORE_PROGRAM_ARRAYS_H_

#include <cstdint>
#include <vector>

namespace hone {

// Dimensions beyond these are left out of ProgramArrays::dimensions.
inline constexpr int kArrayDimensions = 6;

enum class EdgeKind : int8_t {
  kOperand,  // from an operand to its user
  kCall,     // from the root of a computation to an instruction that calls it
  kControl,  // from a control predecessor
};

// N nodes: the instructions of every computation reachable from the entry, callees before callers,
// operands before users; the last node is the entry's last. E edges, grouped by the node they enter.
struct ProgramArrays {
  std::vector<int32_t> opcode;       // [N] index into Pool::opcodes()
  std::vector<int32_t> type;         // [N] XLA's PrimitiveType number of the result
  std::vector<int32_t> rank;         // [N] 0 for scalars and tuples
  std::vector<int32_t> computation;  // [N] ascending from 0
  std::vector<int64_t> dimensions;   // [N, kArrayDimensions] row-major, 0 beyond the rank
  std::vector<float> flops;          // [N] of one execution, XLA's HloCostAnalysis; 0 if unknown
  std::vector<float> bytes;          // [N] of the result, tuple elements included
  std::vector<int32_t> edge_start;   // [N + 1] edges that enter node i: edge_start[i] to [i + 1]
  std::vector<int32_t> edge_source;  // [E] the node that an edge leaves
  std::vector<int8_t> edge_kind;     // [E] EdgeKind
};

}  // namespace hone

#endif  // HONE_CORE_PROGRAM_ARRAYS_H_
