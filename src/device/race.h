// Which of two programs runs faster on a device? Measured as a worker's race is (core/race.h).
#ifndef HONE_DEVICE_RACE_H_
#define HONE_DEVICE_RACE_H_

#include <atomic>
#include <functional>
#include <vector>

#include "core/race.h"
#include "device/remote_device.h"

namespace hone::device {

// Takes `pairs` pairs of samples, each over `repeats` runs; the first of them has number `first`.
using TakePairs =
    std::function<StatusOr<std::vector<PairTimes>>(int first, int pairs, int repeats)>;

// The part that is about numbers. `now` are seconds. It ends early where `interrupted` becomes true
// and there are as many pairs as the options want at least.
StatusOr<RaceReport> RacePairs(const TakePairs& take, const std::function<double()>& now,
                               const RaceOptions& options,
                               const std::atomic<bool>* interrupted = nullptr);

StatusOr<RaceReport> Race(RemoteDevice& device, const DeviceProgram& a, const DeviceProgram& b,
                          const DeviceInputs& inputs, const RaceOptions& options,
                          const std::atomic<bool>* interrupted = nullptr);

}  // namespace hone::device

#endif  // HONE_DEVICE_RACE_H_
