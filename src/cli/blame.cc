// hone blame: what made it slower, or different?
#include "blame/blame.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "blame/bug_report.h"
#include "blame/flags_text.h"
#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/parse.h"
#include "cli/tuned_program.h"
#include "core/run_time.h"
#include "jobs/blame.h"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

struct BlameFlags {
  CommonOptions common;
  std::string file;
  std::string other;  // a program that is held against `file`; "" where plans and flags are
  bool stock = false;
  std::string plan, plan_a;
  std::string flags_a, flags_b;
  std::string question = "both";
  std::string output;
  bool no_reduce = false;
  blame::BlameOptions blame;
};

// A plan of a file, with flags beside its own.
StatusOr<tune::TunePlan> PlanOf(const std::string& file, const std::string& flags) {
  StatusOr<tune::TunePlan> plan = ReadPlan(file);
  if (!plan) return tl::unexpected(Error{plan.error().code, file + ": " + plan.error().message});
  StatusOr<blame::Flags> more = blame::FlagsFromText(flags);
  if (!more) return tl::unexpected(more.error());
  for (auto& flag : *more) {
    std::erase_if(plan->compile.flags, [&](const auto& old) { return old.first == flag.first; });
    plan->compile.flags.push_back(std::move(flag));
  }
  Sort(plan->compile);
  return plan;
}

std::string KernelsText(const std::vector<blame::KernelChange>& kernels, size_t most,
                        const std::string& indent) {
  std::string text;
  for (size_t i = 0; i < std::min(most, kernels.size()); ++i) {
    const blame::KernelChange& change = kernels[i];
    text += fmt::format("{}kernel       {} ({}): {:.4g} ms -> {:.4g} ms\n", indent,
                        change.name_b.empty() ? change.name_a : change.name_b, change.what,
                        1000 * change.seconds_a, 1000 * change.seconds_b);
  }
  return text;
}

std::string CauseText(blame::Question question, const blame::Cause& cause) {
  std::string text;
  for (const blame::Decision& decision : cause.decisions) {
    text += fmt::format("  {}{}\n", &decision == &cause.decisions[0] ? "" : "with ",
                        Printable(blame::Describe(decision)));
  }
  text += fmt::format("    by itself    {}\n", Printable(blame::Effect(question, cause.with)));
  if (question == blame::Question::kSlower) {
    text += fmt::format("    left out     of all of them: {}\n",
                        Printable(blame::Effect(question, cause.without)));
  }
  for (const std::string& source : cause.source) {
    text += fmt::format("    source       {}\n", Printable(source));
  }
  if (cause.first) {
    text += fmt::format("    first value  {} in {}, {} {}, by up to {:.3g} in {} elements\n",
                        cause.first->instruction, cause.first->computation, cause.first->shape,
                        cause.first->opcode, cause.first->error.worst_absolute,
                        Grouped(cause.first->error.elements_over));
  }
  text += KernelsText(cause.kernels, 3, "    ");
  if (cause.reduced) {
    text += fmt::format("    reduced      {} instructions: {}\n", cause.reduced->instructions,
                        Printable(blame::Effect(question, cause.reduced->finding)));
  }
  return text;
}

std::string Text(const BlameFlags& options, const blame::BlameResult& result) {
  std::string text =
      options.other.empty() ? fmt::format("{} decisions differ\n", result.differences.size()) : "";
  for (const blame::Answer& answer : result.answers) {
    text += fmt::format("{}: ", blame::QuestionName(answer.question));
    text += answer.whole.shows == blame::Shows::kYes
                ? Printable(blame::Effect(answer.question, answer.whole))
                : (answer.whole.shows == blame::Shows::kNo ? "no; " : "cannot tell; ") +
                      Printable(answer.reason);
    text += "\n";
    for (const blame::Cause& cause : answer.causes) text += CauseText(answer.question, cause);
    if (answer.whole.shows != blame::Shows::kYes) continue;
    text += KernelsText(answer.kernels, 8, "  ");
    if (!answer.reason.empty()) text += fmt::format("  {}\n", Printable(answer.reason));
    if (answer.settled) text += "  that is all\n";
  }
  text += fmt::format("{:.1f} s\n", result.seconds);
  return text;
}

Status WriteAll(const std::string& folder, const std::vector<jobs::NamedFile>& files) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    return MakeError(ErrorCode::kInvalidInput,
                     fmt::format("cannot make the folder '{}': {}", folder, error.message()));
  }
  for (const auto& [name, bytes] : files) {
    if (Status wrote = WriteFile((fs::path(folder) / name).string(), bytes); !wrote) return wrote;
  }
  return {};
}

int CodeFor(const blame::BlameResult& result) {
  if (result.interrupted) return kInterrupted;
  for (const blame::Answer& answer : result.answers) {
    if (!answer.settled) return kCannotTell;
  }
  return kFine;
}

int RunBlame(BlameFlags options) {
  const bool json = options.common.json;
  const bool ways = !options.plan.empty() || !options.flags_b.empty() || !options.plan_a.empty() ||
                    !options.flags_a.empty();
  if (ways == !options.other.empty()) {
    return Fail({ErrorCode::kInvalidInput,
                 ways ? "two programs are compiled as they are; give a plan or flags with one only"
                      : "nothing to hold against the stock compiler; give --plan or --flags-b"},
                options.file, json);
  }
  StatusOr<tune::TunePlan> a = PlanOf(options.plan_a, options.flags_a);
  if (!a) return Fail(a.error(), json);
  StatusOr<tune::TunePlan> b = PlanOf(options.plan, options.flags_b);
  if (!b) return Fail(b.error(), json);
  options.blame.a = *std::move(a);
  options.blame.b = *std::move(b);
  options.blame.slower = options.question != "different";
  options.blame.different = options.question != "slower";
  options.blame.reduce = !options.no_reduce;
  auto data = ReadNamed(options.file, options.common);
  if (!data) return Fail(data.error(), json);
  StatusOr<std::string> other;
  if (!options.other.empty()) {
    other = ReadInput(options.other, options.common.MostInputBytes(), options.common.datasets);
    if (!other) return Fail(other.error(), options.other, json);
  }
  auto pool = StartPool(options.common);
  if (!pool) return Fail(pool.error(), json);
  const StatusOr<ProgramInfo> program = (*pool)->Load(*std::move(data));
  if (!program) return Fail(program.error(), options.file, json);
  if (program->elided_constants) return Fail(ElidedConstants(), options.file, json);
  WarnOfStandIns(options.file, *program);
  StatusOr<ProgramInfo> against;
  if (!options.other.empty()) {
    against = (*pool)->Load(*std::move(other));
    if (!against) return Fail(against.error(), options.other, json);
    if (against->elided_constants) return Fail(ElidedConstants(), options.other, json);
    WarnOfStandIns(options.other, *against);
  }
  CommandEvents events(options.common.ShowProgress(), StopOnInterrupt());
  options.blame.interrupted = events.stop();
  options.blame.progress = [&events](const std::string& line) { events.Show(line); };
  const StatusOr<blame::BlameResult> result =
      options.other.empty() ? blame::Blame(**pool, *program, options.blame)
                            : blame::BlamePrograms(**pool, *program, *against, options.blame);
  events.Clear();
  if (!result) return Fail(result.error(), options.file, json);
  if (!options.output.empty()) {
    const auto reports =
        jobs::BugReports(**pool, options.file, options.common.rules, options.blame.a, *result);
    if (Status wrote = WriteAll(options.output, reports); !wrote) {
      return Fail(wrote.error(), options.output, json);
    }
  }
  if (!json) return Finish(Text(options, *result), CodeFor(*result));
  Json out = jobs::ToJson(options.file, options.other, *result);
  AddStandIns(*program, out);
  return Finish(out, CodeFor(*result));
}

}  // namespace

Run AddBlame(CLI::App& app) {
  auto options = std::make_shared<BlameFlags>();
  app.add_option("FILE", options->file, "the program")->required()->type_name("");
  app.add_option("OTHER", options->other,
                 "a program that is to blame, of the same parameters and results")
      ->type_name("");
  app.add_flag("--stock", options->stock, "hold it against the stock compiler; so it is by itself");
  app.add_option("--plan", options->plan, "what is to blame: what `hone tune --plan` wrote")
      ->type_name("PLAN");
  app.add_option("--plan-a", options->plan_a, "hold it against this plan")->type_name("PLAN");
  app.add_option("--flags-a", options->flags_a,
                 "flags of XLA's that it is held against: \"--xla_NAME=VALUE …\"")
      ->type_name("FLAGS");
  app.add_option("--flags-b", options->flags_b, "flags of XLA's that are to blame")
      ->type_name("FLAGS");
  app.add_option("--question", options->question, "slower, different, or both (both)")
      ->type_name("WHAT")
      ->check(CLI::IsMember({"slower", "different", "both"}));
  app.add_option("--least", options->blame.least,
                 "what takes less than this many times the time is nobody's fault (1.05)")
      ->type_name("N")
      ->check(CLI::Range(1.005, 100.0));
  app.add_option("-o,--output", options->output,
                 "write reports, small programs and plans for them into this folder")
      ->type_name("FOLDER");
  app.add_flag("--no-reduce", options->no_reduce, "make no small program");
  AddDuration(app, "--budget", options->blame.budget_seconds, "time for it (5m)");
  app.add_option("--seed", options->blame.seed, "of the inputs")->capture_default_str();
  AddDatasetsOption(app, options->common.datasets);
  AddCommonOptions(app, options->common);
  return [options] { return RunBlame(*options); };
}

}  // namespace hone::cli
