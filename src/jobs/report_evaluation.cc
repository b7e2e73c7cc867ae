#include "jobs/report_evaluation.h"

#include <fmt/format.h>

#include "jobs/report.h"
#include "report/sections/methods.h"
#include "report/words.h"

namespace hone::jobs {
using report::HumanSeconds;

report::Document MakeReport(const EvalReport& what) {
  const report::Summary summary = report::Summarise(what.rows);
  report::Document document =
      BeginReport("eval", fmt::format("{} runs", what.rows.size()), what.method, what.xla);
  report::Headline& headline = document.headline;
  headline.better = summary.ratio.low > 1;
  headline.verdict =
      summary.ratio.programs == 0
          ? "XLA’s own order improves none of these programs, so there is no ratio."
          : fmt::format(
                "{:.3f} times the improvement that XLA’s own order makes: the geometric mean over "
                "{} program{}, 95 % interval {:.3f} to {:.3f}.",
                summary.ratio.mean, summary.ratio.programs, summary.ratio.programs == 1 ? "" : "s",
                summary.ratio.low, summary.ratio.high);
  const int runs = summary.verified + summary.different + summary.unverified;
  headline.verified = summary.different > 0      ? report::Verified::kNo
                      : runs == 0                ? report::Verified::kSkipped
                      : summary.verified == runs ? report::Verified::kYes
                      : summary.verified > 0     ? report::Verified::kUnknown
                                                 : report::Verified::kSkipped;
  headline.verification =
      summary.verified == 0 && summary.different == 0
          ? "results were not compared; --verify does"
          : fmt::format(
                "{} of {} runs compute the same as their program, {} something else, {} "
                "without a verdict",
                summary.verified, runs, summary.different, summary.unverified);
  headline.figures = {{"better", std::to_string(summary.better), "programs, than XLA’s own order"},
                      {"equal", std::to_string(summary.equal), "programs"},
                      {"worse", std::to_string(summary.worse), "programs"},
                      {"a run", HumanSeconds(summary.seconds),
                       fmt::format("{:.0f} steps, {} seed{}", summary.evaluated, summary.seeds,
                                   summary.seeds == 1 ? "" : "s")}};
  document.sections.push_back(report::ToSection(report::Methods{
      "Ratio: what the method takes off, by what XLA’s own order takes off. A ring is a run, a dot "
      "the geometric mean over seeds.",
      what.rows}));
  document.facts.push_back({"objective", what.objective, ""});
  document.facts.push_back({"actions", what.actions, ""});
  if (what.failed > 0) {
    document.remarks.push_back(fmt::format("{} program{} failed and {} left out", what.failed,
                                           what.failed == 1 ? "" : "s",
                                           what.failed == 1 ? "is" : "are"));
  }
  return document;
}

}  // namespace hone::jobs
