#include "cli/tune_row.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string>

#include "cli/machine_load.h"
#include "tune/tune_plan.h"

namespace hone::cli {
namespace {

Json RaceJson(const RaceReport& race) {
  return {{"speedup", race.speedup},
          {"speedup_ci", {race.low, std::isfinite(race.high) ? Json(race.high) : Json(nullptr)}},
          {"pairs", race.pairs}};
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

Json TuneRowJson(const TuneRow& row) {
  if (row.error) return {{"file", row.file}, {"error", ErrorJson(*row.error, row.file)}};
  const tune::TuneResult& result = row.result;
  const RaceReport& race = result.race;
  Json json;
  json["file"] = row.file;
  const bool measured = row.StockMilliseconds() > 0;
  json["stock_ms"] = measured ? Json(row.StockMilliseconds()) : Json(nullptr);
  json["tuned_ms"] = measured ? Json(row.TunedMilliseconds()) : Json(nullptr);
  json["speedup"] = result.kept ? race.speedup : 1.0;
  json["speedup_ci"] = result.kept ? Json{race.low, race.high} : Json{1.0, 1.0};
  if (result.verified == "true" || result.verified == "false") {
    json["verified"] = result.verified == "true";
  } else {
    json["verified"] = result.verified;
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
  json["others_cores"] = row.others_cores;
  json["busy_share"] = result.seconds > 0 ? result.busy_seconds / result.seconds : 0;
  json["phases"] = Json::object();
  for (const tune::PhaseTime& one : result.phases) {
    json["phases"][one.phase] = {{"seconds", one.seconds}, {"calls", one.calls}};
  }
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
  if (row.stand_ins > 0) json["stand_in_constants"] = row.stand_ins;
  if (!row.device.is_null()) json["device"] = row.device;
  if (!row.plan_file.empty()) json["plan_file"] = row.plan_file;
  if (!row.output.empty()) json["output"] = row.output;
  if (!row.report.empty()) json["report"] = row.report;
  return json;
}

std::string TuneHeader(size_t width) {
  return fmt::format("{:{}} {:>10} {:>10} {:>8} {:>16} {:>9} {:>6} {:>8}\n", "FILE", width,
                     "STOCK ms", "TUNED ms", "SPEEDUP", "95 %", "VERIFIED", "EVALS", "SECONDS");
}

std::string TuneLine(const TuneRow& row, size_t width) {
  if (row.error) {
    return fmt::format("{:{}} failed: {}\n", row.file, width, Printable(row.error->message));
  }
  const tune::TuneResult& result = row.result;
  const std::string interval =
      result.kept ? fmt::format("[{:.3f}, {:.3f}]", result.race.low, result.race.high) : "stock";
  const auto time = [](double ms) { return ms > 0 ? fmt::format("{:.4g}", ms) : "-"; };
  std::string line =
      fmt::format("{:{}} {:>10} {:>10} {:>8.3f} {:>16} {:>9} {:>6} {:>8.1f}\n", row.file, width,
                  time(row.StockMilliseconds()), time(row.TunedMilliseconds()),
                  result.kept ? result.race.speedup : 1.0, interval, result.verified,
                  result.evaluations, result.seconds);
  if (!result.kept) {
    line += fmt::format("  stock: {}\n", Printable(result.reason));
  }
  if (result.stop != tune::TuneStop::kNotTunable) {
    line += fmt::format("  ended: {}\n", Printable(result.ended));
  }
  if (const std::string beside = BesideOthers(row.others_cores); !beside.empty()) {
    line += "  " + beside + "\n";
  }
  return line;
}

std::string TuneDetails(const TuneRow& row) {
  std::string text;
  int64_t evaluations = 0;
  for (const tune::TaskReport& task : row.result.tasks) evaluations += task.evaluations;
  if (evaluations > 0) {
    text += fmt::format("  {} evaluations of {} operations alone\n", evaluations,
                        row.result.tasks.size());
  }
  for (const tune::StageGain& gain : row.result.gains) {
    text += fmt::format("  {}: {} choice{}, {:.3f} times [{:.3f}, {:.3f}]\n", StageName(gain.stage),
                        gain.choices, gain.choices == 1 ? "" : "s", gain.race.speedup,
                        gain.race.low, gain.race.high);
  }
  for (const auto& [name, value] : row.result.plan.compile.flags) {
    text += fmt::format("  flag {} = {}\n", name, value);
  }
  for (const tune::PlannedPass& planned : row.result.plan.passes) {
    text += fmt::format("  pass {}\n", planned.pass);
  }
  for (const std::string& rejected : row.result.rejected) {
    text += fmt::format("  rejected: {}\n", Printable(rejected));
  }
  return text;
}

}  // namespace hone::cli
