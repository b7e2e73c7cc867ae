// The command `hone device`, and what others tell of a device.
#ifndef HONE_CLI_DEVICE_H_
#define HONE_CLI_DEVICE_H_

#include <CLI/App.hpp>
#include <string>

#include "cli/commands.h"
#include "device/remote_device.h"
#include "jobs/compare.h"

namespace hone::cli {

// The result of TryOnDevice, as text.
std::string OnDeviceText(const device::RemoteDevice& device, const jobs::OnDevice& tried);

Run AddDevice(CLI::App& app);

}  // namespace hone::cli

#endif  // HONE_CLI_DEVICE_H_
