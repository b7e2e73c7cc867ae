// What commands tell of a device.
#ifndef HONE_CLI_DEVICE_H_
#define HONE_CLI_DEVICE_H_

#include <string>

#include "device/remote_device.h"
#include "jobs/compare.h"

namespace hone::cli {

// The result of TryOnDevice, as text.
std::string OnDeviceText(const device::RemoteDevice& device, const jobs::OnDevice& tried);

}  // namespace hone::cli

#endif  // HONE_CLI_DEVICE_H_
