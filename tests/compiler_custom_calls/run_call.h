// One custom call as a program of its own, compiled and run by XLA.
#ifndef HONE_TESTS_COMPILER_CUSTOM_CALLS_RUN_CALL_H_
#define HONE_TESTS_COMPILER_CUSTOM_CALLS_RUN_CALL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "matrix.h"
#include "xla/literal.h"
#include "xla/xla_data.pb.h"

namespace hone::compiler {

// An array of matrices, of vectors or of numbers: its own dimensions come after the batch's one.
struct Argument {
  xla::PrimitiveType type;
  std::vector<int64_t> dimensions;  // with the batch's
  std::vector<Matrix> values;       // one for each of the batch
};
Argument Matrices(xla::PrimitiveType type, std::vector<Matrix> values);
// The values' only columns.
Argument Vectors(xla::PrimitiveType type, std::vector<Matrix> values);

struct ResultShape {
  xla::PrimitiveType type;
  std::vector<int64_t> dimensions;  // without the batch's
};

struct CallText {
  std::string target;
  std::string config;  // attributes: "uplo = 76 : ui8"
};

// results[r][b]: of result r for the b-th of the batch; vectors as single columns. Matrices lie
// column by column at the call, as JAX has them.
using CallResults = std::vector<std::vector<Matrix>>;
absl::StatusOr<CallResults> RunCall(const CallText& call, const std::vector<Argument>& arguments,
                                    const std::vector<ResultShape>& results);

}  // namespace hone::compiler

#endif  // HONE_TESTS_COMPILER_CUSTOM_CALLS_RUN_CALL_H_
