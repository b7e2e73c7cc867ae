// The tuner's questions, asked of a plugin's device: workers make the programs, the plugin compiles
// and runs them. Of the decisions within its compiler only flags can be made.
#ifndef HONE_TUNE_DEVICE_EVALUATOR_H_
#define HONE_TUNE_DEVICE_EVALUATOR_H_

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/programs.h"
#include "device/remote_device.h"
#include "tune/pool_evaluator.h"

namespace hone::tune {

class DeviceEvaluator final : public Evaluator {
 public:
  // `programs` makes programs, with a pool of its own.
  static StatusOr<std::unique_ptr<DeviceEvaluator>> Start(
      std::unique_ptr<PoolEvaluator> programs, const device::DeviceOptions& device,
      const std::atomic<bool>* interrupted = nullptr);

  // Also hone's own rules, which know no backend.
  StatusOr<std::vector<Alternative>> Alternatives(const AlternativesWanted& wanted) override;
  // The program after the plan's passes, as the plugin is given it; no sites.
  StatusOr<Compiled> Compile(const TunePlan& plan, const CompileOptions& options) override;
  // kUnsupported: plugins do not tell.
  StatusOr<std::vector<KernelTime>> Profile(const TunePlan& plan, double seconds,
                                            double most_seconds) override;
  StatusOr<ProgramGraph> Describe(const std::string& text) override;
  StatusOr<RaceReport> Race(const TunePlan& a, const TunePlan& b,
                            const RaceOptions& options) override;
  StatusOr<ComparisonReport> Compare(const TunePlan& a, const TunePlan& b,
                                     const CompareOptions& options) override;
  Status Restart() override;
  double Seconds() const override { return programs_->Seconds(); }

  PoolEvaluator& programs() { return *programs_; }
  const device::RemoteDevice& device() const { return *device_; }

 private:
  DeviceEvaluator(std::unique_ptr<PoolEvaluator> programs,
                  std::unique_ptr<device::RemoteDevice> device,
                  const std::atomic<bool>* interrupted)
      : programs_(std::move(programs)), device_(std::move(device)), interrupted_(interrupted) {}

  Status Describe();
  StatusOr<device::DeviceProgram> Make(const TunePlan& plan);

  std::unique_ptr<PoolEvaluator> programs_;
  std::unique_ptr<device::RemoteDevice> device_;
  const std::atomic<bool>* const interrupted_;
  std::optional<device::Programs> made_;
};

// The stages that a plan for a device can have.
inline constexpr std::string_view kDeviceStages = "order,implementation,flags";

}  // namespace hone::tune

#endif  // HONE_TUNE_DEVICE_EVALUATOR_H_
