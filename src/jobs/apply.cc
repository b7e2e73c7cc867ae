#include "jobs/apply.h"

#include <utility>

#include "jobs/open_program.h"
#include "jobs/write_file.h"

namespace hone::jobs {

FileOr<Compiled> Apply(const ApplyOptions& options, const WorkerOptions& workers, Events& events) {
  if (auto fine = About(options.output, CheckWritable(options.output)); !fine) {
    return tl::unexpected(fine.error());
  }
  const FileOr<tune::TunePlan> plan = ReadPlan(options.plan);
  if (!plan) return tl::unexpected(plan.error());
  const auto program = OpenNamed(options.file, workers, "", 1, events);
  if (!program) return tl::unexpected(program.error());
  const ClearAtEnd clear(events);
  events.Show("compiling " + options.file);
  auto compiled = About(options.file, CompileUnder(*program->evaluator, *plan));
  if (!compiled) return compiled;
  if (auto wrote = WriteProgram(options.output, compiled->text, workers); !wrote) {
    return tl::unexpected(wrote.error());
  }
  return compiled;
}

Json ToJson(const Compiled& compiled, const ApplyOptions& options) {
  return {{"file", options.file},
          {"plan", options.plan},
          {"fingerprint", compiled.fingerprint.ToHex()},
          {"instructions", compiled.instructions},
          {"applied", compiled.applied},
          {"seconds", compiled.seconds},
          {"output", options.output}};
}

}  // namespace hone::jobs
