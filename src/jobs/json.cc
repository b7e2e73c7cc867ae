#include "jobs/json.h"

#include <fmt/format.h>

#include "device/flags.h"

namespace hone::jobs {
namespace {

constexpr const char* kCodeNames[] = {"invalid_input", "unsupported", "pass_failed", "worker_died",
                                      "deadline",      "memory",      "interrupted", "internal"};

Json AttributesJson(const device::Attributes& attributes) {
  Json json = Json::object();
  for (const auto& [name, value] : attributes) json[name] = value;
  return json;
}

}  // namespace

Json ErrorJson(const Error& error, const std::string& file) {
  Json json;
  if (!file.empty()) json["file"] = file;
  json["code"] = kCodeNames[static_cast<int>(error.code)];
  json["message"] = error.message;
  return json;
}

void AddTexts(std::initializer_list<std::pair<const char*, std::string>> texts, Json& json) {
  for (const auto& [name, text] : texts) {
    if (!text.empty()) json[name] = text;
  }
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

Json PluginJson(const device::PluginInfo& info) {
  Json json;
  json["platform"] = info.platform;
  json["platform_version"] = info.platform_version;
  json["api_version"] = {info.api_major, info.api_minor};
  json["attributes"] = AttributesJson(info.attributes);
  json["flags"] = device::FlagChoicesFor(info.platform, /*fast_math=*/true).size();
  json["devices"] = Json::array();
  for (const device::DeviceDetails& one : info.devices) {
    json["devices"].push_back({{"id", one.id},
                               {"kind", one.kind},
                               {"text", one.text},
                               {"memory_bytes", one.memory_bytes},
                               {"attributes", AttributesJson(one.attributes)}});
  }
  return json;
}

Json DeviceFlagsJson(const std::string& platform) {
  Json json{{"flags", Json::array()}};
  for (const device::DeviceFlag& flag : device::DeviceFlags()) {
    if (!platform.empty() && flag.platform != platform) continue;
    json["flags"].push_back({{"platform", flag.platform},
                             {"name", flag.name},
                             {"values", flag.values},
                             {"numerics", flag.numerics},
                             {"meaning", flag.meaning},
                             {"source", flag.source}});
  }
  return json;
}

}  // namespace hone::jobs
