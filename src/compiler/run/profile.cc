#include "compiler/run/profile.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <unordered_map>
#include <utility>

#include "absl/strings/string_view.h"
#include "compiler/implementations/emit.h"
#include "compiler/run/execute.h"
#include "compiler/run/flags.h"
#include "compiler/run/input_roles.h"
#include "compiler/run/shared_inputs.h"
#include "compiler/run/stand_in.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/tsl/profiler/backends/cpu/traceme_recorder.h"

namespace hone::compiler {
namespace {

using Clock = std::chrono::steady_clock;

tl::unexpected<Error> Cannot(const std::string& why) {
  return MakeError(ErrorCode::kUnsupported, "it cannot be profiled: " + why);
}

// What of hone's is compiled as one kernel has none inside, as other calls have.
absl::string_view OpcodeOf(const xla::HloInstruction& instruction) {
  return instruction.frontend_attributes().map().contains(emit::kSmallCall)
             ? "one-kernel call"
             : xla::HloOpcodeString(instruction.opcode());
}

// XLA's own profiler takes microseconds more for each event, and there are millions where loops are
// of small kernels.
using Recorder = tsl::profiler::TraceMeRecorder;

constexpr int kKernels = 3;  // level of detail: kernels are told of

struct Sum {
  absl::string_view opcode;
  double seconds = 0;
  int64_t calls = 0;
};

}  // namespace

StatusOr<std::vector<KernelTime>> ProfileKernels(const xla::HloModule& module,
                                                 const CompilePlan& plan, double seconds,
                                                 const TimedInputs& timed) {
  if (auto why = WhyNotRunnableAsIs(module)) return Cannot(*why);
  CompilePlan traced = plan;
  traced.flags.emplace_back(kTraceFlag, "true");
  auto program = Program::Compile(module, CodeQuality::kStock, nullptr, traced);
  if (!program.ok()) return Cannot(std::string(program.status().message()));
  const auto optimised = program->Optimised();
  if (!optimised.ok()) return Cannot(std::string(optimised.status().message()));
  auto inputs = InputsToTime(module, timed);
  if (!inputs.ok()) return Cannot(std::string(inputs.status().message()));
  auto arguments = program->Place(**inputs);
  if (!arguments.ok()) return Cannot(std::string(arguments.status().message()));
  absl::Status ran;
  int64_t runs = 0;
  // For so many seconds, at least once.
  const auto traced_runs = [&](double least) -> StatusOr<Recorder::Events> {
    if (!Recorder::Start(kKernels)) return Cannot("something else in this process is traced");
    const Clock::time_point start = Clock::now();
    runs = 0;
    do {
      ran = program->RunAndDrop(*arguments);
      ++runs;
    } while (ran.ok() && std::chrono::duration<double>(Clock::now() - start).count() < least);
    return Recorder::Stop();
  };
  // The first run finds caches and pages cold: one that is as long as was asked for does all the
  // same.
  const Clock::time_point start = Clock::now();
  StatusOr<Recorder::Events> events = traced_runs(0);
  if (events && ran.ok() && std::chrono::duration<double>(Clock::now() - start).count() < seconds) {
    events = traced_runs(seconds);
  }
  if (!events) return tl::unexpected(events.error());
  if (!ran.ok()) return Cannot(std::string(ran.message()));

  std::unordered_map<absl::string_view, Sum> sums;
  for (const xla::HloComputation* computation : (*optimised)->computations()) {
    if (computation->IsFusionComputation()) continue;
    for (const xla::HloInstruction* instruction : computation->instructions()) {
      sums[instruction->name()].opcode = OpcodeOf(*instruction);
    }
  }
  for (const Recorder::ThreadEvents& thread : *events) {
    for (const Recorder::Event& event : thread.events) {
      if (!event.IsComplete()) continue;
      // Behind the name stands what else is told of it.
      const auto sum = sums.find(absl::string_view(event.name).substr(0, event.name.find('#')));
      if (sum == sums.end()) continue;
      sum->second.seconds += static_cast<double>(event.end_time - event.start_time) * 1e-9;
      ++sum->second.calls;
    }
  }
  std::vector<KernelTime> kernels;
  for (const auto& [name, sum] : sums) {
    if (sum.calls == 0) continue;
    kernels.push_back({std::string(name), std::string(sum.opcode),
                       sum.seconds / static_cast<double>(runs), sum.calls / runs});
  }
  if (kernels.empty()) return Cannot("XLA's trace is empty");
  std::sort(kernels.begin(), kernels.end(), [](const KernelTime& a, const KernelTime& b) {
    return a.seconds != b.seconds ? a.seconds > b.seconds : a.name < b.name;
  });
  return kernels;
}

}  // namespace hone::compiler
