#include "jobs/report_tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "jobs/machine_load.h"
#include "jobs/report.h"
#include "report/sections/ablation.h"
#include "report/sections/curve.h"
#include "report/sections/graphs.h"
#include "report/words.h"

namespace hone::jobs {
namespace {

using report::Grouped;
using report::HumanSeconds;
using report::Printable;

constexpr double kUndoingSeconds = 30;  // all races together, compiling not counted
constexpr double kRaceSeconds = 2;
constexpr size_t kMostUndone = 40;

// A plan without one of its decisions.
struct Without {
  std::string decision;
  std::string detail;
  int64_t weight = 0;  // bytes: the heaviest first
  tune::TunePlan plan;
};

class Maker : PageMaker {
 public:
  Maker(tune::PoolEvaluator& evaluator, const TuneReport& what, Events& events)
      : PageMaker(events, BeginReport("tune", what.file, evaluator.program().name,
                                      evaluator.pool().version())),
        evaluator_(evaluator),
        pool_(evaluator.pool()),
        what_(what),
        result_(what.result) {}

  report::Document Make() {
    Headline();
    if (result_.stock_seconds > 0) Curve();
    if (result_.kept) {
      Stages();
      if (!Interrupted()) Decisions();
    }
    if (!Interrupted() && !result_.sites.empty()) {
      Compiled();
    } else if (!Interrupted()) {
      AsGiven();
    }
    return Finish();
  }

 private:
  void Headline() {
    report::Headline& headline = document_.headline;
    const RaceReport& race = result_.race;
    headline.better = result_.kept;
    const double stock = result_.kept ? race.seconds_a : result_.stock_seconds;
    if (result_.kept) {
      headline.verdict = fmt::format(
          "{:.3f} times as fast as the stock compiler’s way (95 % interval {:.3f} to {:.3f}): {} "
          "rather than {}.",
          race.speedup, race.low, race.high, HumanSeconds(race.seconds_b), HumanSeconds(stock));
    } else {
      headline.verdict = "The stock compiler’s way is kept: " + Printable(result_.reason) + ".";
      if (result_.stock_seconds == 0 && result_.stop != tune::TuneStop::kNotTunable) {
        document_.remarks.push_back(
            "Nothing was measured while tuning. The program and its kernels below are the stock "
            "compiler’s: they say where its time goes, and what there would be to decide.");
      }
    }
    headline.verified = result_.verified == "true"      ? report::Verified::kYes
                        : result_.verified == "false"   ? report::Verified::kNo
                        : result_.verified == "skipped" ? report::Verified::kSkipped
                                                        : report::Verified::kUnknown;
    headline.verification = result_.kept && result_.verified != "skipped"
                                ? report::HowVerified(result_.verification)
                            : result_.kept ? "verification was skipped"
                                           : "nothing to verify: it is the stock compiler’s";
    headline.figures = {
        {"stock", stock > 0 ? HumanSeconds(stock) : "–", "a run, median"},
        {"tuned", result_.kept ? HumanSeconds(race.seconds_b) : "–",
         result_.kept ? fmt::format("{} pairs in a fresh process", race.pairs) : "not kept"},
        {"speed-up", fmt::format("{:.3f}×", result_.kept ? race.speedup : 1.0),
         result_.kept ? fmt::format("{:.3f} to {:.3f}", race.low, race.high) : "stock"},
        {"searched", HumanSeconds(result_.seconds),
         fmt::format("{} plans, {} races, {} failures", Grouped(result_.evaluations),
                     Grouped(result_.races), Grouped(result_.failures))}};
    auto& facts = document_.facts;
    facts.push_back({"stages", what_.stages, ""});
    facts.push_back({"search", what_.strategy, ""});
    facts.push_back({"variables", std::to_string(result_.variables), ""});
    facts.push_back({"seed", std::to_string(what_.seed), ""});
    facts.push_back({"ended", Printable(result_.ended), ""});
    facts.push_back({"other processes", fmt::format("{:.1f} cores busy", what_.others_cores), ""});
    if (const std::string beside = BesideOthers(what_.others_cores); !beside.empty()) {
      document_.remarks.push_back(beside);
    }
    facts.push_back({"decided by", Sites(), ""});
    facts.push_back({"program", evaluator_.program().fingerprint.ToHex(), ""});
    for (const std::string& rejected : result_.rejected) {
      document_.remarks.push_back("rejected: " + Printable(rejected));
    }
  }

  // "120 of fusion_edge, 14 of partitions".
  std::string Sites() const {
    std::map<std::string, int> counts;
    for (const CompileSite& site : result_.sites)
      ++counts[std::string(CompileSiteKindName(site.kind))];
    std::string text;
    for (const auto& [kind, count] : counts) {
      text += fmt::format("{}{} of {}", text.empty() ? "" : ", ", Grouped(count), kind);
    }
    return text.empty() ? "no site" : text;
  }

  void Curve() {
    report::Curve curve;
    curve.note = "As it was measured while searching; what is kept is measured again at the end.";
    curve.value_name = "speed-up";
    curve.evaluations_name = "plans evaluated";
    curve.lower_is_better = false;
    curve.start = 1;
    for (const tune::TuneImprovement& better : result_.improvements) {
      curve.points.push_back({better.evaluations, better.seconds, better.speedup});
    }
    curve.evaluated = result_.evaluations;
    curve.seconds = result_.seconds;
    curve.levels = {{"stock compiler", 1}};
    document_.sections.push_back(report::ToSection(curve));
  }

  static report::Undone Worth(std::string decision, std::string detail, double speedup, double low,
                              double high) {
    return {std::move(decision),
            std::move(detail),
            speedup,
            low,
            high,
            fmt::format("{:.3f}×", speedup)};
  }

  void Stages() {
    if (result_.gains.empty()) return;
    report::Ablation ablation;
    ablation.note =
        "The time without a stage’s choices by the time with them, the other stages kept. Bars "
        "with 95 % intervals.";
    ablation.effect_name = "times as fast";
    ablation.neutral = 1;
    for (const tune::StageGain& gain : result_.gains) {
      ablation.undone.push_back(
          Worth(std::string(StageName(gain.stage)),
                fmt::format("{} choice{}", gain.choices, gain.choices == 1 ? "" : "s"),
                gain.race.speedup, gain.race.low, gain.race.high));
    }
    report::Json section = report::ToSection(ablation);
    section["title"] = "Stage by stage";
    document_.sections.push_back(std::move(section));
  }

  std::vector<Without> Each() const {
    std::map<SiteKey, const CompileSite*> sites;
    for (const CompileSite& site : result_.sites) sites[site.key] = &site;
    std::vector<Without> all;
    const tune::TunePlan& plan = result_.plan;
    for (size_t i = 0; i < plan.passes.size(); ++i) {
      Without one{plan.passes[i].pass, "pass before the stock pipeline", INT64_MAX, plan};
      one.plan.passes.erase(one.plan.passes.begin() + static_cast<ptrdiff_t>(i));
      all.push_back(std::move(one));
    }
    for (size_t i = 0; i < plan.compile.flags.size(); ++i) {
      const auto& [name, value] = plan.compile.flags[i];
      Without one{name + " = " + value, "flag", INT64_MAX, plan};
      one.plan.compile.flags.erase(one.plan.compile.flags.begin() + static_cast<ptrdiff_t>(i));
      all.push_back(std::move(one));
    }
    for (size_t i = 0; i < plan.compile.choices.size(); ++i) {
      const CompileChoice& choice = plan.compile.choices[i];
      Without one{"", "", 0, plan};
      if (const auto found = sites.find(choice.key); found != sites.end()) {
        const CompileSite& site = *found->second;
        one.decision = fmt::format("{} of {}", CompileSiteKindName(site.kind), site.instruction);
        one.detail = fmt::format("{} instead of {}", choice.value, site.choices[site.stock]);
        if (site.places > 1) one.detail += fmt::format(", {} places", site.places);
        one.weight = site.bytes;
      } else {
        one.decision = fmt::format("choice {:016x}", choice.key);
        one.detail = choice.value + ", of the program after its passes";
      }
      one.plan.compile.choices.erase(one.plan.compile.choices.begin() + static_cast<ptrdiff_t>(i));
      all.push_back(std::move(one));
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Without& a, const Without& b) { return a.weight > b.weight; });
    return all;
  }

  void Decisions() {
    const std::vector<Without> all = Each();
    if (all.empty()) return;
    const auto waiting = events_.During("report: the plan without each decision");
    report::Ablation ablation;
    ablation.effect_name = "times as fast";
    ablation.neutral = 1;
    RaceOptions racing;
    racing.budget_seconds =
        std::clamp(kUndoingSeconds / static_cast<double>(all.size()), 0.5, kRaceSeconds);
    racing.seed = what_.seed;
    const double begin = evaluator_.Seconds();
    for (const Without& one : all) {
      if (Interrupted() || ablation.undone.size() == kMostUndone ||
          evaluator_.Seconds() - begin > kUndoingSeconds) {
        break;
      }
      const StatusOr<RaceReport> race = evaluator_.Race(result_.plan, one.plan, racing);
      if (!race) {
        Missing(one.decision + " undone", race.error().message);
        continue;
      }
      // Raced the other way round, for the first executable is kept.
      ablation.undone.push_back(Worth(
          one.decision, race->same_executable ? one.detail + "; the same executable" : one.detail,
          1 / std::max(race->speedup, 1e-9), 1 / std::max(race->high, 1e-9),
          1 / std::max(race->low, 1e-9)));
    }
    const size_t left = all.size() - ablation.undone.size();
    ablation.note =
        "The time without a decision by the time with it, all others kept. Bars with 95 % "
        "intervals.";
    if (left > 0) {
      ablation.note +=
          fmt::format(" {} of {} decisions were not tried, for want of time.", left, all.size());
    }
    document_.sections.push_back(report::ToSection(ablation));
  }

  // Where the compiler has nothing to show.
  void AsGiven() {
    const StatusOr<ProgramGraph> graph = pool_.Describe({evaluator_.program().id, {}});
    if (!graph) return Missing("the program", graph.error().message);
    report::Graphs graphs;
    graphs.note = "As it was given: nothing is known of what the compiler makes of it.";
    graphs.views.push_back({"as given", &*graph, {}});
    document_.sections.push_back(report::ToSection(graphs));
  }

  void Compiled() {
    const auto waiting = events_.During("report: measuring kernels");
    const StateName program{evaluator_.program().id, {}};
    const cost::Machine machine = cost::MeasureMachine();
    StatusOr<CompiledView> stock = ViewCompiled(pool_, program, {}, machine, "stock");
    if (!stock) return Missing("the optimised program", stock.error().message);
    std::optional<CompiledView> tuned;
    if (result_.kept) {
      const StatusOr<StateName> state =
          tune::StateAfter(pool_, program.program, result_.plan.passes);
      if (!state) return Missing("the tuned program", state.error().message);
      StatusOr<CompiledView> view =
          ViewCompiled(pool_, *state, result_.plan.compile, machine, "tuned");
      if (!view) return Missing("the tuned program", view.error().message);
      tuned = *std::move(view);
    }
    report::Graphs graphs;
    graphs.note = "As the compiler’s passes leave it, right before code is made of it.";
    graphs.views.push_back({"stock", &stock->graph, {}});
    if (tuned) graphs.views.push_back({"tuned", &tuned->graph, {}});
    std::vector<report::KernelRun> runs;
    for (CompiledView* view : {&*stock, tuned ? &*tuned : nullptr}) {
      if (view == nullptr) continue;
      if (view->run) {
        runs.push_back(*std::move(view->run));
      } else {
        Missing("kernel times", view->why_no_run);
      }
    }
    if (auto section = KernelSection(machine, std::move(runs))) {
      document_.sections.push_back(*std::move(section));
    }
    document_.sections.push_back(report::ToSection(graphs));
  }

  tune::PoolEvaluator& evaluator_;
  Pool& pool_;
  const TuneReport& what_;
  const tune::TuneResult& result_;
};

}  // namespace

report::Document MakeReport(tune::PoolEvaluator& evaluator, const TuneReport& what,
                            Events& events) {
  return Maker(evaluator, what, events).Make();
}

}  // namespace hone::jobs
