#include "jobs/kernels.h"

#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "jobs/version.h"
#include "loops/kernel_file.h"
#include "loops/kernel_source.h"

namespace hone::jobs {
namespace {

// One for all pools: what was compiled is.
loops::KernelSource& Source(bool sandbox, const std::string& folder, const std::string& program) {
  static loops::KernelSource source = [&] {
    loops::GeneratorOptions options;
    options.program_path = program;
    options.sandbox = sandbox;
    return loops::KernelSource(options, loops::ThisMachine(), folder);
  }();
  return source;
}

// What ServeSchedules has read.
std::map<std::string, std::string>& Served() {
  static std::map<std::string, std::string> schedules;
  return schedules;
}

// In the store's lessons: of a stage that is none of `hone tune`'s, a task's fingerprint, its
// schedule.
constexpr char kStage[] = "loops";

store::Place Here() { return store::ThisPlace("", HoneVersion()); }

}  // namespace

Status ServeSchedules(const store::Store& store) {
  const StatusOr<std::vector<store::Lesson>> lessons = store.Lessons(Here());
  if (!lessons) return tl::unexpected(lessons.error());
  std::map<std::string, std::string> schedules;
  for (const store::Lesson& lesson : *lessons) {
    if (lesson.stage == kStage && lesson.gain > 0) schedules[lesson.key] = lesson.value;
  }
  if (!schedules.empty()) Served() = std::move(schedules);
  return {};
}

Status KeepSchedule(store::Store& store, const loops::Task& task, const loops::Schedule& schedule,
                    double speedup) {
  return store.AddLessons(Here(), {{kStage, loops::FingerprintOf(task).ToHex(),
                                    loops::ScheduleText(schedule), std::log(speedup), task.name}});
}

loops::MakeKernels KernelMaker(bool sandbox, const std::string& folder,
                               const std::string& program) {
  std::error_code error;
  const bool found = program.empty() ? loops::FindGenerator().has_value()
                                     : std::filesystem::exists(program, error);
  if (!found) return nullptr;
  loops::KernelSource& made = Source(sandbox, folder, program);
  if (!Served().empty()) made.Serve(Served());
  return [&source = made](const std::vector<std::string>& tasks) { return source.Get(tasks); };
}

StatusOr<std::string> KernelsOf(std::string_view program, const loops::MakeKernels& make) {
  const std::vector<std::string> tasks = loops::TasksIn(program);
  if (tasks.empty()) return std::string();
  if (make == nullptr) return tl::unexpected(loops::FindGenerator().error());
  const StatusOr<std::vector<loops::NativeKernel>> kernels = make(tasks);
  if (!kernels) return tl::unexpected(kernels.error());
  return loops::KernelFile(*kernels);
}

}  // namespace hone::jobs
