// A program taken apart into tasks: an expensive operation with the cheap ones around it, each a
// program of its own that can be compiled in many ways and measured alone. (TVM's tasks; XTAT's
// node level.)
#ifndef HONE_COMPILER_CUT_TASKS_H_
#define HONE_COMPILER_CUT_TASKS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {

struct CutTask {
  std::unique_ptr<xla::HloModule> module;
  std::string what;    // the name of its most expensive instruction, in the first place
  int64_t places = 0;  // that have it
  int64_t runs =
      0;  // over all places: as often as the loops around it go round, where that is known
};

// Of a program before the stock compiler has seen it, calls inlined. Each instruction is in one
// task at most, but for constants, broadcasts and conversions, which are where they are read: what
// only one task reads belongs to it, up to a dot, convolution, sort or the like and two reductions
// in each. Loops of few operations are one task, the bodies of others are taken apart. What cannot
// stand alone is left out: bitcasts that hang on layouts, side effects, tokens. In the
// order of the program; at most `most`.
std::vector<CutTask> CutTasks(const xla::HloModule& program, size_t most);

}  // namespace hone::compiler

#endif  // HONE_COMPILER_CUT_TASKS_H_
