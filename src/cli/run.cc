// hone run: passes in the order given, like hlo-opt, but no input can crash it.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/options.h"
#include "jobs/run_passes.h"

namespace hone::cli {
namespace {

struct RunFlags {
  CommonOptions common;
  jobs::RunFileOptions job;
  bool timing = false;
};

std::string Table(const std::vector<jobs::RanPass>& rows) {
  const size_t width = WidthOf("PASS", rows, &jobs::RanPass::pass);
  std::string text =
      fmt::format("{:{}}  {:9} {:>9} {:>9} {:>9}\n", "PASS", width, "", "OPS", "AFTER", "MS");
  for (const jobs::RanPass& row : rows) {
    const char* const what = !row.step.failure.empty() ? "failed"
                             : row.step.changed        ? "changed"
                                                       : "no change";
    text += fmt::format("{:{}}  {:9} {:>9} {:>9} {:>9.2f}\n", row.pass, width, what,
                        Grouped(row.before), Grouped(row.step.metrics.op_count), row.milliseconds);
  }
  return text;
}

std::string TimingText(const Timing& timing) {
  return fmt::format(
      "in XLA {:.3f} s: passes {:.3f}, copies {:.3f}, metrics {:.3f}, verifier {:.3f}; "
      "fingerprints {:.3f}, reading and writing {:.3f}\n",
      timing.InXla(), timing.passes, timing.clones, timing.metrics, timing.verifier,
      timing.fingerprints, timing.other);
}

int RunRun(const RunFlags& flags) {
  const jobs::RunFileOptions& job = flags.job;
  CommandEvents events(flags.common);
  const auto done = jobs::RunFile(job, flags.common, events);
  if (!done) return Fail(done.error(), flags.common.json);
  const jobs::RanPasses& ran = done->ran;
  for (const jobs::RanPass& row : ran.rows) {
    if (row.step.failure.empty()) continue;
    const char* const nothing = "; nothing is written (--keep-going goes on without it)";
    (void)Fail({ErrorCode::kPassFailed, fmt::format("pass '{}' fails: {}{}", row.pass,
                                                    row.step.failure, ran.bytes ? "" : nothing)},
               job.file, false);
  }
  const int code = ran.failed > 0 ? kSomeFailed : kFine;
  if (flags.common.json) {
    Json json = ToJson(*done, job);
    if (flags.timing) json["timing"] = jobs::TimingJson(done->timing);
    return Finish(json, code);
  }
  // Where the program goes to stdout, the table must not.
  const std::string report =
      (ran.rows.empty() ? "" : Table(ran.rows)) + (flags.timing ? TimingText(done->timing) : "");
  if (!job.output.empty()) return Finish(report, code);
  fmt::print(stderr, "{}", report);
  return Finish(ran.bytes.value_or(""), code);
}

}  // namespace

Run AddRun(CLI::App& app) {
  auto flags = std::make_shared<RunFlags>();
  AddWord(app, "FILE", flags->job.file, "HLO text, HloProto, HloModuleProto, HloSnapshot; .gz too");
  app.add_option("--passes", flags->job.passes,
                 "names from `hone passes`, with commas between; none writes the program back")
      ->required()
      ->type_name("A,B,C");
  app.add_option("-o,--output", flags->job.output, "write it here (.pb is binary), not to stdout")
      ->type_name("OUT");
  app.add_flag("--keep-going", flags->job.keep_going, "step over passes that fail");
  app.add_flag("--timing", flags->timing, "where the time went");
  AddProgramOptions(app, flags->common);
  return [flags] { return RunRun(*flags); };
}

}  // namespace hone::cli
