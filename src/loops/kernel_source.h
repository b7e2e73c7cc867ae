// Machine code for programs that call kernels: of a task's text, by hone-loops, under a schedule
// that was found for the task, or the one by rules of thumb.
#ifndef HONE_LOOPS_KERNEL_SOURCE_H_
#define HONE_LOOPS_KERNEL_SOURCE_H_

#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <semaphore>
#include <string>
#include <vector>

#include "core/native_kernel.h"
#include "core/result.h"
#include "loops/default_schedule.h"
#include "loops/generator.h"
#include "wire/code_files.h"

namespace hone::loops {

class KernelSource {
 public:
  // hone-loops is started when the first kernel has to be compiled, once for each thread that this
  // machine runs at a time. Its code is also taken from files in `folder`, which processes share;
  // "" is none.
  explicit KernelSource(GeneratorOptions options, Machine machine = ThisMachine(),
                        const std::string& folder = "");

  // The kernels of `tasks`, which are as custom calls have them, with ';' for the ends of lines.
  // Each is made once, several at a time; from any thread. Errors, which are remembered too: there
  // is no hone-loops, a text is no task, MLIR refuses it.
  StatusOr<std::vector<NativeKernel>> Get(const std::vector<std::string>& tasks);

  // Schedules by tasks' fingerprints (in hexadecimal) for kernels that have not been asked for yet.
  // One that is not legal for its task is passed over.
  void Serve(std::map<std::string, std::string> schedules);

 private:
  using Made = StatusOr<NativeKernel>;
  struct Order;

  void MakeAll(std::vector<Order>& orders);
  Made Make(const std::string& task, std::unique_ptr<Generator>* generator);
  StatusOr<std::string> Compile(const Task& task, std::unique_ptr<Generator>* generator);
  StatusOr<std::string> CodeOf(const Kernel& kernel, std::unique_ptr<Generator>* generator);
  std::string ScheduleOf(const Task& task);

  const GeneratorOptions options_;
  const Machine machine_;
  std::unique_ptr<wire::CodeFiles> files_;  // or none
  uint64_t makers_ = 0;
  std::counting_semaphore<> free_;  // for those that may still be at work at a time
  std::mutex mutex_;                // of what follows
  std::vector<std::unique_ptr<Generator>> idle_;
  std::map<std::string, std::shared_future<Made>> made_;  // by task
  std::map<std::string, std::string> schedules_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_KERNEL_SOURCE_H_
