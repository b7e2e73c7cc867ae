#include "jobs/check.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "jobs/compare.h"
#include "jobs/open_program.h"
#include "tune/recipe.h"

namespace hone::jobs {
namespace {

// Runs the comparison on the inputs that are given; it may be interrupted.
template <class Run>
FileOr<ComparisonReport> CompareOn(const CheckOptions& options, Pool& pool, const ProgramInfo& a,
                                   Events& events, Run run) {
  CompareOptions compare = options.compare;
  events.HoldInterrupts();
  compare.stop = events.stop();
  if (Status given = options.inputs.Read(pool, a, options.a, &compare); !given) {
    return Wrong(options.a, given.error());
  }
  const std::shared_ptr<void> waiting = events.During(
      fmt::format("compiling and running both, for {:.0f} s at most", compare.budget_seconds));
  StatusOr<ComparisonReport> report = run(compare);
  if (report) return *std::move(report);
  ComparisonReport none;
  none.method = "none";
  none.reason = report.error().message;
  return none;
}

// A program under a plan, against the same as the stock compiler compiles it.
FileOr<Checked> CheckUnderPlan(const CheckOptions& options, const WorkerOptions& workers,
                               Events& events) {
  const FileOr<tune::TunePlan> plan = ReadPlan(options.plan);
  if (!plan) return tl::unexpected(plan.error());
  const auto opened = OpenNamed(options.a, workers, options.device, options.compare.seed, events);
  if (!opened) return tl::unexpected(opened.error());
  for (const auto& pass : plan->passes) {
    const auto known = FindPass(opened->programs->pool().passes(), pass.pass);
    if (!known) return Wrong(options.plan, known.error());
  }
  const ProgramInfo& program = opened->program();
  WarnOfStandIns(options.a, program, events);
  auto report = CompareOn(options, opened->programs->pool(), program, events,
                          [&](const CompareOptions& compare) {
                            return opened->evaluator->Compare({}, *plan, compare);
                          });
  if (!report) return tl::unexpected(report.error());
  return Checked{*std::move(report), program};
}

FileOr<Checked> CheckPrograms(const CheckOptions& options, const WorkerOptions& workers,
                              Events& events) {
  FileOr<std::string> data_a = ReadNamed(options.a, workers);
  if (!data_a) return tl::unexpected(data_a.error());
  FileOr<std::string> data_b = ReadNamed(options.b, workers);
  if (!data_b) return tl::unexpected(data_b.error());
  const auto device = StartDevice(workers, options.device, events);
  if (!device) return Wrong("", device.error());
  const auto pool = StartPool(workers, events);
  if (!pool) return Wrong("", pool.error());
  const StatusOr<ProgramInfo> a = (*pool)->Load(*std::move(data_a));
  if (!a) return Wrong(options.a, a.error());
  const StatusOr<ProgramInfo> b = (*pool)->Load(*std::move(data_b));
  if (!b) return Wrong(options.b, b.error());
  WarnOfStandIns(options.a, *a, events);
  WarnOfStandIns(options.b, *b, events);
  auto report = CompareOn(options, **pool, *a, events, [&](const CompareOptions& compare) {
    return Compare(**pool, *a, *b, compare, device->get());
  });
  if (!report) return tl::unexpected(report.error());
  return Checked{*std::move(report), a->stand_in_constants > 0 ? *a : *b};
}

}  // namespace

FileOr<Checked> Check(const CheckOptions& options, const WorkerOptions& workers, Events& events) {
  if (options.plan.empty() && options.b.empty()) {
    return Wrong("", {ErrorCode::kInvalidInput,
                      "B is required, or a --plan to compile A under; see `hone check --help`"});
  }
  if (!options.plan.empty() && !options.b.empty()) {
    return Wrong("", {ErrorCode::kInvalidInput, "give either B or a --plan to compile A under"});
  }
  return options.plan.empty() ? CheckPrograms(options, workers, events)
                              : CheckUnderPlan(options, workers, events);
}

Json ToJson(const Checked& checked, const CheckOptions& options) {
  Json json{{"a", options.a}};
  if (options.plan.empty()) {
    json["b"] = options.b;
  } else {
    json["plan"] = options.plan;
  }
  json.update(ToJson(checked.report));
  AddStandIns(checked.stands_in, json);
  return json;
}

}  // namespace hone::jobs
