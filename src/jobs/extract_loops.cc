#include "jobs/extract_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/native_kernel.h"
#include "jobs/open_program.h"
#include "jobs/write_file.h"
#include "loops/kernel_file.h"

namespace hone::jobs {
namespace {

// All that make kernels, each of what those before it leave.
std::vector<tune::PlannedPass> KernelPasses() {
  std::vector<tune::PlannedPass> passes;
  for (const std::string_view pass :
       {std::string_view("call-inliner:every_call_site"), std::string_view("tuple-simplifier"),
        loops::kDepthwisePass, loops::kConvolutionPass, loops::kProductPass, loops::kKernelPass,
        loops::kTransposePass, loops::kSortPass, loops::kMatrixPass}) {
    passes.push_back({std::string(pass), {}});
  }
  return passes;
}

// Of what is more than elementwise or a movement, the last.
std::string KindOf(const loops::Task& task) {
  const auto is_whole = [](const std::string& kind) {
    return !loops::IsPointwise(kind) && kind != "transpose" && kind != "slice" &&
           kind != "broadcast" && kind != "constant";
  };
  std::string kind = "elementwise";
  for (const loops::Operation& operation : task.operations) {
    if (is_whole(operation.kind)) kind = operation.kind;
  }
  return kind;
}

FileOr<void> WriteAll(const std::string& folder, const std::vector<ExtractedTask>& tasks) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return Wrong(folder, {ErrorCode::kInvalidInput,
                          "cannot make this folder: " + error.message() + "; give another one"});
  }
  for (const ExtractedTask& one : tasks) {
    const auto path = (std::filesystem::path(folder) / (one.name + ".task")).string();
    if (auto wrote = WriteIfNamed(path, loops::TaskText(one.task)); !wrote) return wrote;
  }
  return {};
}

}  // namespace

FileOr<std::vector<ExtractedTask>> ExtractLoops(const ExtractLoopsOptions& options,
                                                const WorkerOptions& workers, Events& events) {
  const FileOr<tune::TunePlan> plan = ReadPlan(options.plan);
  if (!plan) return tl::unexpected(plan.error());
  const auto program = OpenNamed(options.file, workers, "", 1, events);
  if (!program) return tl::unexpected(program.error());
  const ClearAtEnd clear(events);
  events.Show("looking for kernels in " + options.file);
  tune::PoolEvaluator& programs = *program->programs;
  const auto state = tune::StateAfter(programs.pool(), programs.program().id,
                                      options.plan.empty() ? KernelPasses() : plan->passes);
  if (!state) return Wrong(options.file, state.error());
  const auto exported = programs.pool().Export(*state, ExportFormat::kText);
  if (!exported) return Wrong(options.file, exported.error());
  std::vector<ExtractedTask> tasks;
  for (std::string text : loops::TasksIn(exported->bytes)) {
    std::replace(text.begin(), text.end(), ';', '\n');
    StatusOr<loops::Task> task = loops::ParseTask(text);
    if (!task) return Wrong(options.file, task.error());
    tasks.push_back({"", KindOf(*task), *std::move(task)});
  }
  std::stable_sort(tasks.begin(), tasks.end(), [](const auto& a, const auto& b) {
    return loops::Flops(a.task) > loops::Flops(b.task);
  });
  for (size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].task.name = tasks[i].name = fmt::format("task{:03}_{}", i, tasks[i].kind);
  }
  if (!options.folder.empty()) {
    if (auto wrote = WriteAll(options.folder, tasks); !wrote) {
      return tl::unexpected(wrote.error());
    }
  }
  return tasks;
}

Json ToJson(const std::vector<ExtractedTask>& tasks, const ExtractLoopsOptions& options) {
  Json json = {{"file", options.file}, {"folder", options.folder}, {"tasks", Json::array()}};
  for (const ExtractedTask& one : tasks) {
    json["tasks"].push_back({{"task", one.name},
                             {"kind", one.kind},
                             {"flops", loops::Flops(one.task)},
                             {"bytes", loops::Bytes(one.task)},
                             {"text", loops::TaskText(one.task)}});
  }
  return json;
}

}  // namespace hone::jobs
