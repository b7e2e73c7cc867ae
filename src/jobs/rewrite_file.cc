#include "jobs/rewrite_file.h"

#include <fmt/format.h>

#include <utility>

#include "jobs/input.h"
#include "jobs/report.h"
#include "jobs/report_rewrites.h"
#include "jobs/run_passes.h"
#include "jobs/write_file.h"
#include "tune/plan.h"
#include "tune/recipe.h"

namespace hone::jobs {
namespace {

StatusOr<Decisions> DecisionsFor(const RewriteFileOptions& options, const WorkerOptions& workers,
                                 const Rewrites& rewrites) {
  if (!options.plan.empty()) {
    const StatusOr<std::string> text = ReadInput(options.plan, workers.MostInputBytes());
    if (!text) return tl::unexpected(text.error());
    const StatusOr<Plan> plan = PlanFromJson(*text);
    if (!plan) return tl::unexpected(plan.error());
    if (plan->pass != options.pass) {
      return MakeError(
          ErrorCode::kInvalidInput,
          fmt::format("the plan is for pass '{}', not for '{}'", plan->pass, options.pass));
    }
    return plan->decisions;
  }
  StatusOr<Decisions> decisions = DecisionsFromText(options.apply, rewrites);
  if (decisions && decisions->otherwise == Otherwise::kHalf) decisions->seed = options.seed;
  return decisions;
}

}  // namespace

FileOr<RewrittenFile> RewriteFile(const RewriteFileOptions& options, const WorkerOptions& workers,
                                  Events& events) {
  if (auto fine = CheckAllWritable({options.output, options.plan_output, options.recipe}); !fine) {
    return tl::unexpected(fine.error());
  }
  if (auto fine = CheckReport(options.report); !fine) return tl::unexpected(fine.error());
  const auto file = About(options.file, FindInput(options.file, workers.datasets));
  if (!file) return tl::unexpected(file.error());
  StatusOr<std::string> data = ReadInput(*file, workers.MostInputBytes());
  if (!data) return Wrong(*file, data.error());
  const auto started = StartPool(workers, events);
  if (!started) return Wrong("", started.error());
  Pool& pool = **started;
  if (auto pass = FindPass(pool.passes(), options.pass); !pass) return Wrong("", pass.error());
  events.Show("reading " + *file);
  const FileOr<ProgramInfo> program = LoadNamed(pool, *std::move(data), *file, events);
  if (!program) return tl::unexpected(program.error());
  const bool texts = options.texts || !options.report.empty();
  const auto listed = ListRewrites(
      pool, *program, {options.pass, SplitNames(options.after), texts, options.time_pass}, events);
  if (!listed) return Wrong(*file, listed.error());
  const Rewrites& rewrites = listed->rewrites;
  RewrittenFile done{*file, rewrites, std::nullopt};
  RewritesReport about{*file, *program, listed->state, options.pass, rewrites, {}, {}, {}};
  const auto write_report = [&]() -> FileOr<void> {
    if (options.report.empty()) return {};
    return WriteReport(options.report, MakeReport(pool, about));
  };
  if (options.apply.empty() && options.plan.empty()) {
    if (auto wrote = write_report(); !wrote) return tl::unexpected(wrote.error());
    return done;
  }
  const StatusOr<Decisions> decisions = DecisionsFor(options, workers, rewrites);
  if (!decisions) return Wrong(options.plan, decisions.error());
  auto made = MakeRewrites(pool, *program, *listed, *decisions, FormatFor(options.output),
                           options.verify, events);
  if (!made) return Wrong(*file, made.error());
  about.comparison = made->comparison;
  about.result = StateName{made->program.id, {}};
  about.metrics = made->program.metrics;
  const std::string plan = PlanToJson({options.pass, ByContent(*decisions, rewrites)});
  const std::string recipe =
      RecipeToJson(RecipeOf(pool, *program, *file, *listed, *decisions, *made));
  if (auto wrote = write_report(); !wrote) return tl::unexpected(wrote.error());
  auto wrote = WriteProgram(options.output, made->bytes, workers);
  if (wrote) wrote = WriteIfNamed(options.plan_output, plan);
  if (wrote) wrote = WriteIfNamed(options.recipe, recipe);
  if (!wrote) return tl::unexpected(wrote.error());
  done.made = *std::move(made);
  return done;
}

const char* ComputesTheSame(const ComparisonReport& report) {
  switch (report.verdict) {
    case Verdict::kEqual:
      return "true";
    case Verdict::kDifferent:
      return "false";
    case Verdict::kCannotTell:
      break;
  }
  return "unknown";
}

Json ToJson(const RewrittenFile& done, const RewriteFileOptions& options) {
  if (!done.made) return ToJson(done.rewrites, done.file, options.pass);
  const MadeRewrites& made = *done.made;
  Json json{{"file", done.file},
            {"pass", options.pass},
            {"fingerprint", done.rewrites.state.ToHex()},
            {"result_fingerprint", made.fingerprint.ToHex()},
            {"sites", done.rewrites.sites.size()},
            {"changed", made.changed},
            {"op_count", made.program.metrics.op_count}};
  if (made.comparison) {
    json["verified"] = ComputesTheSame(*made.comparison);
    json["verification_reason"] = made.comparison->reason;
  }
  return json;
}

}  // namespace hone::jobs
