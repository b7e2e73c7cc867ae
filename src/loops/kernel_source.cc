#include "loops/kernel_source.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace hone::loops {

KernelSource::KernelSource(GeneratorOptions options, Machine machine)
    : options_(std::move(options)), machine_(machine) {}

StatusOr<NativeKernel> KernelSource::Get(const std::string& task) {
  const std::lock_guard lock(mutex_);
  if (const auto found = made_.find(task); found != made_.end()) return found->second;
  return made_.emplace(task, Make(task)).first->second;
}

void KernelSource::Serve(std::map<std::string, std::string> schedules) {
  const std::lock_guard lock(mutex_);
  schedules_ = std::move(schedules);
}

StatusOr<CompiledKernel> KernelSource::Compile(const Task& task) {
  if (const auto found = schedules_.find(FingerprintOf(task).ToHex()); found != schedules_.end()) {
    const StatusOr<Schedule> schedule = ParseSchedule(found->second);
    if (schedule) {
      const StatusOr<Kernel> kernel = MakeKernel(task, *schedule);
      if (kernel) {
        StatusOr<CompiledKernel> compiled = generator_->Compile(*kernel);
        if (compiled) return compiled;
      }
    }
  }
  const StatusOr<Kernel> kernel = MakeKernel(task, DefaultSchedule(loops::Expand(task), machine_));
  if (!kernel) return tl::unexpected(kernel.error());
  return generator_->Compile(*kernel);
}

StatusOr<NativeKernel> KernelSource::Make(const std::string& task) {
  std::string text = task;
  std::replace(text.begin(), text.end(), ';', '\n');
  const StatusOr<Task> parsed = ParseTask(text);
  if (!parsed) {
    return MakeError(parsed.error().code,
                     "a custom call hone_loops has no task: " + parsed.error().message);
  }
  if (generator_ == nullptr) {
    StatusOr<std::unique_ptr<Generator>> started = Generator::Start(options_);
    if (!started) return tl::unexpected(started.error());
    generator_ = *std::move(started);
  }
  StatusOr<CompiledKernel> compiled = Compile(*parsed);
  if (!compiled) return tl::unexpected(compiled.error());
  NativeKernel made{KernelName(task), std::move(compiled->object), {}};
  const auto add = [&](int tensor) {
    made.bytes.push_back(
        static_cast<int64_t>(parsed->tensors[static_cast<size_t>(tensor)].bytes()));
  };
  for (int i = 0; i < parsed->inputs; ++i) add(i);
  for (const int output : parsed->outputs) add(output);
  return made;
}

}  // namespace hone::loops
