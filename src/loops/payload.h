// What hone-loops is given: a program as `linalg` on tensors, and its schedule as a transform
// script. Both are MLIR's own text (MLIR 19; the transform dialect: Lücke et al., "The MLIR
// Transform Dialect", CGO 2025).
#ifndef HONE_LOOPS_PAYLOAD_H_
#define HONE_LOOPS_PAYLOAD_H_

#include <string>
#include <vector>

#include "loops/machine.h"
#include "loops/schedule.h"

namespace hone::loops {

struct Payload {
  std::string module;  // func.func @task: inputs, then outputs, as memrefs
  std::string script;  // transform.named_sequence @__transform_main, in a module of its own
  std::vector<std::string> vectorized;                    // sites, and the fills of their results
  std::vector<std::pair<std::string, int64_t>> unrolled;  // sites, and how often
  Unit unit = Unit::kVectors;  // which the processor must have
};

Payload MakePayload(const Scheduled& scheduled);

}  // namespace hone::loops

#endif  // HONE_LOOPS_PAYLOAD_H_
