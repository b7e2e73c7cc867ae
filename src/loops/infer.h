// Shapes of what operations make.
#ifndef HONE_LOOPS_INFER_H_
#define HONE_LOOPS_INFER_H_

#include <cstdint>
#include <vector>

#include "loops/task.h"

namespace hone::loops {

using Shape = std::vector<int64_t>;
inline constexpr size_t kMostRank = 6;

// The shape of the result, of an operation without it, for operands of the shapes `in`.
// Errors: what does not fit.
StatusOr<Shape> Infer(const Operation& op, const std::vector<Shape>& in);

}  // namespace hone::loops

#endif  // HONE_LOOPS_INFER_H_
