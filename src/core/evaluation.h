// A program's results on generated or given inputs, as flat arrays.
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

struct EvaluationOptions {
  // Of the values: 0, 1 and 2 are those that every comparison takes (compiler/run/inputs.h).
  int kind = 0;
  uint64_t seed = 1;
  // Further legal runs: on inputs moved by a unit in their last place, which costs runs only, and
  // with other roundings on the way, too, which has to be compiled.
  int moved = 0;
  int noisy = 0;
  int wide = 0;     // with sums of narrow floats in f32, where there are such: the first as it is
  bool run = true;  // else only the inputs are made
  // The inputs, as Evaluation::parameters; generated ones where it is empty.
  std::vector<std::string> given;
  // After these seconds, compiling included, the worker is replaced.
  double deadline_seconds = 120;
};

// Each array is row-major and in the machine's own byte order, one for a leaf of the entry's
// parameters or result in flattened order.
struct Evaluation {
  std::vector<std::string> parameters;
  std::vector<std::string> results;
  // Of each further run, the moved ones first, the wide ones last.
  std::vector<std::vector<std::string>> noisy_results;
  std::vector<LargeConstant> constants;
};

}  // namespace hone

#endif  // HONE_CORE_EVALUATION_H_
