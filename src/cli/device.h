// The option --device, for commands that can measure on a PJRT plugin.
#ifndef HONE_CLI_DEVICE_H_
#define HONE_CLI_DEVICE_H_

#include <CLI/App.hpp>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/common.h"
#include "device/facts.h"
#include "device/remote_device.h"
#include "jobs/compare.h"

namespace hone::cli {

// `--device pjrt:PATH[,option=value…]`; "" where it is not given. What is no such name is a
// CLI::ValidationError.
void AddDeviceOption(CLI::App& app, std::string& device, const std::string& help);

// Options for a device whose name the parser has let through.
device::DeviceOptions DeviceOptionsFor(const CommonOptions& options, const std::string& device);

// A process with the plugin loaded.
StatusOr<std::unique_ptr<device::RemoteDevice>> StartDevice(const CommonOptions& options,
                                                            const std::string& device);

// The result of TryOnDevice, as text.
std::string OnDeviceText(const device::RemoteDevice& device, const jobs::OnDevice& tried);

// The command `hone device`.
Run AddDevice(CLI::App& app);

}  // namespace hone::cli

#endif  // HONE_CLI_DEVICE_H_
