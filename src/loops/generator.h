// hone-loops, seen from the agent's side: compiles schedules, runs and times kernels. Calls always
// return, whatever MLIR, LLVM or the kernel does: a process that dies, hangs past its deadline or
// takes too much memory costs that schedule, and the next call goes on in a new one.
#ifndef HONE_LOOPS_GENERATOR_H_
#define HONE_LOOPS_GENERATOR_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/race_pairs.h"
#include "core/result.h"
#include "loops/payload.h"
#include "loops/schedule.h"
#include "loops/task.h"

namespace hone::wire {
class WorkerLink;
template <class C>
class Reply;
}  // namespace hone::wire

namespace hone::loops {

struct GeneratorOptions {
  std::string program_path;  // "" is the hone-loops beside this executable
  double compile_deadline_seconds = 20;
  double call_deadline_seconds = 120;
  size_t memory_limit_bytes = 0;  // resident; 0 is three quarters of the machine's
  bool sandbox = true;
};

// Whether there is a hone-loops; what to install where there is none.
Status FindGenerator();

// Whether a task's tensors fit into what hone-loops may take, 0 as in GeneratorOptions. Nothing is
// allocated to find out. Errors: they do not, with the sizes.
Status FitsMemory(const Task& task, size_t memory_limit_bytes = 0);

// A task under a schedule, ready to be compiled.
struct Kernel {
  std::string name;  // equal for equal kernels
  Payload payload;
  const Task* task = nullptr;
};
// Errors: the schedule is not legal.
StatusOr<Kernel> MakeKernel(const Task& task, const Schedule& schedule);

struct CompiledKernel {
  double seconds = 0;
  std::string object;        // ELF; entry and needs: loops/generator/native.h
  std::string restructured;  // `linalg` after the schedule, where texts were asked for
  std::string assembly;
  std::string processor;  // that it was made for
};

// What a task is run on.
struct InputChoice {
  int kind = 0;
  uint64_t seed = 1;
  uint64_t moved = 0;  // FillInput
};

class Generator {
 public:
  static StatusOr<std::unique_ptr<Generator>> Start(const GeneratorOptions& options);
  ~Generator();
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  // Once a process, as long as it is among the last few used; an error is remembered, too.
  StatusOr<CompiledKernel> Compile(const Kernel& kernel, bool texts = false);
  // The outputs' bytes; only those of the elements at `points` of each, where there are any.
  StatusOr<std::vector<std::string>> Run(const Kernel& kernel, const InputChoice& inputs,
                                         const std::vector<int64_t>& points = {});
  // Pairs of runs of both, in turns, each time the mean of `repeats`. Pair `first` begins with a
  // where it is even. Of one task.
  StatusOr<std::vector<PairTimes>> Time(const Kernel& a, const Kernel& b, const InputChoice& inputs,
                                        int first, int pairs, int repeats, bool cold, int threads);
  int64_t restarts() const { return restarts_; }
  int pid() const;  // -1 where none runs

 private:
  struct Held {
    uint32_t id = 0;
    uint64_t used = 0;
  };
  explicit Generator(GeneratorOptions options);
  template <class C, class Make>
  StatusOr<wire::Reply<C>> Ask(double seconds, Make make);
  Status Connect();
  StatusOr<uint32_t> Compiled(const Kernel& kernel);
  StatusOr<uint32_t> Placed(const Task& task, const InputChoice& inputs);
  // Drops those needed least recently, by calls C that `fill` writes their number into.
  template <class C, class Fill>
  Status KeepFew(std::map<std::string, Held>& held, size_t most, Fill fill);

  const GeneratorOptions options_;
  std::unique_ptr<wire::WorkerLink> link_;
  // In the process that runs now.
  std::map<std::string, Held> kernels_;
  std::map<std::string, Held> inputs_;
  std::map<std::string, Error> rejected_;
  uint32_t next_id_ = 0;
  uint64_t calls_ = 0;
  int64_t restarts_ = -1;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_GENERATOR_H_
