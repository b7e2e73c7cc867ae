// Tasks with schedules, and kernels of them held against the interpreter.
#ifndef HONE_TESTS_LOOPS_KERNEL_CASES_H_
#define HONE_TESTS_LOOPS_KERNEL_CASES_H_

#include <memory>
#include <ostream>
#include <vector>

#include "loops/generator.h"

namespace hone::loops {

struct KernelCase {
  const char* name;
  const char* task;
  const char* schedule;
};
inline void PrintTo(const KernelCase& one, std::ostream* out) { *out << one.name; }

// Every operation, and their neighbourhoods; products and convolutions apart.
const std::vector<KernelCase>& KernelCases();
const std::vector<KernelCase>& ProductKernelCases();

// Null, and a failure, where hone-loops does not start.
std::unique_ptr<Generator> StartGenerator();

// The kernel compiles and computes its task.
void ExpectComputed(Generator& generator, const Task& task, const Schedule& schedule);

}  // namespace hone::loops

#endif  // HONE_TESTS_LOOPS_KERNEL_CASES_H_
