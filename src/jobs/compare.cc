#include "jobs/compare.h"

#include "device/compare.h"
#include "device/programs.h"
#include "device/race.h"

namespace hone::jobs {
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

StatusOr<ComparisonReport> Compare(Pool& pool, const ProgramInfo& a, const ProgramInfo& b,
                                   const CompareOptions& options, device::RemoteDevice* device) {
  if (device == nullptr) return pool.Compare({a.id, {}}, {b.id, {}}, options);
  auto programs_a = device::Programs::Of(pool, a);
  if (!programs_a) return tl::unexpected(programs_a.error());
  auto programs_b = device::Programs::Of(pool, b);
  if (!programs_b) return tl::unexpected(programs_b.error());
  const auto made_a = programs_a->Make({a.id, {}}, {});
  if (!made_a) return tl::unexpected(made_a.error());
  const auto made_b = programs_b->Make({b.id, {}}, {});
  if (!made_b) return tl::unexpected(made_b.error());
  const auto inputs = [&](const verify::InputChoice& choice) {
    return programs_a->Inputs(choice, options);
  };
  return device::Compare(*device, *made_a, *made_b, inputs, options);
}

OnDevice TryOnDevice(Pool& pool, const ProgramInfo& program, const StateName& state,
                     device::RemoteDevice& device, const RaceOptions& racing,
                     const CompareOptions* comparing, const std::atomic<bool>* interrupted) {
  OnDevice tried;
  const Status done = Try(pool, program, state, device, racing, comparing, interrupted, tried);
  if (!done) tried.error = done.error().message;
  return tried;
}

const char* VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kEqual:
      return "equal";
    case Verdict::kDifferent:
      return "different";
    case Verdict::kCannotTell:
      break;
  }
  return "can't tell";
}

report::Json ToJson(const ComparisonReport& report) {
  report::Json json;
  json["verdict"] =
      report.verdict == Verdict::kCannotTell ? "cannot_tell" : VerdictName(report.verdict);
  json["method"] = report.method;
  json["reason"] = report.reason;
  json["inputs"] = report.inputs;
  json["worst_error"] = report.worst_error;
  json["finite_share"] = report.finite_share;
  json["seconds"] = report.seconds;
  json["compile_seconds"] = report.compile_seconds;
  json["processor_seconds"] = report.processor_seconds;
  json["outputs"] = report::Json::array();
  for (const OutputError& error : report.errors) {
    json["outputs"].push_back({{"output", error.output},
                               {"shape", error.shape},
                               {"worst_error", error.worst_error},
                               {"worst_absolute", error.worst_absolute},
                               {"elements_over", error.elements_over}});
  }
  return json;
}

}  // namespace hone::jobs
