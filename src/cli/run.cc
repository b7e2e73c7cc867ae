// hone run: passes in the order given, like hlo-opt, but no input can crash it.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/input.h"
#include "cli/kernels.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "tune/recipe.h"

namespace hone::cli {
namespace {

// Some passes of XLA's do not make the same each time: so often is it tried to write what was seen.
constexpr int kTries = 3;

struct Options {
  CommonOptions common;
  std::string file;
  std::string passes;
  std::string output;
  bool timing = false;
  bool keep_going = false;
};

struct Row {
  std::string pass;
  Step step;
  int64_t before = 0;  // op count
  double milliseconds = 0;
};

// Everything that a run of the passes gave.
struct Outcome {
  std::vector<Row> rows;
  StateName state;
  Fingerprint fingerprint;
  int failed = 0;
};

std::vector<std::string> SplitNames(const std::string& list) {
  std::vector<std::string> names;
  std::stringstream stream(list);
  for (std::string name; std::getline(stream, name, ',');) {
    const size_t first = name.find_first_not_of(" \t\n");
    if (first == name.npos) continue;
    names.push_back(name.substr(first, name.find_last_not_of(" \t\n") - first + 1));
  }
  return names;
}

// A pass that changes nothing that the fingerprint sees may still have changed the order of the
// instructions, so every pass that did not fail becomes a link of the state's name.
void AddRow(const Pool& pool, Row row, Outcome& outcome) {
  row.pass = pool.passes()[row.step.pass].name;
  row.before = outcome.rows.empty() ? row.before : outcome.rows.back().step.metrics.op_count;
  if (row.step.failure.empty()) {
    outcome.state.links.push_back({row.step.pass, row.step.state});
    outcome.fingerprint = row.step.state;
  } else {
    ++outcome.failed;
    row.step.metrics.op_count = row.before;
  }
  outcome.rows.push_back(std::move(row));
}

// Pass by pass, so that each has its time, and a failure ends the run.
StatusOr<Outcome> RunEach(Pool& pool, const ProgramInfo& program, const std::vector<PassId>& passes,
                          const Options& options) {
  Progress progress(options.common.ShowProgress());
  Outcome outcome{{}, {program.id, {}}, program.fingerprint, 0};
  for (size_t i = 0; i < passes.size(); ++i) {
    progress.Show(
        fmt::format("pass {} of {}: {}", i + 1, passes.size(), pool.passes()[passes[i]].name));
    ApplyRequest request;
    request.from = outcome.state;
    request.passes = {passes[i]};
    request.options.verify = true;
    const Timing before = pool.timing();
    StatusOr<Applied> applied = pool.Apply(request);
    if (!applied) return tl::unexpected(applied.error());
    AddRow(pool,
           {"", applied->steps.at(0), program.metrics.op_count,
            1000 * (pool.timing() - before).passes},
           outcome);
    if (outcome.failed > 0 && !options.keep_going) break;
  }
  return outcome;
}

// The same from a copy of the program in one go, nothing remembered, with the times that are known.
StatusOr<Outcome> RunAfresh(Pool& pool, const ProgramInfo& program,
                            const std::vector<PassId>& passes, const Outcome& timed) {
  ApplyRequest request;
  request.from.program = program.id;
  request.passes = passes;
  request.options.verify = true;
  request.options.fresh = true;
  StatusOr<Applied> applied = pool.Apply(request);
  if (!applied) return tl::unexpected(applied.error());
  Outcome outcome{{}, {program.id, {}}, program.fingerprint, 0};
  for (size_t i = 0; i < applied->steps.size(); ++i) {
    AddRow(pool, {"", applied->steps[i], program.metrics.op_count, timed.rows.at(i).milliseconds},
           outcome);
  }
  return outcome;
}

std::string Table(const Outcome& outcome) {
  size_t width = 4;
  for (const Row& row : outcome.rows) width = std::max(width, row.pass.size());
  std::string text =
      fmt::format("{:{}}  {:9} {:>9} {:>9} {:>9}\n", "PASS", width, "", "OPS", "AFTER", "MS");
  for (const Row& row : outcome.rows) {
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

Json ToJson(const Row& row) {
  Json json = {{"pass", row.pass},
               {"changed", row.step.changed},
               {"before", row.before},
               {"after", row.step.metrics.op_count},
               {"milliseconds", row.milliseconds}};
  if (!row.step.failure.empty()) json["failure"] = row.step.failure;
  return json;
}

int RunRun(const Options& options) {
  const bool json = options.common.json;
  const auto fail = [&](const Error& error) { return Fail(error, options.file, json); };
  if (!options.output.empty()) {
    if (Status fine = CheckWritable(options.output); !fine) {
      return Fail(fine.error(), options.output, json);
    }
  }
  StatusOr<std::string> data =
      ReadInput(options.file, options.common.MostInputBytes(), options.common.datasets);
  if (!data) return fail(data.error());
  auto started = StartPool(options.common);
  if (!started) return Fail(started.error(), json);
  Pool& pool = **started;
  const auto passes = FindPasses(pool.passes(), SplitNames(options.passes));
  if (!passes) return Fail(passes.error(), json);
  const StatusOr<ProgramInfo> program = pool.Load(*std::move(data));
  if (!program) return fail(program.error());
  const ExportFormat format = FormatFor(options.output);
  if (program->elided_constants) {
    if (format == ExportFormat::kProto) {
      return fail({ErrorCode::kInvalidInput,
                   "its text has elided constants, {...}, and a binary would hold made-up values "
                   "for them; write text, dump it again with large constants, or give "
                   "--stand-in-constants if that is what you want"});
    }
    Warn(options.file,
         "its text has elided constants, {...}: it cannot be run, and what passes compute from "
         "them is made up");
  }

  WarnOfStandIns(options.file, *program);
  StatusOr<Outcome> outcome = RunEach(pool, *program, *passes, options);
  if (!outcome) return fail(outcome.error());
  const auto failed = std::find_if(outcome->rows.begin(), outcome->rows.end(),
                                   [](const Row& row) { return !row.step.failure.empty(); });
  const bool write = failed == outcome->rows.end() || options.keep_going;
  StatusOr<Exported> exported = MakeError(ErrorCode::kInternal, "not written");
  if (write) {
    exported = pool.Export(outcome->state, format);
    if (!exported) return fail(exported.error());
    for (int tries = 0; tries < kTries && exported->state != outcome->fingerprint; ++tries) {
      StatusOr<Outcome> again = RunAfresh(pool, *program, *passes, *outcome);
      if (!again) break;
      StatusOr<Exported> made = pool.Export(again->state, format);
      if (!made) break;
      outcome = *std::move(again);
      exported = *std::move(made);
    }
    if (exported->state != outcome->fingerprint) {
      // What is written is what is told of.
      const StatusOr<ProgramInfo> written = pool.Load(exported->bytes);
      if (!written) return fail(written.error());
      outcome->fingerprint = exported->state;
      if (!outcome->rows.empty()) outcome->rows.back().step.metrics = written->metrics;
    }
  }

  for (const Row& row : outcome->rows) {
    if (row.step.failure.empty()) continue;
    (void)Fail({ErrorCode::kPassFailed,
                fmt::format("pass '{}' fails: {}{}", row.pass, row.step.failure,
                            write ? "" : "; nothing is written (--keep-going goes on without it)")},
               options.file, false);
  }
  const bool to_file = write && !options.output.empty();
  if (to_file) {
    if (Status wrote = WriteProgram(options.output, exported->bytes, options.common); !wrote) {
      return Fail(wrote.error(), options.output, json);
    }
  }
  const int code = outcome->failed > 0 ? kSomeFailed : kFine;
  if (json) {
    Json result;
    result["file"] = options.file;
    result["format"] = program->format;
    result["initial"] = program->metrics.op_count;
    result["result"] = outcome->rows.empty() ? program->metrics.op_count
                                             : outcome->rows.back().step.metrics.op_count;
    result["fingerprint"] = outcome->fingerprint.ToHex();
    AddStandIns(*program, result);
    result["passes"] = Json::array();
    for (const Row& row : outcome->rows) result["passes"].push_back(ToJson(row));
    if (to_file) result["output"] = options.output;
    if (write && !to_file) result["hlo"] = exported->bytes;
    if (options.timing) result["timing"] = TimingToJson(pool.timing());
    return Finish(result, code);
  }
  // Where the program goes to stdout, the table must not.
  const std::string report = (outcome->rows.empty() ? "" : Table(*outcome)) +
                             (options.timing ? TimingText(pool.timing()) : "");
  if (!options.output.empty()) return Finish(report, code);
  fmt::print(stderr, "{}", report);
  return Finish(write ? exported->bytes : "", code);
}

}  // namespace

Run AddRun(CLI::App& app) {
  auto options = std::make_shared<Options>();
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
