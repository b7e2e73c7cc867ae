// Two programs compared, and raced, on a plugin's device.
#ifndef HONE_JOBS_COMPARE_H_
#define HONE_JOBS_COMPARE_H_

#include <atomic>
#include <optional>
#include <string>

#include "core/comparison.h"
#include "core/program.h"
#include "core/race.h"
#include "device/remote_device.h"
#include "report/json.h"
#include "wire/pool.h"

namespace hone::jobs {

// Whether two programs compute the same, by XLA:CPU or, where `device` is not null, on it; `a` is
// the reference and says what inputs there are.
StatusOr<ComparisonReport> Compare(Pool& pool, const ProgramInfo& a, const ProgramInfo& b,
                                   const CompareOptions& options, device::RemoteDevice* device);

// "equal", "different", "can't tell".
const char* VerdictName(Verdict verdict);
report::Json ToJson(const ComparisonReport& report);

// A program after passes against the program as it is, on a device.
struct OnDevice {
  std::string error;  // why there are no figures; "" where there are
  RaceReport race;    // of the program against the program after the passes
  std::optional<ComparisonReport> comparison;
};
// Where `comparing` is null nothing is compared.
OnDevice TryOnDevice(Pool& pool, const ProgramInfo& program, const StateName& state,
                     device::RemoteDevice& device, const RaceOptions& racing,
                     const CompareOptions* comparing, const std::atomic<bool>* interrupted);

}  // namespace hone::jobs

#endif  // HONE_JOBS_COMPARE_H_
