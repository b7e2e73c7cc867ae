// Which opcodes are of which kind.
#include <set>
#include <string>

#include "memory/access.h"

namespace hone::memory {

bool IsElementwise(const std::string& opcode) {
  // clang-format off
  static const std::set<std::string> opcodes = {
      "abs", "acos", "acosh", "add", "and", "asin", "asinh", "atan2", "atanh", "bitcast-convert",
      "cbrt", "ceil", "clamp", "compare", "complex", "convert", "copy", "cosh", "cosine",
      "count-leading-zeros", "divide", "erf", "exponential", "exponential-minus-one", "floor",
      "imag", "is-finite", "log", "log-plus-one", "logistic", "maximum", "minimum", "multiply",
      "negate", "not", "or", "popcnt", "power", "real", "reduce-precision", "remainder",
      "round-nearest-afz", "round-nearest-even", "rsqrt", "select", "shift-left",
      "shift-right-arithmetic", "shift-right-logical", "sign", "sine", "sinh", "sqrt", "subtract",
      "tan", "tanh", "xor"};
  // clang-format on
  return opcodes.contains(opcode);
}

bool RunsBodies(const std::string& opcode) {
  return opcode == "while" || opcode == "conditional" || opcode == "rng-bit-generator";
}

bool HasExactAccess(const std::string& opcode) {
  // clang-format off
  static const std::set<std::string> opcodes = {
      "dot", "convolution", "reduce", "reduce-window", "select-and-scatter", "sort", "fft",
      "cholesky", "triangular-solve", "batch-norm-training", "batch-norm-inference",
      "batch-norm-grad", "dynamic-slice", "dynamic-update-slice", "gather", "regroup-bytes"};
  // clang-format on
  return IsElementwise(opcode) || opcodes.contains(opcode);
}

}  // namespace hone::memory
