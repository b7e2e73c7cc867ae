// Do two programs compute the same on a device? By the rule that holds everywhere (verify/rule.h), from
// what the device itself returns.
//
// The further legal runs of the reference are its runs on inputs that are moved by a unit in the last
// place, and what XLA:CPU computes of the same inputs: that is one more legal rounding of the program,
// and shows what a device's own arithmetic (TF32, sums in another order) adds.
#ifndef HONE_DEVICE_COMPARE_H_
#define HONE_DEVICE_COMPARE_H_

#include <functional>
#include <string>
#include <vector>

#include "core/comparison.h"
#include "device/remote_device.h"
#include "verify/compare.h"

namespace hone::device {

// A copy in which each floating-point value with more than a few significant bits is moved up or
// down by a unit in its last place.
DeviceInputs Perturbed(const DeviceInputs& inputs, uint64_t seed);

// Generated inputs, and what XLA:CPU computes of them: as bytes, row-major, in the outputs' order.
struct InputSet {
  DeviceInputs inputs;
  std::vector<std::string> cpu_results;
};
using MakeInputSet = std::function<StatusOr<InputSet>(const verify::InputChoice& choice)>;

// `a` is the reference. What does not compile or run is kCannotTell with a reason.
ComparisonReport Compare(RemoteDevice& device, const DeviceProgram& a, const DeviceProgram& b,
                         const MakeInputSet& make_inputs, const CompareOptions& options);

}  // namespace hone::device

#endif  // HONE_DEVICE_COMPARE_H_
