// What a task means: its operations as plain loops in double precision, written down once more. It
// shares nothing with nests, payloads or MLIR, whose work it judges.
#ifndef HONE_LOOPS_INTERPRET_H_
#define HONE_LOOPS_INTERPRET_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "loops/task.h"

namespace hone::loops {

// The values of a tensor; of those that were not asked for, zero.
using Values = std::vector<double>;

// The outputs' elements on these inputs, rounded to their types once, at the end. With `points`,
// only those elements of each output, and of all others only what they need, where that is told
// cheaply. Every output has every point.
//
// With `noise`, a seed, as a legal program in the element type might have it: each intermediate
// result is off by up to one unit in its last place, and sums are taken one after another.
//
// `over` is asked now and then; nothing is returned once it has said yes.
std::vector<Values> Interpret(const Task& task, std::vector<Values> inputs,
                              const std::vector<int64_t>& points = {}, uint64_t noise = 0,
                              const std::function<bool()>& over = {});

}  // namespace hone::loops

#endif  // HONE_LOOPS_INTERPRET_H_
