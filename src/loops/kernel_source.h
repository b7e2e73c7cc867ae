// Machine code for programs that call kernels: of a task's text, by hone-loops, under a schedule
// that was found for the task, or the one by rules of thumb.
#ifndef HONE_LOOPS_KERNEL_SOURCE_H_
#define HONE_LOOPS_KERNEL_SOURCE_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/native_kernel.h"
#include "core/result.h"
#include "loops/default_schedule.h"
#include "loops/generator.h"
#include "wire/code_files.h"

namespace hone::loops {

class KernelSource {
 public:
  // hone-loops is started when the first kernel has to be compiled. Its code is also taken from
  // files in `folder`, which processes share; "" is none.
  explicit KernelSource(GeneratorOptions options, Machine machine = ThisMachine(),
                        const std::string& folder = "");

  // `task` is as a custom call has it, with ';' for the ends of lines. Once a kernel; from any
  // thread. Errors, which are remembered too: there is no hone-loops, the text is no task, MLIR
  // refuses it.
  StatusOr<NativeKernel> Get(const std::string& task);

  // Schedules by tasks' fingerprints (in hexadecimal) for kernels that have not been asked for yet.
  // One that is not legal for its task is passed over.
  void Serve(std::map<std::string, std::string> schedules);

 private:
  StatusOr<NativeKernel> Make(const std::string& task);
  StatusOr<std::string> Compile(const Task& task);
  StatusOr<std::string> CodeOf(const Kernel& kernel);

  const GeneratorOptions options_;
  const Machine machine_;
  std::mutex mutex_;
  std::unique_ptr<Generator> generator_;
  std::unique_ptr<wire::CodeFiles> files_;  // or none
  uint64_t makers_ = 0;
  std::map<std::string, StatusOr<NativeKernel>> made_;  // by task
  std::map<std::string, std::string> schedules_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_KERNEL_SOURCE_H_
