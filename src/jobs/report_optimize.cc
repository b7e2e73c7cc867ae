#include "jobs/report_optimize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "core/objective.h"
#include "jobs/report.h"
#include "report/sections/ablation.h"
#include "report/sections/curve.h"
#include "report/sections/graphs.h"
#include "report/sections/passes.h"
#include "report/words.h"

namespace hone::jobs {
namespace {

using report::Grouped;
using report::HumanBytes;
using report::HumanCount;
using report::HumanSeconds;
using report::Percent;
using report::Printable;

constexpr size_t kMostUndone = 64;
// Kernels are measured where this, which verifying took, is enough: both compile two programs.
constexpr double kMostVerifySeconds = 30;

const char* ValueName(Objective objective) { return InfoOf(objective).value_name; }

std::string ValueText(Objective objective, double value) {
  switch (InfoOf(objective).unit) {
    case Unit::kCount:
      return Grouped(static_cast<int64_t>(value));
    case Unit::kOperations:
      return HumanCount(value);
    case Unit::kBytes:
      return HumanBytes(value);
    case Unit::kSeconds:
      return HumanSeconds(value);
  }
  return "";
}

// "1.5 % fewer", "0.3 % more", "as many".
std::string Against(double value, double other) {
  if (other == 0 || value == other) return "as many";
  return fmt::format("{} {}", Percent(std::abs(value - other) / other),
                     value < other ? "fewer" : "more");
}

class Maker : PageMaker {
 public:
  Maker(Pool& pool, const OptimizeReport& what, Events& events)
      : PageMaker(events, BeginReport("optimize", what.file, what.program.name, pool.version())),
        pool_(pool),
        what_(what),
        result_(what.result),
        objective_(*ObjectiveFromName(what.objective)) {}

  report::Document Make() {
    Headline();
    Curve();
    if (!Interrupted()) Steps();
    if (!Interrupted()) LeaveOut();
    Graphs();
    if (!Interrupted()) Kernels();
    return Finish();
  }

 private:
  void Headline() {
    report::Headline& headline = document_.headline;
    const bool has_default = result_.default_complaint.empty();
    const double base = has_default ? result_.by_default : result_.initial;
    headline.better = result_.value < base;
    const std::string value = ValueText(objective_, result_.value);
    if (!headline.better) {
      headline.verdict =
          fmt::format("{} {}: nothing better than {} was found.", value, ValueName(objective_),
                      has_default ? "XLA’s own order" : "the program as it is");
    } else if (has_default) {
      headline.verdict = fmt::format(
          "{} {}: {} than XLA’s own order leaves, {} than as given.", value, ValueName(objective_),
          Against(result_.value, result_.by_default), Against(result_.value, result_.initial));
    } else {
      headline.verdict = fmt::format("{} {}: {} than as given.", value, ValueName(objective_),
                                     Against(result_.value, result_.initial));
    }
    headline.verified = !result_.verification_ran ? report::Verified::kSkipped
                        : result_.verified()      ? report::Verified::kYes
                        : result_.verification.verdict == Verdict::kDifferent
                            ? report::Verified::kNo
                            : report::Verified::kUnknown;
    headline.verification = result_.verification_ran ? report::HowVerified(result_.verification)
                                                     : "verification was skipped";
    headline.figures = {
        {"as given", ValueText(objective_, result_.initial), ValueName(objective_)},
        {"XLA’s own order", has_default ? ValueText(objective_, result_.by_default) : "–",
         has_default ? Against(result_.by_default, result_.initial) : "failed"},
        {"hone", value, Against(result_.value, result_.initial)},
        {"searched", HumanSeconds(result_.search_seconds),
         fmt::format("{} steps, {} of them new", Grouped(result_.steps),
                     Grouped(result_.evaluated))}};
    auto& facts = document_.facts;
    facts.push_back({"objective", what_.objective, ""});
    facts.push_back({"actions", what_.actions, ""});
    facts.push_back({"search", what_.search, ""});
    facts.push_back({"seed", std::to_string(what_.seed), ""});
    facts.push_back({"ended by", std::string(StopReasonName(result_.stop_reason)), ""});
    facts.push_back({"program", what_.program.fingerprint.ToHex(), ""});
    facts.push_back({"result", result_.state.ToHex(), ""});
    for (const std::string& rejected : result_.rejected) {
      document_.remarks.push_back("rejected: " + Printable(rejected));
    }
    for (const Failure& failure : result_.failures) {
      document_.remarks.push_back(fmt::format("pass {} failed {} time{}: {}", failure.pass,
                                              failure.times, failure.times == 1 ? "" : "s",
                                              Printable(failure.why)));
    }
  }

  void Curve() {
    report::Curve curve;
    curve.value_name = ValueName(objective_);
    curve.evaluations_name = "steps evaluated";
    curve.start = result_.initial;
    for (const Improvement& better : result_.improvements) {
      curve.points.push_back({better.steps, better.seconds, better.value});
    }
    curve.evaluated = result_.evaluated;
    curve.seconds = result_.search_seconds;
    if (result_.default_complaint.empty()) {
      curve.levels.push_back({"XLA’s own order", result_.by_default});
    }
    document_.sections.push_back(report::ToSection(curve));
  }

  // The passes from the program on, in order.
  StatusOr<Applied> Apply(const std::vector<PassId>& passes, bool opcodes) {
    ApplyRequest request = Request(passes);
    request.options.opcodes = opcodes;
    return pool_.Apply(request);
  }

  ApplyRequest Request(const std::vector<PassId>& passes) const {
    ApplyRequest request;
    request.from = {what_.program.id, {}};
    request.passes = passes;
    Require(objective_, request.options);
    return request;
  }

  void Steps() {
    const std::shared_ptr<void> waiting = events_.During("report: what each pass changed");
    const StatusOr<Applied> applied = Apply(result_.passes, /*opcodes=*/true);
    if (!applied) return Missing("what each pass changed", applied.error().message);
    report::Passes passes;
    passes.note = "Only passes that change something are in the sequence.";
    passes.value_name = ValueName(objective_);
    passes.initial = result_.initial;
    OpcodeCounts before = what_.program.opcodes;
    for (const Step& step : applied->steps) {
      const PassInfo& info = pool_.passes()[step.pass];
      report::PassStep row{info.name, info.meaning, ObjectiveValue(objective_, step.metrics), {}};
      if (step.changed) {
        row.opcodes = Difference(before, step.opcodes);
        before = step.opcodes;
      }
      passes.steps.push_back(std::move(row));
    }
    document_.sections.push_back(report::ToSection(passes));
  }

  std::vector<std::pair<std::string, int64_t>> Difference(const OpcodeCounts& before,
                                                          const OpcodeCounts& after) const {
    std::map<uint16_t, int64_t> change;
    for (const OpcodeCount& count : before) change[count.opcode] -= count.count;
    for (const OpcodeCount& count : after) change[count.opcode] += count.count;
    std::vector<std::pair<std::string, int64_t>> list;
    for (const auto& [opcode, count] : change) {
      if (count != 0) list.emplace_back(pool_.opcodes()[opcode], count);
    }
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
      return std::abs(a.second) > std::abs(b.second);
    });
    return list;
  }

  void LeaveOut() {
    const size_t count = std::min(kMostUndone, result_.passes.size());
    if (count == 0) return;
    const std::shared_ptr<void> waiting = events_.During("report: the sequence without each pass");
    std::vector<ApplyRequest> requests;
    for (size_t i = 0; i < count; ++i) {
      std::vector<PassId> passes = result_.passes;
      passes.erase(passes.begin() + static_cast<ptrdiff_t>(i));
      requests.push_back(Request(passes));
    }
    const std::vector<StatusOr<Applied>> all = pool_.Apply(requests);
    report::Ablation ablation;
    ablation.note =
        "The same sequence with one pass left out. A pass whose work another does as well is worth "
        "nothing by itself.";
    ablation.effect_name = fmt::format("{} saved", ValueName(objective_));
    for (size_t i = 0; i < count; ++i) {
      const PassInfo& info = pool_.passes()[result_.passes[i]];
      if (!all[i]) {
        Missing(info.name + " undone", all[i].error().message);
        continue;
      }
      double value = result_.initial;
      for (const Step& step : all[i]->steps) {
        if (step.failure.empty()) value = ObjectiveValue(objective_, step.metrics);
      }
      const double effect = value - result_.value;
      std::string text = ValueText(objective_, std::abs(effect));
      if (effect != 0) text = (effect > 0 ? "+" : "−") + text;
      ablation.undone.push_back({fmt::format("{}. {}", i + 1, info.name), info.meaning, effect,
                                 std::nullopt, std::nullopt, text});
    }
    document_.sections.push_back(report::ToSection(ablation));
  }

  StateName ResultState() const {
    StateName state{what_.program.id, {}};
    for (PassId pass : result_.passes) state.links.push_back({pass, {}});
    return state;
  }

  void Graphs() {
    const StatusOr<ProgramGraph> before = pool_.Describe({what_.program.id, {}});
    const StatusOr<ProgramGraph> after = pool_.Describe(ResultState());
    if (!before) return Missing("the graph", before.error().message);
    if (!after) return Missing("the graph", after.error().message);
    report::Graphs graphs;
    graphs.views = {{"as given", &*before, {}}, {"result", &*after, {}}};
    document_.sections.push_back(report::ToSection(graphs));
  }

  void Kernels() {
    if (!result_.verified()) return;  // it may not be fit to be run here
    if (result_.verify_seconds > kMostVerifySeconds) {
      return Missing("kernel times", "they would take long to measure; `hone tune` does");
    }
    const std::shared_ptr<void> waiting = events_.During("report: measuring kernels");
    const cost::Machine machine = cost::MeasureMachine();
    std::vector<report::KernelRun> runs;
    for (const auto& [label, state] :
         {std::pair<const char*, StateName>{"as given", {what_.program.id, {}}},
          {"result", ResultState()}}) {
      StatusOr<CompiledView> view = ViewCompiled(pool_, state, {}, machine, label);
      if (!view) return Missing("kernel times", view.error().message);
      if (!view->run) return Missing("kernel times", view->why_no_run);
      runs.push_back(*std::move(view->run));
    }
    if (auto section = KernelSection(machine, std::move(runs))) {
      document_.sections.push_back(*std::move(section));
    }
  }

  Pool& pool_;
  const OptimizeReport& what_;
  const OptimizeResult& result_;
  const Objective objective_;
};

}  // namespace

report::Document MakeReport(Pool& pool, const OptimizeReport& what, Events& events) {
  return Maker(pool, what, events).Make();
}

}  // namespace hone::jobs
