// hone run: passes in the order given, like hlo-opt, but no input can crash it.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/input.h"
#include "cli/output.h"
#include "jobs/run_passes.h"
#include "tune/recipe.h"

namespace hone::cli {
namespace {

struct RunOptions {
  CommonOptions common;
  std::string file;
  std::string passes;
  std::string output;
  bool timing = false;
  bool keep_going = false;
};

std::string Table(const std::vector<jobs::RanPass>& rows) {
  size_t width = 4;
  for (const jobs::RanPass& row : rows) width = std::max(width, row.pass.size());
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

int RunRun(const RunOptions& options) {
  const bool json = options.common.json;
  if (Status fine = MayWrite(options.output); !fine) {
    return Fail(fine.error(), options.output, json);
  }
  auto data = ReadNamed(options.file, options.common);
  if (!data) return Fail(data.error(), json);
  auto started = StartPool(options.common);
  if (!started) return Fail(started.error(), json);
  Pool& pool = **started;
  const auto passes = FindPasses(pool.passes(), jobs::SplitNames(options.passes));
  if (!passes) return Fail(passes.error(), json);
  const StatusOr<ProgramInfo> program = pool.Load(*std::move(data));
  if (!program) return Fail(program.error(), options.file, json);
  const ExportFormat format = FormatFor(options.output);
  if (program->elided_constants) {
    if (format == ExportFormat::kProto) {
      return Fail({ErrorCode::kInvalidInput,
                   "its text has elided constants, {...}, and a binary would hold made-up values "
                   "for them; write text, dump it again with large constants, or give "
                   "--stand-in-constants if that is what you want"},
                  options.file, json);
    }
    Warn(options.file,
         "its text has elided constants, {...}: it cannot be run, and what passes compute from "
         "them is made up");
  }
  WarnOfStandIns(options.file, *program);
  CommandEvents events(options.common.ShowProgress());
  const StatusOr<jobs::RanPasses> ran =
      RunPasses(pool, *program, {*passes, options.keep_going, format}, events);
  if (!ran) return Fail(ran.error(), options.file, json);
  for (const jobs::RanPass& row : ran->rows) {
    if (row.step.failure.empty()) continue;
    const char* const nothing = "; nothing is written (--keep-going goes on without it)";
    (void)Fail({ErrorCode::kPassFailed, fmt::format("pass '{}' fails: {}{}", row.pass,
                                                    row.step.failure, ran->bytes ? "" : nothing)},
               options.file, false);
  }
  const bool to_file = ran->bytes && !options.output.empty();
  if (to_file) {
    if (Status wrote = WriteProgram(options.output, *ran->bytes, options.common); !wrote) {
      return Fail(wrote.error(), options.output, json);
    }
  }
  const int code = ran->failed > 0 ? kSomeFailed : kFine;
  if (json) {
    Json result{{"file", options.file}};
    result.update(ToJson(*ran, *program));
    if (to_file) result["output"] = options.output;
    if (ran->bytes && !to_file) result["hlo"] = *ran->bytes;
    if (options.timing) result["timing"] = TimingJson(pool.timing());
    return Finish(result, code);
  }
  // Where the program goes to stdout, the table must not.
  const std::string report = (ran->rows.empty() ? "" : Table(ran->rows)) +
                             (options.timing ? TimingText(pool.timing()) : "");
  if (!options.output.empty()) return Finish(report, code);
  fmt::print(stderr, "{}", report);
  return Finish(ran->bytes.value_or(""), code);
}

}  // namespace

Run AddRun(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  app.add_option("FILE", options->file, "HLO text, HloProto, HloModuleProto, HloSnapshot; .gz too")
      ->required()
      ->type_name("");
  app.add_option("--passes", options->passes,
                 "names from `hone passes`, with commas between; none writes the program back")
      ->required()
      ->type_name("A,B,C");
  app.add_option("-o,--output", options->output, "write it here (.pb is binary), not to stdout")
      ->type_name("OUT");
  app.add_flag("--keep-going", options->keep_going, "step over passes that fail");
  app.add_flag("--timing", options->timing, "where the time went");
  AddDatasetsOption(app, options->common.datasets);
  AddCommonOptions(app, options->common);
  return [options] { return RunRun(*options); };
}

}  // namespace hone::cli
