// Writes a neighbourhood as a task of hone-loops.
#ifndef HONE_COMPILER_IMPLEMENTATIONS_TASK_TEXT_H_
#define HONE_COMPILER_IMPLEMENTATIONS_TASK_TEXT_H_

#include <string>
#include <vector>

#include "compiler/implementations/neighbourhood.h"
#include "xla/hlo/ir/hlo_instruction.h"

namespace hone::compiler {

struct KernelTask {
  std::string text;  // loops/task.h
  std::vector<xla::HloInstruction*> inputs;
};

// What makes a product's arrays: its name in the task, the lines of its inputs, which come before
// all others, and those that define it.
struct MadeText {
  std::string name, inputs, text;
};

// The task's inputs are beside those of what is made.
KernelTask WriteTask(xla::HloInstruction* root, const Neighbourhood& neighbourhood,
                     const Space& space, const MadeText& made = {});

// In root's place, a call that makes the neighbourhood; of a product, of `inputs`, and what is made
// of its elements. Null where that is too much for a kernel.
xla::HloInstruction* CallWith(xla::HloInstruction* root, const Neighbourhood& neighbourhood,
                              const Space& space, const MadeText& made = {},
                              std::vector<xla::HloInstruction*> inputs = {});

}  // namespace hone::compiler

#endif  // HONE_COMPILER_IMPLEMENTATIONS_TASK_TEXT_H_
