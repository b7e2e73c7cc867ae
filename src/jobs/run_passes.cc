#include "jobs/run_passes.h"

#include <fmt/format.h>

#include <sstream>
#include <utility>

#include "jobs/write_file.h"
#include "tune/recipe.h"

namespace hone::jobs {
namespace {

// Some passes of XLA's do not make the same each time: so often is it tried to write what was seen.
constexpr int kTries = 3;

// A pass that changes nothing that the fingerprint sees may still have changed the order of the
// instructions, so every pass that did not fail becomes a link of the state's name.
void AddRow(const Pool& pool, RanPass row, RanPasses& ran) {
  row.pass = pool.passes()[row.step.pass].name;
  row.before = ran.rows.empty() ? row.before : ran.rows.back().step.metrics.op_count;
  if (row.step.failure.empty()) {
    ran.state.links.push_back({row.step.pass, row.step.state});
    ran.fingerprint = row.step.state;
  } else {
    ++ran.failed;
    row.step.metrics.op_count = row.before;
  }
  ran.rows.push_back(std::move(row));
}

// Pass by pass, so that each has its time, and a failure ends the run.
StatusOr<RanPasses> RunEach(Pool& pool, const ProgramInfo& program, const RunPassesOptions& options,
                            Events& events) {
  const ClearAtEnd clear(events);
  const std::vector<PassId>& passes = options.passes;
  RanPasses ran{{}, {program.id, {}}, program.fingerprint, 0, std::nullopt};
  for (size_t i = 0; i < passes.size(); ++i) {
    events.Show(
        fmt::format("pass {} of {}: {}", i + 1, passes.size(), pool.passes()[passes[i]].name));
    ApplyRequest request;
    request.from = ran.state;
    request.passes = {passes[i]};
    request.options.verify = true;
    const Timing before = pool.timing();
    StatusOr<Applied> applied = pool.Apply(request);
    if (!applied) return tl::unexpected(applied.error());
    AddRow(pool,
           {"", applied->steps.at(0), program.metrics.op_count,
            1000 * (pool.timing() - before).passes},
           ran);
    if (ran.failed > 0 && !options.keep_going) break;
  }
  return ran;
}

// The same from a copy of the program in one go, nothing remembered, with the times that are known.
StatusOr<RanPasses> RunAfresh(Pool& pool, const ProgramInfo& program,
                              const std::vector<PassId>& passes, const RanPasses& timed) {
  ApplyRequest request;
  request.from.program = program.id;
  request.passes = passes;
  request.options.verify = true;
  request.options.fresh = true;
  StatusOr<Applied> applied = pool.Apply(request);
  if (!applied) return tl::unexpected(applied.error());
  RanPasses ran{{}, {program.id, {}}, program.fingerprint, 0, std::nullopt};
  for (size_t i = 0; i < applied->steps.size(); ++i) {
    AddRow(pool, {"", applied->steps[i], program.metrics.op_count, timed.rows.at(i).milliseconds},
           ran);
  }
  return ran;
}

// What is exported is what is told of.
Status Export(Pool& pool, const ProgramInfo& program, const RunPassesOptions& options,
              RanPasses& ran) {
  StatusOr<Exported> exported = pool.Export(ran.state, options.format);
  if (!exported) return tl::unexpected(exported.error());
  for (int tries = 0; tries < kTries && exported->state != ran.fingerprint; ++tries) {
    StatusOr<RanPasses> again = RunAfresh(pool, program, options.passes, ran);
    if (!again) break;
    StatusOr<Exported> made = pool.Export(again->state, options.format);
    if (!made) break;
    ran = *std::move(again);
    exported = *std::move(made);
  }
  if (exported->state != ran.fingerprint) {
    const StatusOr<ProgramInfo> written = pool.Load(exported->bytes);
    if (!written) return tl::unexpected(written.error());
    ran.fingerprint = exported->state;
    if (!ran.rows.empty()) ran.rows.back().step.metrics = written->metrics;
  }
  ran.bytes = std::move(exported->bytes);
  return {};
}

Status CheckConstants(const std::string& file, const ProgramInfo& program, ExportFormat format,
                      Events& events) {
  if (!program.elided_constants) return {};
  if (format == ExportFormat::kProto) {
    return MakeError(ErrorCode::kInvalidInput,
                     "its text has elided constants, {...}, and a binary would hold made-up values "
                     "for them; write text, dump it again with large constants, or give "
                     "--stand-in-constants if that is what you want");
  }
  events.Warn(
      file,
      "its text has elided constants, {...}: it cannot be run, and what passes compute from "
      "them is made up");
  return {};
}

}  // namespace

StatusOr<RanPasses> RunPasses(Pool& pool, const ProgramInfo& program,
                              const RunPassesOptions& options, Events& events) {
  StatusOr<RanPasses> ran = RunEach(pool, program, options, events);
  if (!ran || (ran->failed > 0 && !options.keep_going)) return ran;
  if (Status exported = Export(pool, program, options, *ran); !exported) {
    return tl::unexpected(exported.error());
  }
  return ran;
}

FileOr<RanFile> RunFile(const RunFileOptions& options, const WorkerOptions& workers,
                        Events& events) {
  if (auto fine = CheckAllWritable({options.output}); !fine) return tl::unexpected(fine.error());
  FileOr<std::string> data = ReadNamed(options.file, workers);
  if (!data) return tl::unexpected(data.error());
  const auto pool = StartPool(workers, events);
  if (!pool) return Wrong("", pool.error());
  const auto passes = FindPasses((*pool)->passes(), SplitNames(options.passes));
  if (!passes) return Wrong("", passes.error());
  const FileOr<ProgramInfo> program = LoadNamed(**pool, *std::move(data), options.file, events);
  if (!program) return tl::unexpected(program.error());
  const ExportFormat format = FormatFor(options.output);
  if (Status fine = CheckConstants(options.file, *program, format, events); !fine) {
    return Wrong(options.file, fine.error());
  }
  auto ran = RunPasses(**pool, *program, {*passes, options.keep_going, format}, events);
  if (!ran) return Wrong(options.file, ran.error());
  if (ran->bytes) {
    if (auto wrote = WriteProgram(options.output, *ran->bytes, workers); !wrote) {
      return tl::unexpected(wrote.error());
    }
  }
  return RanFile{*program, *std::move(ran), (*pool)->timing()};
}

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

Json ToJson(const RanFile& done, const RunFileOptions& options) {
  const auto& [program, ran, timing] = done;
  Json json;
  json["file"] = options.file;
  json["format"] = program.format;
  json["initial"] = program.metrics.op_count;
  json["result"] = ran.Instructions(program.metrics.op_count);
  json["fingerprint"] = ran.fingerprint.ToHex();
  AddStandIns(program, json);
  json["passes"] = Json::array();
  for (const RanPass& row : ran.rows) {
    json["passes"].push_back({{"pass", row.pass},
                              {"changed", row.step.changed},
                              {"before", row.before},
                              {"after", row.step.metrics.op_count},
                              {"milliseconds", row.milliseconds}});
    if (!row.step.failure.empty()) json["passes"].back()["failure"] = row.step.failure;
  }
  if (ran.bytes && options.output.empty()) {
    json["hlo"] = *ran.bytes;
  } else if (ran.bytes) {
    json["output"] = options.output;
  }
  return json;
}

}  // namespace hone::jobs
