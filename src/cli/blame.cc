// hone blame: what made it slower, or different?
#include "jobs/blame.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "blame/bug_report.h"
#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/options.h"

namespace hone::cli {
namespace {

struct BlameFlags {
  CommonOptions common;
  bool stock = false;
  jobs::BlameOptions job;
};

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

std::string Text(const jobs::BlameOptions& options, const blame::BlameResult& result) {
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

int CodeFor(const blame::BlameResult& result) {
  if (result.interrupted) return kInterrupted;
  for (const blame::Answer& answer : result.answers) {
    if (!answer.settled) return kCannotTell;
  }
  return kFine;
}

int RunBlame(const BlameFlags& flags) {
  CommandEvents events(flags.common);
  const auto blamed = jobs::Blame(flags.job, flags.common, events);
  if (!blamed) return Fail(blamed.error(), flags.common.json);
  const int code = CodeFor(blamed->result);
  return flags.common.json ? Finish(ToJson(*blamed, flags.job), code)
                           : Finish(Text(flags.job, blamed->result), code);
}

}  // namespace

Run AddBlame(CLI::App& app) {
  auto flags = std::make_shared<BlameFlags>();
  AddWord(app, "FILE", flags->job.file, "the program");
  app.add_option("OTHER", flags->job.other,
                 "a program that is to blame, of the same parameters and results")
      ->type_name("");
  app.add_flag("--stock", flags->stock, "hold it against the stock compiler, which is the default");
  app.add_option("--plan", flags->job.plan, "what is to blame: what `hone tune --plan` wrote")
      ->type_name("PLAN");
  app.add_option("--plan-a", flags->job.plan_a, "hold it against this plan")->type_name("PLAN");
  app.add_option("--flags-a", flags->job.flags_a,
                 "flags of XLA's that it is held against: \"--xla_NAME=VALUE …\"")
      ->type_name("FLAGS");
  app.add_option("--flags-b", flags->job.flags_b, "flags of XLA's that are to blame")
      ->type_name("FLAGS");
  app.add_option("--question", flags->job.question, "slower, different, or both (both)")
      ->type_name("WHAT")
      ->check(CLI::IsMember({"slower", "different", "both"}));
  app.add_option("--least", flags->job.blame.least,
                 "report what takes at least this many times as long (1.05)")
      ->type_name("N")
      ->check(CLI::Range(1.005, 100.0));
  app.add_option("-o,--output", flags->job.output,
                 "write reports, small programs and plans for them into this folder")
      ->type_name("FOLDER");
  AddNoFlag(app, "--no-reduce", flags->job.blame.reduce, "make no small program");
  AddDuration(app, "--budget", flags->job.blame.budget_seconds, "time for it (5m)");
  app.add_option("--seed", flags->job.blame.seed, "of the inputs")->capture_default_str();
  AddProgramOptions(app, flags->common);
  return [flags] { return RunBlame(*flags); };
}

}  // namespace hone::cli
