// What a program computes of generated inputs, as flat arrays.
#ifndef HONE_CORE_EVALUATION_H_
#define HONE_CORE_EVALUATION_H_

#include <cstdint>
#include <string>
#include <vector>

namespace hone {

// A constant whose value ProgramGraph leaves out.
struct LargeConstant {
  uint32_t computation = 0;  // index into ProgramGraph::computations
  uint32_t instruction = 0;
  std::string bytes;
};

// Each array is row-major and in the machine's own byte order, one for a leaf of the entry's
// parameters or result in flattened order.
struct Evaluation {
  std::vector<std::string> parameters;
  std::vector<std::string> results;
  // The same with every floating-point input moved by a unit in its last place: how much of a result
  // is rounding noise.
  std::vector<std::string> noisy_results;
  std::vector<LargeConstant> constants;
};

}  // namespace hone

#endif  // HONE_CORE_EVALUATION_H_
