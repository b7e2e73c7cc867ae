#include "tune/records.h"

namespace hone::tune {

Status BeginRecords(store::Store& store, const store::Place& place,
                    const store::ProgramRow& program, bool transfer, TuneOptions& options) {
  options.program = program.program;
  if (Status added = store.AddProgram(program, {}); !added) return added;
  StatusOr<std::vector<store::Measurement>> known = store.Measurements(place, program.program);
  if (!known) return tl::unexpected(known.error());
  options.known = *std::move(known);
  const auto outcome = store.FindOutcome(place, program.program);
  if (!outcome) return tl::unexpected(outcome.error());
  if (*outcome && (*outcome)->kept) {
    const StatusOr<std::string> text = store.PlanText((*outcome)->plan);
    if (!text) return tl::unexpected(text.error());
    // One that this hone cannot read is no start.
    if (const StatusOr<TunePlan> plan = TunePlanFromJson(*text)) options.starts.push_back(*plan);
  }
  if (transfer) {
    StatusOr<std::vector<store::Lesson>> lessons = store.Lessons(place);
    if (!lessons) return tl::unexpected(lessons.error());
    options.lessons = *std::move(lessons);
  }
  options.recall = [&store, place](const std::string& task) {
    auto known = store.Measurements(place, task);
    return known ? *std::move(known) : std::vector<store::Measurement>();
  };
  options.record_outcome = [&store, place](const store::Outcome& outcome,
                                           const store::PlanRow& plan) {
    (void)store.AddOutcome(place, outcome, plan);
  };
  options.record = [&store, place](const store::Measurement& one, const store::PlanRow& plan,
                                   const store::ModuleRow& module) {
    std::vector<store::ModuleRow> modules;
    if (!module.module.empty()) modules.push_back(module);
    // A store that cannot be written to now is told of at the end.
    (void)store.AddMeasurements(place, {one}, {plan}, modules);
  };
  return {};
}

Status EndRecords(store::Store& store, const store::Place& place, const store::ProgramRow& program,
                  const TuneResult& result) {
  if (Status added = store.AddProgram(program, result.sites); !added) return added;
  store::Outcome outcome;
  outcome.program = program.program;
  outcome.plan = HashText(result.plan);
  outcome.kept = result.kept;
  outcome.verified = result.verified;
  outcome.reason = result.reason;
  outcome.stock_seconds = result.stock_seconds;
  outcome.tuned_seconds = result.kept ? result.race.seconds_b : result.stock_seconds;
  if (result.kept) {
    outcome.speedup = result.race.speedup;
    outcome.low = result.race.low;
    outcome.high = result.race.high;
  }
  const store::PlanRow plan{outcome.plan, TunePlanToJson(result.plan), {}};
  if (Status added = store.AddOutcome(place, outcome, plan); !added) return added;
  return store.AddLessons(place, result.lessons);
}

}  // namespace hone::tune
