#include <fmt/format.h>

#include <cmath>

#include "cli/device.h"
#include "device/compare.h"
#include "device/programs.h"
#include "device/race.h"

namespace hone::cli {
namespace {

Status Try(Pool& pool, const ProgramInfo& program, const StateName& state,
           device::RemoteDevice& device, const RaceOptions& racing, const CompareOptions* comparing,
           const std::atomic<bool>* interrupted, OnDevice& tried) {
  auto programs = device::Programs::Of(pool, program);
  if (!programs) return tl::unexpected(programs.error());
  const auto a = programs->Make({program.id, {}}, {});
  if (!a) return tl::unexpected(a.error());
  const auto b = programs->Make(state, {});
  if (!b) return tl::unexpected(b.error());
  if (comparing != nullptr) {
    const auto inputs = [&](const verify::InputChoice& choice) {
      return programs->Inputs(choice, *comparing);
    };
    tried.comparison = device::Compare(device, *a, *b, inputs, *comparing);
  }
  const auto inputs = programs->Inputs(0, racing.seed);
  if (!inputs) return tl::unexpected(inputs.error());
  const auto race = device::Race(device, *a, *b, inputs->inputs, racing, interrupted);
  if (!race) return tl::unexpected(race.error());
  tried.race = *race;
  return {};
}

}  // namespace

OnDevice TryOnDevice(Pool& pool, const ProgramInfo& program, const StateName& state,
                     device::RemoteDevice& device, const RaceOptions& racing,
                     const CompareOptions* comparing, const std::atomic<bool>* interrupted) {
  OnDevice tried;
  tried.device = DeviceJson(device);
  const Status done = Try(pool, program, state, device, racing, comparing, interrupted, tried);
  if (!done) tried.error = done.error().message;
  return tried;
}

Json OnDeviceJson(const OnDevice& tried) {
  Json json = tried.device;
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

std::string OnDeviceText(const OnDevice& tried) {
  const std::string kind = Printable(tried.device["kind"].get<std::string>());
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
