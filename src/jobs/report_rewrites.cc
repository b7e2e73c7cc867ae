#include "jobs/report_rewrites.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>

#include "jobs/report.h"
#include "report/sections/graphs.h"
#include "report/sections/rewrites.h"
#include "report/words.h"

namespace hone::jobs {
namespace {

using report::Grouped;
using report::HumanBytes;
using report::Printable;

std::string Signed(int64_t number) {
  if (number == 0) return "±0";
  return (number > 0 ? "+" : "−") + Grouped(std::abs(number));
}

report::Headline MakeHeadline(const RewritesReport& what) {
  int64_t ops = 0;
  double bytes = 0;
  for (const RewriteSite& site : what.rewrites.sites) {
    ops += site.delta_op_count;
    bytes += site.delta_bytes;
  }
  const auto count = static_cast<int64_t>(what.rewrites.sites.size());
  report::Headline headline;
  headline.verdict = fmt::format("{} would make {} rewrite{} here", what.pass,
                                 count == 0 ? "no" : Grouped(count), count == 1 ? "" : "s");
  if (what.metrics) {
    headline.verdict += fmt::format("; with those that were chosen, {} instructions are left",
                                    Grouped(what.metrics->op_count));
    headline.better = what.metrics->op_count < what.program.metrics.op_count;
  }
  headline.verdict += ".";
  headline.verification = "nothing was compared; --apply and --verify do";
  if (what.comparison) {
    headline.verified = what.comparison->verdict == Verdict::kEqual ? report::Verified::kYes
                        : what.comparison->verdict == Verdict::kDifferent
                            ? report::Verified::kNo
                            : report::Verified::kUnknown;
    headline.verification = report::HowVerified(*what.comparison);
  }
  headline.figures = {
      {"rewrites", Grouped(count),
       what.rewrites.separable ? "each can be had by itself" : "the pass cannot be taken apart"},
      {"in conflict", Grouped(static_cast<int64_t>(what.rewrites.conflicts.size())),
       "pairs that touch the same"},
      {"instructions", Signed(ops), "the sum over all rewrites"},
      {"bytes accessed",
       fmt::format("{}{}",
                   bytes < 0   ? "−"
                   : bytes > 0 ? "+"
                               : "",
                   HumanBytes(std::abs(bytes))),
       "likewise"}};
  return headline;
}

}  // namespace

report::Document MakeReport(Pool& pool, const RewritesReport& what) {
  report::Document document = BeginReport("rewrites", what.file, what.program.name, pool.version());
  document.headline = MakeHeadline(what);
  document.sections.push_back(report::ToSection(report::RewriteList{
      "In the order in which the pass asks. A line opens to show what is replaced by what.",
      what.pass, &what.rewrites}));
  const StatusOr<ProgramGraph> before = pool.Describe(what.state);
  StatusOr<ProgramGraph> after = MakeError(ErrorCode::kInternal, "");
  if (what.result) after = pool.Describe(*what.result);
  if (before) {
    std::map<std::string, int> sites;  // by instruction
    for (const RewriteSite& site : what.rewrites.sites) ++sites[site.instruction];
    report::Graphs graphs;
    report::GraphView view{"before", &*before, {}};
    for (const auto& [instruction, count] : sites) {
      view.marks.emplace_back(instruction,
                              fmt::format("{} rewrite{} here", count, count == 1 ? "" : "s"));
    }
    graphs.views.push_back(std::move(view));
    if (after) {
      graphs.views.push_back({"after", &*after, {}});
    } else {
      graphs.note = "Marked: the instructions that would be rewritten.";
    }
    document.sections.push_back(report::ToSection(graphs));
  } else {
    document.remarks.push_back("the graph left out: " + Printable(before.error().message));
  }
  document.facts.push_back({"pass", what.pass, ""});
  document.facts.push_back({"program", what.program.fingerprint.ToHex(), ""});
  document.facts.push_back({"state", what.rewrites.state.ToHex(), ""});
  return document;
}

}  // namespace hone::jobs
