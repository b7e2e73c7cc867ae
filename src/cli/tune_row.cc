#include "cli/tune_row.h"

#include <fmt/format.h>

#include "jobs/machine_load.h"
#include "tune/tune_plan.h"

namespace hone::cli {

Json TuneRowJson(const TuneRow& row) {
  if (row.error) return {{"file", row.file}, {"error", ErrorJson(*row.error, row.file)}};
  Json json = ToJson(row.file, row.tuned);
  AddTexts({{"plan_file", row.plan_file}, {"output", row.output}, {"report", row.report}}, json);
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
  const tune::TuneResult& result = row.tuned.result;
  const std::string& target = row.tuned.target;
  const std::string interval =
      !result.kept      ? "stock"
      : !target.empty() ? "estimated"
                        : fmt::format("[{:.3f}, {:.3f}]", result.race.low, result.race.high);
  const auto time = [](double ms) { return ms > 0 ? fmt::format("{:.4g}", ms) : "-"; };
  std::string line =
      fmt::format("{:{}} {:>10} {:>10} {:>8.3f} {:>16} {:>9} {:>6} {:>8.1f}\n", row.file, width,
                  time(row.tuned.StockMilliseconds()), time(row.tuned.TunedMilliseconds()),
                  result.kept ? result.race.speedup : 1.0, interval, result.verified,
                  result.evaluations, result.seconds);
  if (!target.empty()) {
    line += fmt::format("  times on {} are estimated by XLA's own model of it: nothing was run there\n",
                        target);
  }
  if (!result.kept) {
    line += fmt::format("  stock: {}\n", Printable(result.reason));
  }
  if (result.stop != tune::TuneStop::kNotTunable) {
    line += fmt::format("  ended: {}\n", Printable(result.ended));
  }
  if (const std::string beside = jobs::BesideOthers(row.tuned.others_cores); !beside.empty()) {
    line += "  " + beside + "\n";
  }
  return line;
}

std::string TuneDetails(const TuneRow& row) {
  std::string text;
  int64_t evaluations = 0;
  for (const tune::TaskReport& task : row.tuned.result.tasks) evaluations += task.evaluations;
  if (evaluations > 0) {
    text += fmt::format("  {} evaluations of {} operations alone\n", evaluations,
                        row.tuned.result.tasks.size());
  }
  for (const tune::StageGain& gain : row.tuned.result.gains) {
    text += fmt::format("  {}: {} choice{}, {:.3f} times", StageName(gain.stage), gain.choices,
                        gain.choices == 1 ? "" : "s", gain.race.speedup);
    text += row.tuned.target.empty()
                ? fmt::format(" [{:.3f}, {:.3f}]\n", gain.race.low, gain.race.high)
                : std::string("\n");
  }
  for (const auto& [name, value] : row.tuned.result.plan.compile.flags) {
    text += fmt::format("  flag {} = {}\n", name, value);
  }
  for (const tune::PlannedPass& planned : row.tuned.result.plan.passes) {
    text += fmt::format("  pass {}\n", planned.pass);
  }
  for (const std::string& rejected : row.tuned.result.rejected) {
    text += fmt::format("  rejected: {}\n", Printable(rejected));
  }
  return text;
}

}  // namespace hone::cli
