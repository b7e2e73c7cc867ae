#include "jobs/tune.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "jobs/data_loops.h"
#include "jobs/machine_load.h"
#include "jobs/place.h"
#include "report/words.h"
#include "tune/device_evaluator.h"
#include "tune/records.h"
#include "tune/tune_plan.h"

namespace hone::jobs {
namespace {

// Where figures of this program hold: a device is a machine of its own.
store::Place PlaceOf(const OpenedProgram& opened, const std::optional<Processor>& workers_are_on) {
  const Pool& pool = opened.programs->pool();
  store::Place place = jobs::PlaceOf(pool);
  if (workers_are_on && !pool.is_gpu()) {
    place.cpu = workers_are_on->name;
    place.cores = workers_are_on->cores;
  }
  if (opened.device == nullptr) return place;
  const device::PluginInfo& info = opened.device->info();
  place.cpu = fmt::format("{} device {}", info.platform, opened.device->device().kind);
  place.cores = info.platform == "cpu" ? place.cores : 1;
  place.xla = fmt::format("{}, {}", info.platform_version, place.xla);
  return place;
}

void AddAlternatives(const tune::TuneResult& result, Json& json) {
  json["alternatives"] = Json::array();
  for (const tune::AlternativeReport& one : result.alternatives) {
    json["alternatives"].push_back({{"name", one.name},
                                    {"promise", one.promise},
                                    {"growth", one.growth},
                                    {"expected", one.expected}});
  }
  json["combinations"] = Json::array();
  for (const tune::CombinationReport& one : result.combinations) {
    Json raced{{"alternatives", one.alternatives}, {"seconds", one.seconds}};
    raced.update(RaceJson(one.race));
    if (!one.error.empty()) raced["error"] = one.error;
    json["combinations"].push_back(raced);
  }
}

void AddTasks(const std::vector<tune::TaskReport>& tasks, Json& json) {
  int64_t evaluations = 0;
  int64_t races = 0;
  json["tasks"] = Json::array();
  for (const tune::TaskReport& task : tasks) {
    evaluations += task.evaluations;
    races += task.races;
    Json one{{"task", task.task},
             {"what", task.what.what},
             {"places", task.what.places},
             {"runs", task.what.runs},
             {"share", task.share},
             {"stock_ms", 1000 * task.seconds},
             {"evaluations", task.evaluations},
             {"races", task.races},
             {"plan", Json::parse(tune::TunePlanToJson(task.plan))}};
    one.update(RaceJson(task.race));
    json["tasks"].push_back(one);
  }
  json["task_evaluations"] = evaluations;
  std::map<std::string, tune::PhaseTime> phases;
  for (const tune::TaskReport& task : tasks) {
    for (const tune::PhaseTime& one : task.phases) {
      phases[one.phase].seconds += one.seconds;
      phases[one.phase].calls += one.calls;
    }
  }
  json["task_phases"] = Json::object();
  for (const auto& [phase, time] : phases) {
    json["task_phases"][phase] = {{"seconds", time.seconds}, {"calls", time.calls}};
  }
  json["task_races"] = races;
}

}  // namespace

StatusOr<TunedProgram> TuneProgram(const OpenedProgram& opened, const TuneProgramOptions& options,
                                   Events& events) {
  const ClearAtEnd clear(events);
  const ProgramInfo program = opened.program();
  TunedProgram tuned;
  tuned.stand_ins = program.stand_in_constants;
  if (opened.device != nullptr) tuned.device = DeviceJson(*opened.device);
  if (program.elided_constants) {
    tuned.result.stop = tune::TuneStop::kNotTunable;
    tuned.result.ended = "it cannot be tuned";
    tuned.result.reason = ElidedConstants().message;
    return tuned;
  }
  WarnOfStandIns(options.file, program, events);
  tune::TuneOptions tuning = options.tuning;
  tuning.program = program.fingerprint.ToHex();
  tuning.compare.seed = tuning.seed;
  tuning.estimated = opened.programs->pool().is_gpu();
  if (tuning.estimated) tuned.target = opened.programs->pool().target();
  if (options.policy) {
    tuning.policy = *options.policy;
  } else if (opened.device == nullptr && !tuning.estimated) {
    tuning.policy = tune::ChangePolicy::Shipped();
  }
  if (Status given =
          options.inputs.Read(opened.programs->pool(), program, options.file, &tuning.compare);
      !given) {
    return tl::unexpected(given.error());
  }
  if (opened.device == nullptr && !tuning.compare.given.empty()) {
    opened.programs->pool().GiveInputs(program.id, tuning.compare.given.front());
  } else if (opened.device == nullptr && !tuning.estimated) {
    tuned.data_loops = CountDataLoops(opened.programs->pool(), program);
  }
  tuning.interrupted = events.stop();
  tuning.progress = [&](const tune::TuneProgress& now) {
    if (!events.Due()) return;
    const std::string stock = now.stock_seconds > 0
                                  ? fmt::format("{:.4g} ms", 1000 * now.stock_seconds)
                                  : "not timed yet";
    events.Show(fmt::format("{}: {} {:.0f} s, {} evaluations, stock {}, best {:.3f}", options.file,
                            now.phase, now.seconds, report::Grouped(now.evaluations), stock,
                            now.best_speedup));
  };
  const store::ProgramRow known{tuning.program, program.name, options.file,
                                program.metrics.op_count};
  const store::Place place = PlaceOf(opened, options.workers_are_on);
  if (options.store != nullptr) {
    const Status begun = tune::BeginRecords(*options.store, place, known, options.transfer, tuning);
    if (!begun) return tl::unexpected(begun.error());
  }
  const MachineLoad load;
  tuned.result = tune::TuneProgram(*opened.evaluator, tuning);
  // A cluster's machines, or a device, are not this machine.
  if (!options.workers_are_on && opened.device == nullptr && !tuning.estimated) {
    tuned.others_cores = load.OthersCores().value_or(0);
  }
  if (options.store != nullptr) {
    const Status ended = tune::EndRecords(*options.store, place, known, tuned.result);
    if (!ended) return tl::unexpected(ended.error());
  }
  return tuned;
}

StatusOr<tune::Stages> StagesFor(const std::string& text, bool device) {
  if (!device) return tune::StagesFromText(text);
  StatusOr<tune::Stages> possible = tune::StagesFromText(std::string(tune::kDeviceStages));
  if (text == kDefaultStages) return possible;
  StatusOr<tune::Stages> stages = tune::StagesFromText(text);
  if (!stages) return stages;
  for (const Stage stage : stages->list) {
    if (possible->Has(stage)) continue;
    return MakeError(ErrorCode::kInvalidInput,
                     fmt::format("stage {} is the plugin's own on a device; with --device give "
                                 "some of {}",
                                 StageName(stage), tune::kDeviceStages));
  }
  return stages;
}

Json ToJson(const std::string& file, const TunedProgram& tuned) {
  const tune::TuneResult& result = tuned.result;
  const RaceReport& race = result.race;
  Json json;
  json["file"] = file;
  const bool measured = tuned.StockMilliseconds() > 0;
  json["stock_ms"] = measured ? Json(tuned.StockMilliseconds()) : Json(nullptr);
  json["tuned_ms"] = measured ? Json(tuned.TunedMilliseconds()) : Json(nullptr);
  json["speedup"] = result.kept ? race.speedup : 1.0;
  json["speedup_ci"] = result.kept ? Json{race.low, race.high} : Json{1.0, 1.0};
  if (result.verified == "true" || result.verified == "false") {
    json["verified"] = result.verified == "true";
  } else {
    json["verified"] = result.verified;
  }
  if (!tuned.target.empty()) {
    json["target"] = tuned.target;
    json["estimated"] = true;
  }
  json["evaluations"] = result.evaluations;
  json["seconds"] = result.seconds;
  json["plan"] = Json::parse(tune::TunePlanToJson(result.plan));
  json["kept"] = result.kept ? "tuned" : "stock";
  json["reason"] = result.reason;
  json["stop_reason"] = tune::TuneStopName(result.stop);
  json["ended"] = result.ended;
  json["races"] = result.races;
  json["failures"] = result.failures;
  json["passed_over"] = result.passed_over;
  json["variables"] = result.variables;
  json["others_cores"] = tuned.others_cores;
  json["data_loops"] = tuned.data_loops;
  json["busy_share"] = result.seconds > 0 ? result.busy_seconds / result.seconds : 0;
  json["phases"] = Json::object();
  for (const tune::PhaseTime& one : result.phases) {
    json["phases"][one.phase] = {{"seconds", one.seconds}, {"calls", one.calls}};
  }
  AddAlternatives(result, json);
  AddTasks(result.tasks, json);
  const ComparisonReport& report = result.verification;
  json["verification"] = {{"method", report.method},
                          {"inputs", report.inputs},
                          {"worst_error", report.worst_error},
                          {"reason", report.reason}};
  json["by_stage"] = Json::array();
  for (const tune::StageGain& gain : result.gains) {
    Json stage{{"stage", StageName(gain.stage)}, {"choices", gain.choices}};
    stage.update(RaceJson(gain.race));
    json["by_stage"].push_back(stage);
  }
  json["best_so_far"] = Json::array();
  for (const tune::TuneImprovement& better : result.improvements) {
    json["best_so_far"].push_back({{"seconds", better.seconds},
                                   {"evaluations", better.evaluations},
                                   {"speedup", better.speedup},
                                   {"stage", StageName(better.stage)}});
  }
  json["rejected"] = result.rejected;
  json["others"] = Json::array();
  for (const tune::RunnerUp& other : result.others) {
    json["others"].push_back(
        {{"speedup", other.speedup}, {"plan", Json::parse(tune::TunePlanToJson(other.plan))}});
  }
  if (tuned.stand_ins > 0) json["stand_in_constants"] = tuned.stand_ins;
  if (!tuned.device.is_null()) json["device"] = tuned.device;
  return json;
}

}  // namespace hone::jobs
