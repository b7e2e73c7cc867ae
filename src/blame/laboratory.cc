#include "blame/laboratory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "core/input_seed.h"
#include "tune/pool_evaluator.h"

namespace hone::blame {
namespace {

constexpr int kRaces = 3;
constexpr int kLeastPairs = 6;
constexpr double kProfileSeconds = 0.3;
constexpr double kMostProfileSeconds = 20;
constexpr double kKernelChange = 0.02;  // of the run, that is worth telling
constexpr size_t kMostKernels = 8;

Error Interrupted() { return {ErrorCode::kInterrupted, "interrupted"}; }

Finding NotKnown(const Error& error) {
  Finding finding;
  finding.error = error.message;
  return finding;
}

}  // namespace

Finding OfAll(std::vector<Finding> findings) {
  std::sort(findings.begin(), findings.end(),
            [](const Finding& a, const Finding& b) { return a.ratio < b.ratio; });
  Finding all = findings[findings.size() / 2];
  for (const Finding& finding : findings) {
    all.low = std::min(all.low, finding.low);
    all.high = std::max(all.high, finding.high);
    if (finding.shows != all.shows) all.shows = Shows::kUnsure;
    if (!finding.error.empty()) all.error = finding.error;
  }
  if (!all.error.empty()) all.shows = Shows::kUnsure;
  return all;
}

double Laboratory::Spent() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

Finding Laboratory::Slower(const Way& a, const Way& b, double threshold, double seconds) {
  if (interrupted()) return NotKnown(Interrupted());
  const auto state_a = tune::StateAfter(pool_, a.program, a.plan->passes);
  if (!state_a) return NotKnown(state_a.error());
  const auto state_b = tune::StateAfter(pool_, b.program, b.plan->passes);
  if (!state_b) return NotKnown(state_b.error());
  Finding finding;
  for (int i = 0; i < kRaces; ++i) {
    RaceOptions racing;
    racing.budget_seconds = seconds * (i + 1);
    racing.least_pairs = kLeastPairs << i;
    racing.indifferent = i == 0 ? (threshold - 1) / 2 : 0;
    racing.seed = FirstInputsSeed(options_.seed);
    const StatusOr<RaceReport> race =
        pool_.Race(*state_a, a.plan->compile, *state_b, b.plan->compile, racing);
    if (!race) return NotKnown(race.error());
    finding.same_executable = race->same_executable;
    finding.ratio = 1 / race->speedup;
    finding.low = 1 / race->high;
    finding.high = 1 / race->low;  // infinity where there were too few pairs
    finding.pairs = race->pairs;
    finding.seconds_a = race->seconds_a;
    finding.seconds_b = race->seconds_b;
    if (finding.low > threshold) finding.shows = Shows::kYes;
    if (finding.high < threshold) finding.shows = Shows::kNo;
    if (finding.shows != Shows::kUnsure || Over(seconds)) break;
  }
  return finding;
}

Finding Laboratory::Different(const Way& a, const Way& b, double seconds) {
  if (interrupted()) return NotKnown(Interrupted());
  const auto state_a = tune::StateAfter(pool_, a.program, a.plan->passes);
  if (!state_a) return NotKnown(state_a.error());
  const auto state_b = tune::StateAfter(pool_, b.program, b.plan->passes);
  if (!state_b) return NotKnown(state_b.error());
  CompareOptions comparing;
  comparing.seed = options_.seed;
  comparing.budget_seconds = seconds;
  comparing.stop = options_.interrupted;
  const StatusOr<ComparisonReport> report =
      pool_.Compare(*state_a, a.plan->compile, *state_b, b.plan->compile, comparing);
  if (!report) return NotKnown(report.error());
  Finding finding;
  finding.comparison = *report;
  if (report->verdict == Verdict::kDifferent) finding.shows = Shows::kYes;
  if (report->verdict == Verdict::kEqual) finding.shows = Shows::kNo;
  if (finding.shows == Shows::kUnsure) finding.error = report->reason;
  return finding;
}

StatusOr<Compiled> Laboratory::Compile(ProgramId program, const tune::TunePlan& plan, bool sites,
                                       bool text) {
  if (interrupted()) return tl::unexpected(Interrupted());
  const auto state = tune::StateAfter(pool_, program, plan.passes);
  if (!state) return tl::unexpected(state.error());
  CompileOptions compiling;
  compiling.sites = sites;
  compiling.text = text;
  compiling.code = sites;
  return pool_.Compile(*state, plan.compile, compiling);
}

std::vector<KernelChange> Laboratory::Kernels(const Way& a, const Way& b) {
  if (interrupted()) return {};
  std::vector<std::vector<KernelTime>> times;
  std::vector<ProgramGraph> graphs;
  for (const Way* way : {&a, &b}) {
    const auto state = tune::StateAfter(pool_, way->program, way->plan->passes);
    if (!state) return {};
    auto kernels = pool_.Profile(*state, way->plan->compile, kProfileSeconds, kMostProfileSeconds,
                                 FirstInputsSeed(options_.seed));
    const auto compiled = Compile(way->program, *way->plan, /*sites=*/false, /*text=*/true);
    if (!kernels || !compiled) return {};
    const auto module = pool_.Load(compiled->text);
    if (!module) return {};
    auto graph = pool_.Describe({module->id, {}});
    pool_.Unload(module->id);
    if (!graph) return {};
    times.push_back(*std::move(kernels));
    graphs.push_back(*std::move(graph));
  }
  double run = 0;
  for (const KernelTime& kernel : times[0]) run += HasKernelsInside(kernel) ? 0 : kernel.seconds;
  std::vector<KernelChange> changes = MatchKernels(times[0], graphs[0], times[1], graphs[1]);
  const auto small = std::find_if(changes.begin(), changes.end(), [&](const KernelChange& change) {
    return std::abs(change.seconds_b - change.seconds_a) < kKernelChange * run;
  });
  changes.erase(small, changes.end());
  if (changes.size() > kMostKernels) changes.resize(kMostKernels);
  return changes;
}

StatusOr<StateName> Laboratory::Run(ProgramId program,
                                    const std::vector<tune::PlannedPass>& passes) {
  const auto planned = tune::StateAfter(pool_, program, passes);
  if (!planned) return tl::unexpected(planned.error());
  StateName state{program, {}};
  for (const auto& link : planned->links) {
    ApplyRequest request;
    request.from = state;
    request.passes = {link.pass};
    if (link.decisions != nullptr) request.decisions = {link.decisions};
    const StatusOr<Applied> applied = pool_.Apply(request);
    if (!applied) return tl::unexpected(applied.error());
    const Step& step = applied->steps.at(0);
    if (!step.failure.empty()) {
      return MakeError(ErrorCode::kPassFailed,
                       fmt::format("{} fails: {}", pool_.passes()[link.pass].name, step.failure));
    }
    if (step.changed) state.links.push_back({link.pass, step.state, link.decisions});
  }
  return state;
}

StatusOr<Rewrites> Laboratory::ListRewrites(ProgramId program, const tune::TunePlan& plan,
                                            size_t position) {
  const std::vector<tune::PlannedPass> before(
      plan.passes.begin(), plan.passes.begin() + static_cast<std::ptrdiff_t>(position));
  const StatusOr<StateName> state = Run(program, before);
  if (!state) return tl::unexpected(state.error());
  const auto pass = tune::StateAfter(pool_, program, {{plan.passes[position].pass, {}}});
  if (!pass) return tl::unexpected(pass.error());
  return pool_.ListRewrites(*state, pass->links[0].pass, {});
}

StatusOr<std::string> Laboratory::TextAfterPasses(ProgramId program, const tune::TunePlan& plan) {
  const StatusOr<StateName> state = Run(program, plan.passes);
  if (!state) return tl::unexpected(state.error());
  StatusOr<Exported> exported = pool_.Export(*state, ExportFormat::kText);
  if (!exported) return tl::unexpected(exported.error());
  return std::move(exported->bytes);
}

}  // namespace hone::blame
