// Do two programs compute the same on a device? Judged as on XLA:CPU (compiler/run/tolerance.h),
// from what the device itself returns.
//
// Integers and truth values must be equal. A floating-point element may be off by
//   4 * max(spread, rms of the spread over 32 neighbours, spacing of its type * its size)
// where the spread is how far the reference's own samples lie from it: its runs on inputs that are
// moved by a unit in the last place, and what XLA:CPU computes of the same inputs. The latter is
// one more legal rounding of the program, and shows what a device's own arithmetic (TF32, sums in
// another order) adds. Elements on which the samples disagree about being finite, or about an
// integer, are left out; where each sample, held against the others, is off in as many elements as
// the candidate, the candidate is as good as the reference.
#ifndef HONE_DEVICE_COMPARE_H_
#define HONE_DEVICE_COMPARE_H_

#include <functional>
#include <string>
#include <vector>

#include "core/comparison.h"
#include "device/remote_device.h"

namespace hone::device {

enum class Outcome { kEqual, kDoubtful, kDifferent };

struct OutputComparison {
  Outcome outcome = Outcome::kEqual;
  double worst_error = 0;  // |a-b| as a multiple of its tolerance
  double worst_absolute = 0;
  int64_t over = 0;           // elements beyond their tolerance
  int64_t held_out_over = 0;  // the most that a sample has, held against the others
  int64_t floats = 0;         // floating-point components
  int64_t finite = 0;         // of them finite in the reference
  int64_t resolved = 0;       // of those with a tolerance below a tenth of the output's size
};

// Of one output; all have one type and shape.
OutputComparison CompareOutput(const DeviceArray& reference, const DeviceArray& candidate,
                               const std::vector<const DeviceArray*>& samples);

// A copy in which each floating-point value with more than a few significant bits is moved up or
// down by a unit in its last place.
DeviceInputs Perturbed(const DeviceInputs& inputs, uint64_t seed);

// Generated inputs, and what XLA:CPU computes of them: as bytes, row-major, in the outputs' order.
struct InputSet {
  DeviceInputs inputs;
  std::vector<std::string> cpu_results;
};
using MakeInputSet = std::function<StatusOr<InputSet>(int set)>;

// `a` is the reference. What does not compile or run is kCannotTell with a reason.
ComparisonReport Compare(RemoteDevice& device, const DeviceProgram& a, const DeviceProgram& b,
                         const MakeInputSet& make_inputs, const CompareOptions& options);

}  // namespace hone::device

#endif  // HONE_DEVICE_COMPARE_H_
