// Which of two programs runs faster on a device? Measured as a worker's race is (core/race.h).
#ifndef HONE_DEVICE_RACE_H_
#define HONE_DEVICE_RACE_H_

#include <atomic>

#include "core/race_pairs.h"
#include "device/remote_device.h"

namespace hone::device {

// RacePairs of both, compiled where they are not yet.
StatusOr<RaceReport> Race(RemoteDevice& device, const DeviceProgram& a, const DeviceProgram& b,
                          const DeviceInputs& inputs, const RaceOptions& options,
                          const std::atomic<bool>* interrupted = nullptr);

}  // namespace hone::device

#endif  // HONE_DEVICE_RACE_H_
