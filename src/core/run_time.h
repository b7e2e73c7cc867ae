// How long a program takes to run.
#ifndef HONE_CORE_RUN_TIME_H_
#define HONE_CORE_RUN_TIME_H_

#include <cstdint>
#include <vector>

namespace hone {

struct RunTimeOptions {
  int runs = 5;                // at least, after one that does not count
  double least_seconds = 0.02; // runs go on until they add up to this much
  double budget_seconds = 60;  // compiling included; looked at between runs
  uint64_t seed = 0;           // of the inputs
};

// Seconds of each run on XLA:CPU, compiled as the stock compiler does, all cores that it has.
struct RunTimeReport {
  std::vector<double> seconds;
  double compile_seconds = 0;
  // Of the module that the compiler made of it, fusion bodies included; -1 where it does not tell.
  int64_t compiled_instructions = -1;
};

}  // namespace hone

#endif  // HONE_CORE_RUN_TIME_H_
