#include "compiler/run/run_time.h"

#include <chrono>
#include <string>

#include "compiler/run/execute.h"
#include "compiler/run/input_roles.h"
#include "compiler/run/shared_inputs.h"
#include "compiler/run/stand_in.h"

namespace hone::compiler {
namespace {

tl::unexpected<Error> CannotTime(const std::string& why) {
  return MakeError(ErrorCode::kUnsupported, "its run time cannot be measured: " + why);
}

}  // namespace

StatusOr<RunTimeReport> MeasureRunTime(const xla::HloModule& module, const RunTimeOptions& options,
                                       const TimedInputs& timed) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const auto since = [](Clock::time_point then) {
    return std::chrono::duration<double>(Clock::now() - then).count();
  };
  if (auto why = WhyNotRunnableAsIs(module)) return CannotTime(*why);
  auto program = Program::Compile(module, CodeQuality::kStock);
  if (!program.ok()) return CannotTime(std::string(program.status().message()));
  RunTimeReport report;
  report.compile_seconds = since(start);
  report.compiled_instructions = program->InstructionCount();
  auto inputs = InputsToTime(module, timed);
  if (!inputs.ok()) return CannotTime(std::string(inputs.status().message()));
  auto arguments = program->Place(**inputs);
  if (!arguments.ok()) return CannotTime(std::string(arguments.status().message()));
  double sum = 0;
  for (int run = -1; run < options.runs || sum < options.least_seconds; ++run) {
    if (!report.seconds.empty() && since(start) > options.budget_seconds) break;
    const Clock::time_point begin = Clock::now();
    const absl::Status ran = program->RunAndDrop(*arguments);
    const double seconds = since(begin);
    if (!ran.ok()) return CannotTime(std::string(ran.message()));
    if (run < 0) continue;  // caches and pages are cold
    report.seconds.push_back(seconds);
    sum += seconds;
  }
  return report;
}

}  // namespace hone::compiler
