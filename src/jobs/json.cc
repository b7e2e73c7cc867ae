#include "jobs/json.h"

#include <fmt/format.h>

namespace hone::jobs {
namespace {

constexpr const char* kCodeNames[] = {"invalid_input", "unsupported", "pass_failed", "worker_died",
                                      "deadline",      "memory",      "interrupted", "internal"};

}  // namespace

Json ErrorJson(const Error& error, const std::string& file) {
  Json json;
  if (!file.empty()) json["file"] = file;
  json["code"] = kCodeNames[static_cast<int>(error.code)];
  json["message"] = error.message;
  return json;
}

Json TimingJson(const Timing& timing) {
  return {{"passes", timing.passes},
          {"clones", timing.clones},
          {"metrics", timing.metrics},
          {"verifier", timing.verifier},
          {"in_xla", timing.InXla()},
          {"fingerprints", timing.fingerprints},
          {"other", timing.other},
          {"passes_run", timing.passes_run},
          {"clones_made", timing.clones_made},
          {"kernels_compiled", timing.kernels_compiled},
          {"kernels_reused", timing.kernels_reused},
          {"kernels_checked", timing.kernels_checked},
          {"kernels_differed", timing.kernels_differed}};
}

Json RaceJson(const RaceReport& race) {
  return {{"speedup", race.speedup}, {"speedup_ci", {race.low, race.high}}, {"pairs", race.pairs}};
}

Json DeviceJson(const device::RemoteDevice& device) {
  return {{"plugin", device.plugin()},
          {"platform", device.info().platform},
          {"platform_version", device.info().platform_version},
          {"kind", device.device().kind},
          {"id", device.device().id}};
}

Json OnDeviceJson(const device::RemoteDevice& device, const OnDevice& tried) {
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
  json["same_executable"] = tried.race.same_executable;
  json["program_ms"] = 1000 * tried.race.seconds_a;
  json["result_ms"] = 1000 * tried.race.seconds_b;
  json.update(RaceJson(tried.race));
  return json;
}

Error ElidedConstants() {
  return {ErrorCode::kUnsupported,
          "its text has elided constants, {...}, so it cannot be run; dump it again with large "
          "constants, or give --stand-in-constants, which makes values up for them"};
}

std::string AboutStandIns(const ProgramInfo& program) {
  if (program.stand_in_constants == 0) return "";
  return fmt::format(
      "made-up values stand in for its {} elided constants: what is measured and compared holds "
      "for "
      "these values, and a program that is written has them; plans and recipes apply to the "
      "program "
      "with its real constants",
      program.stand_in_constants);
}

void AddStandIns(const ProgramInfo& program, Json& json) {
  if (program.stand_in_constants > 0) json["stand_in_constants"] = program.stand_in_constants;
}

}  // namespace hone::jobs
