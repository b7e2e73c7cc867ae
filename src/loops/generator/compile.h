// A module and a script to machine code.
#ifndef HONE_LOOPS_GENERATOR_COMPILE_H_
#define HONE_LOOPS_GENERATOR_COMPILE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/result.h"

namespace hone::loops {

struct CompileRequest {
  std::string module;
  std::string script;
  std::vector<std::string> vectorized;
  std::vector<std::pair<std::string, int64_t>> unrolled;
  size_t buffers = 0;
  bool texts = false;
};

struct CompileResult {
  std::string object;
  std::string restructured;
  std::string assembly;
};

// Errors: MLIR or LLVM refuses it, with its reason.
StatusOr<CompileResult> Compile(const CompileRequest& request);

}  // namespace hone::loops

#endif  // HONE_LOOPS_GENERATOR_COMPILE_H_
