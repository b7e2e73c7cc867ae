#include "blame/bug_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "blame/flags_text.h"

namespace hone::blame {
namespace {

constexpr size_t kMostKernels = 5;

std::string Kernels(const Cause& cause) {
  if (cause.kernels.empty()) return {};
  std::string text =
      "\n## Kernels whose time differs\n\n| kernel | before, ms | after, ms |\n|---|---|---|\n";
  for (size_t i = 0; i < std::min(kMostKernels, cause.kernels.size()); ++i) {
    const KernelChange& change = cause.kernels[i];
    const auto time = [](int kernels, double seconds) {
      return kernels == 0 ? std::string("—") : fmt::format("{:.4g}", 1000 * seconds);
    };
    text += fmt::format("| {} ({}) | {} | {} |\n",
                        change.name_b.empty() ? change.name_a : change.name_b, change.what,
                        time(change.kernels_a, change.seconds_a),
                        time(change.kernels_b, change.seconds_b));
  }
  return text;
}

std::string Rewritten(const Decision& decision) {
  std::string text;
  for (const RewriteSite& site : decision.rewrites) {
    text += fmt::format("\nThe rewrite replaces\n\n```\n{}\n```\n\n", site.original);
    text += site.replacement.empty() ? std::string("by nothing.\n")
                                     : fmt::format("by\n\n```\n{}\n```\n", site.replacement);
  }
  return text;
}

// With XLA's own tools, as far as they can be told to decide so.
std::string StockCommands(const Answer& answer, const Cause& cause, const ReportFacts& facts) {
  const bool slower = answer.question == Question::kSlower;
  const std::string run =
      slower ? "hlo_runner_main --device_type=host --num_repeats=20"
             : "run_hlo_module --platform=CPU --reference_platform= --print_literals";
  const bool flags_only =
      std::all_of(cause.decisions.begin(), cause.decisions.end(),
                  [](const Decision& one) { return one.difference.kind == DifferenceKind::kFlag; });
  const auto line = [&](const Flags& flags, const std::string& file) {
    const std::string set = FlagsToText(flags);
    return fmt::format("{}{} {}\n", set.empty() ? "" : fmt::format("XLA_FLAGS='{}' ", set), run,
                       file);
  };
  if (flags_only) {
    tune::TunePlan b = cause.reduced ? cause.reduced->b : facts.a;
    return line(facts.a.compile.flags, facts.reduced) + line(b.compile.flags, facts.reduced);
  }
  if (facts.after.empty()) return {};
  return line(facts.a.compile.flags, facts.reduced) + line(facts.a.compile.flags, facts.after);
}

}  // namespace

std::string Effect(Question question, const Finding& finding) {
  if (question == Question::kSlower) {
    return fmt::format("{:.3f} times the time, 95 % interval [{:.3f}, {:.3f}], {} pairs",
                       finding.ratio, finding.low, finding.high, finding.pairs);
  }
  return finding.comparison.reason.empty() ? std::string("it computes something else")
                                           : finding.comparison.reason;
}

std::string BugReport(const Answer& answer, const Cause& cause, const ReportFacts& facts) {
  std::string title;
  for (const Decision& decision : cause.decisions) {
    title += fmt::format("{}{}", title.empty() ? "" : "; ", Describe(decision));
  }
  const bool slower = answer.question == Question::kSlower;
  std::string text = fmt::format("# {}: {}\n\n", slower ? "Slower" : "Different values", title);
  text += fmt::format("Program `{}`, XLA:CPU of {}, {}.\n\n", facts.file, facts.xla_version,
                      facts.machine);
  text += fmt::format("- by itself: {}\n", Effect(answer.question, cause.with));
  if (slower) {
    text += fmt::format("- of all that was decided otherwise, leaving out this: {}\n",
                        Effect(answer.question, cause.without));
  }
  for (const std::string& source : cause.source) text += fmt::format("- source: `{}`\n", source);
  if (cause.first) {
    text += fmt::format(
        "- first value that differs: `{}` of `{}`, {} {}, by up to {:.3g} in {} elements\n",
        cause.first->instruction, cause.first->computation, cause.first->shape, cause.first->opcode,
        cause.first->error.worst_absolute, cause.first->error.elements_over);
  }
  for (const Decision& decision : cause.decisions) text += Rewritten(decision);
  text += Kernels(cause);
  if (!cause.reduced) return text;
  text += fmt::format("\n## A program that shows it\n\n{} instructions; {}.\n\n```\n{}```\n",
                      cause.reduced->instructions, Effect(answer.question, cause.reduced->finding),
                      cause.reduced->text);
  const std::string stock = StockCommands(answer, cause, facts);
  if (!stock.empty()) {
    text += fmt::format("\nWith XLA's own tools, one way and the other ({}):\n\n```sh\n{}```\n",
                        slower ? "compare the times" : "compare the results", stock);
  } else {
    text += "\nXLA's own tools cannot be told to decide so at one place; hone can.\n";
  }
  if (!facts.plan.empty()) {
    const std::string given = fmt::format("{} --plan {}{}", facts.reduced, facts.plan, facts.rules);
    text += fmt::format("\nWith hone {}:\n\n```sh\nhone blame {}{}\n```\n", facts.hone_version,
                        given, slower ? "\nhone bench " + given : "");
  }
  return text;
}

}  // namespace hone::blame
