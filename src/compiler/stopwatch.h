// Adds the time that it lives to a total, in seconds.
#ifndef HONE_COMPILER_STOPWATCH_H_
#define HONE_COMPILER_STOPWATCH_H_

#include <chrono>

namespace hone::compiler {

class Stopwatch {
 public:
  explicit Stopwatch(double& total) : total_(total), start_(Clock::now()) {}
  ~Stopwatch() { total_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double& total_;
  const Clock::time_point start_;
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_STOPWATCH_H_
