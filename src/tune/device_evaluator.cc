#include "tune/device_evaluator.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "device/compare.h"
#include "device/flags.h"
#include "device/race.h"

namespace hone::tune {
namespace {

constexpr int kRaceKind = 0;  // of input values: about normal

// What a plan decides of the plugin's flags. Errors: kUnsupported where it decides more.
StatusOr<device::Flags> FlagsOf(const TunePlan& plan) {
  if (!plan.compile.choices.empty()) {
    return MakeError(ErrorCode::kUnsupported,
                     "the plan decides layouts, fusions or tiles, which on a device are the "
                     "plugin's own; tune with --device to have a plan for it");
  }
  return device::PluginFlags(plan.compile);
}

}  // namespace

StatusOr<std::unique_ptr<DeviceEvaluator>> DeviceEvaluator::Start(
    std::unique_ptr<PoolEvaluator> programs, const device::DeviceOptions& device,
    const std::atomic<bool>* interrupted) {
  auto remote = device::RemoteDevice::Start(device);
  if (!remote) return tl::unexpected(remote.error());
  std::unique_ptr<DeviceEvaluator> evaluator(
      new DeviceEvaluator(std::move(programs), *std::move(remote), interrupted));
  if (Status described = evaluator->Describe(); !described) {
    return tl::unexpected(described.error());
  }
  return evaluator;
}

Status DeviceEvaluator::Describe() {
  auto made = device::Programs::Of(programs_->pool(), programs_->program());
  if (!made) return tl::unexpected(made.error());
  made_ = *std::move(made);
  return {};
}

Status DeviceEvaluator::Restart() {
  if (Status restarted = programs_->Restart(); !restarted) return restarted;
  if (Status described = Describe(); !described) return described;
  return device_->Restart();
}

StatusOr<std::vector<Alternative>> DeviceEvaluator::Alternatives(
    const AlternativesWanted& wanted) {
  auto found = programs_->Alternatives(wanted);
  if (!found || !wanted.implementations) return found;
  const std::vector<PassInfo>& passes = programs_->pool().passes();
  for (PassId pass = 0; pass < passes.size(); ++pass) {
    if (interrupted_ != nullptr && *interrupted_) break;
    if (passes[pass].kind != PassKind::kRules) continue;
    ApplyRequest request;
    request.from.program = programs_->program().id;
    request.passes = {pass};
    request.options.verify = true;
    const StatusOr<Applied> applied = programs_->pool().Apply(request);
    if (!applied || !applied->steps.back().changed) continue;
    const std::string& name = passes[pass].name;
    found->push_back({Stage::kImplementation, name, {{name, {}}}});
    found->back().traits = passes[pass].traits;
  }
  return found;
}

StatusOr<device::DeviceProgram> DeviceEvaluator::Make(const TunePlan& plan) {
  const StatusOr<device::Flags> flags = FlagsOf(plan);
  if (!flags) return tl::unexpected(flags.error());
  const StatusOr<StateName> state =
      StateAfter(programs_->pool(), programs_->program().id, plan.passes);
  if (!state) return tl::unexpected(state.error());
  return made_->Make(*state, *flags);
}

StatusOr<Compiled> DeviceEvaluator::Compile(const TunePlan& plan, const CompileOptions& options) {
  const StatusOr<StateName> state =
      StateAfter(programs_->pool(), programs_->program().id, plan.passes);
  if (!state) return tl::unexpected(state.error());
  const StatusOr<Fingerprint> fingerprint = made_->StateOf(*state);
  if (!fingerprint) return tl::unexpected(fingerprint.error());
  Compiled compiled;
  compiled.fingerprint = *fingerprint;
  compiled.flag_choices = device::FlagChoicesFor(device_->info().platform, options.fast_math);
  if (!options.text) return compiled;
  StatusOr<Exported> text = programs_->pool().Export(*state, ExportFormat::kText);
  if (!text) return tl::unexpected(text.error());
  compiled.text = std::move(text->bytes);
  return compiled;
}

StatusOr<std::vector<KernelTime>> DeviceEvaluator::Profile(const TunePlan&, double, double) {
  return MakeError(ErrorCode::kUnsupported, "plugins do not tell where the time of a run goes");
}

StatusOr<ProgramGraph> DeviceEvaluator::Describe(const std::string&) {
  return MakeError(ErrorCode::kUnsupported, "a plugin's optimised module is not looked at");
}

StatusOr<RaceReport> DeviceEvaluator::Race(const TunePlan& a, const TunePlan& b,
                                           const RaceOptions& options) {
  const auto program_a = Make(a);
  if (!program_a) return tl::unexpected(program_a.error());
  const auto program_b = Make(b);
  if (!program_b) return tl::unexpected(program_b.error());
  const auto inputs = made_->Inputs(kRaceKind, options.seed);
  if (!inputs) return tl::unexpected(inputs.error());
  return device::Race(*device_, *program_a, *program_b, inputs->inputs, options, interrupted_);
}

StatusOr<ComparisonReport> DeviceEvaluator::Compare(const TunePlan& a, const TunePlan& b,
                                                    const CompareOptions& options) {
  const auto program_a = Make(a);
  if (!program_a) return tl::unexpected(program_a.error());
  const auto program_b = Make(b);
  if (!program_b) return tl::unexpected(program_b.error());
  const auto inputs = [&](const verify::InputChoice& choice) {
    return made_->Inputs(choice, options);
  };
  return device::Compare(*device_, *program_a, *program_b, inputs, options);
}

}  // namespace hone::tune
