// JSON shared by the answers of several jobs, and programs whose text lacks constants.
#ifndef HONE_JOBS_JSON_H_
#define HONE_JOBS_JSON_H_

#include <initializer_list>
#include <string>
#include <utility>

#include "core/program.h"
#include "core/race.h"
#include "core/result.h"
#include "core/timing.h"
#include "device/remote_device.h"
#include "jobs/compare.h"
#include "report/json.h"

namespace hone::jobs {

using report::Json;

// {"file", "code", "message"}; without a file where it is empty.
Json ErrorJson(const Error& error, const std::string& file);
// Texts that are not empty become fields.
void AddTexts(std::initializer_list<std::pair<const char*, std::string>> texts, Json& json);
// Seconds and counts, by the names of core/timing.h.
Json TimingJson(const Timing& timing);
// {"speedup", "speedup_ci", "pairs"}. What is not finite is written as null.
Json RaceJson(const RaceReport& race);

// {"plugin", "platform", "platform_version", "kind", "id"}, of the device that is used.
Json DeviceJson(const device::RemoteDevice& device);
// The result of TryOnDevice on this device.
Json OnDeviceJson(const device::RemoteDevice& device, const OnDevice& tried);

// A plugin and its devices.
Json PluginJson(const device::PluginInfo& info);
// {"flags"}: those of XLA's that are tried on a platform, or on all where it is empty.
Json DeviceFlagsJson(const std::string& platform);

// Why a program whose text has elided constants is not run, and what to do.
Error ElidedConstants();
// A warning that results hold only for the made-up values of a program's constants; "" where the
// program has its own.
std::string AboutStandIns(const ProgramInfo& program);
// The same as a field of JSON: their number.
void AddStandIns(const ProgramInfo& program, Json& json);

}  // namespace hone::jobs

#endif  // HONE_JOBS_JSON_H_
