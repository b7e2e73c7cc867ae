#include "device/race.h"

#include <chrono>

namespace hone::device {

StatusOr<RaceReport> Race(RemoteDevice& device, const DeviceProgram& a, const DeviceProgram& b,
                          const DeviceInputs& inputs, const RaceOptions& options,
                          const std::atomic<bool>* interrupted) {
  const auto compiled_a = device.Compile(a, options.compile_seconds);
  if (!compiled_a) return tl::unexpected(compiled_a.error());
  const auto compiled_b = device.Compile(b, options.compile_seconds);
  if (!compiled_b) return tl::unexpected(compiled_b.error());
  RaceReport report;
  // Not by PJRT_Executable_Fingerprint: it is equal for equal executables, but nothing keeps a
  // plugin from giving different ones the same.
  report.same_executable = a.name == b.name;
  if (!report.same_executable) {
    const auto take = [&](int first, int pairs, int repeats) {
      return device.Time(a, b, inputs, first, pairs, repeats);
    };
    const auto now = [] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
          .count();
    };
    const auto raced = RacePairs(take, now, options, interrupted);
    if (!raced) return raced;
    report = *raced;
  }
  report.compile_seconds_a = *compiled_a;
  report.compile_seconds_b = *compiled_b;
  return report;
}

}  // namespace hone::device
