// The option --device, for commands that can measure on a PJRT plugin.
#ifndef HONE_CLI_DEVICE_H_
#define HONE_CLI_DEVICE_H_

#include <CLI/App.hpp>
#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "cli/commands.h"
#include "cli/common.h"
#include "core/comparison.h"
#include "core/program.h"
#include "core/race.h"
#include "device/facts.h"
#include "device/remote_device.h"

namespace hone::cli {

// `--device pjrt:PATH[,option=value…]`; "" where it is not given. What is no such name is a
// CLI::ValidationError.
void AddDeviceOption(CLI::App& app, std::string& device, const std::string& help);

// Of a name that the parser has let through.
device::DeviceOptions DeviceOptionsFor(const CommonOptions& options, const std::string& device);

// A process with the plugin loaded.
StatusOr<std::unique_ptr<device::RemoteDevice>> StartDevice(const CommonOptions& options,
                                                            const std::string& device);

// {"plugin", "platform", "platform_version", "kind", "id"}, of the device that is used.
Json DeviceJson(const device::RemoteDevice& device);

// A program after passes against the program as it is, on a device.
struct OnDevice {
  Json device;
  std::string error;  // why there are no figures; "" where there are
  RaceReport race;    // of the program against the program after the passes
  std::optional<ComparisonReport> comparison;
};
// Where `comparing` is null nothing is compared.
OnDevice TryOnDevice(Pool& pool, const ProgramInfo& program, const StateName& state,
                     device::RemoteDevice& device, const RaceOptions& racing,
                     const CompareOptions* comparing, const std::atomic<bool>* interrupted);
Json OnDeviceJson(const OnDevice& tried);
std::string OnDeviceText(const OnDevice& tried);

// The command `hone device`.
Run AddDevice(CLI::App& app);

}  // namespace hone::cli

#endif  // HONE_CLI_DEVICE_H_
