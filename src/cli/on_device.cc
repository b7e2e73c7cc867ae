#include <fmt/format.h>

#include <cmath>

#include "cli/device.h"

namespace hone::cli {
Json OnDeviceJson(const device::RemoteDevice& device, const jobs::OnDevice& tried) {
  Json json = DeviceJson(device);
  if (tried.comparison) {
    const Verdict verdict = tried.comparison->verdict;
    json["verified"] =
        verdict == Verdict::kCannotTell ? Json("unknown") : Json(verdict == Verdict::kEqual);
    json["reason"] = tried.comparison->reason;
    json["worst_error"] = tried.comparison->worst_error;
  }
  if (!tried.error.empty()) {
    json["error"] = tried.error;
    return json;
  }
  const RaceReport& race = tried.race;
  json["same_executable"] = race.same_executable;
  json["program_ms"] = 1000 * race.seconds_a;
  json["result_ms"] = 1000 * race.seconds_b;
  json["speedup"] = race.speedup;
  json["speedup_ci"] = {race.low, std::isfinite(race.high) ? Json(race.high) : Json(nullptr)};
  json["pairs"] = race.pairs;
  return json;
}

std::string OnDeviceText(const device::RemoteDevice& device, const jobs::OnDevice& tried) {
  const std::string kind = Printable(device.device().kind);
  std::string text;
  if (tried.comparison) {
    const ComparisonReport& report = *tried.comparison;
    text += fmt::format("on {}: {}\n", kind,
                        report.verdict == Verdict::kEqual
                            ? fmt::format("computes the same; worst error {:.3g} of the tolerance",
                                          report.worst_error)
                        : report.verdict == Verdict::kDifferent
                            ? "computes something else: " + Printable(report.reason)
                            : "not known to compute the same: " + Printable(report.reason));
  }
  if (!tried.error.empty()) {
    return text + fmt::format("on {}: not measured: {}\n", kind, Printable(tried.error));
  }
  const RaceReport& race = tried.race;
  if (race.same_executable) return text + fmt::format("on {}: the same program\n", kind);
  return text + fmt::format(
                    "on {}: program {:.4g} ms, result {:.4g} ms: {:.3f} times as fast, 95 % "
                    "interval [{:.3f}, {:.3f}] of {} pairs\n",
                    kind, 1000 * race.seconds_a, 1000 * race.seconds_b, race.speedup, race.low,
                    race.high, race.pairs);
}

}  // namespace hone::cli
