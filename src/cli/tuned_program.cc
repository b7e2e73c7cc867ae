#include "cli/tuned_program.h"

#include <utility>

#include "cli/device.h"
#include "cli/input.h"
#include "cli/progress.h"
#include "tune/device_evaluator.h"

namespace hone::cli {
namespace {

constexpr size_t kMostPlanBytes = size_t{64} << 20;

}  // namespace

StatusOr<OpenedProgram> OpenData(const CommonOptions& options, std::string data,
                                 const std::string& device, uint64_t seed,
                                 const std::atomic<bool>* interrupted, const Cluster* cluster) {
  // Without the flag that stops workers: what is found is still to be verified.
  const auto start_pool = [options, cluster]() -> StatusOr<std::unique_ptr<Pool>> {
    StatusOr<PoolOptions> pool = PoolOptionsFor(options);
    if (!pool) return tl::unexpected(pool.error());
    if (cluster != nullptr) cluster->Lend(*pool);
    return Pool::Start(*pool);
  };
  auto programs = tune::PoolEvaluator::Start(start_pool, std::move(data), seed, interrupted,
                                             /*apart=*/cluster != nullptr);
  if (!programs) return tl::unexpected(programs.error());
  OpenedProgram opened;
  opened.programs = programs->get();
  if (device.empty()) {
    opened.evaluator = *std::move(programs);
    return opened;
  }
  const Waiting waiting(options.ShowProgress(), "loading the plugin");
  auto measured = tune::DeviceEvaluator::Start(*std::move(programs),
                                               DeviceOptionsFor(options, device), interrupted);
  if (!measured) return tl::unexpected(measured.error());
  opened.device = &(*measured)->device();
  opened.evaluator = *std::move(measured);
  return opened;
}

OpenedProgram OpenProgram(const CommonOptions& options, const std::string& file,
                          const std::string& device, uint64_t seed) {
  OpenedProgram opened;
  StatusOr<std::string> data = ReadInput(file, options.MostInputBytes(), options.datasets);
  if (!data) {
    opened.exit_code = Fail(data.error(), file, options.json);
    return opened;
  }
  StatusOr<OpenedProgram> whole = OpenData(options, *std::move(data), device, seed);
  if (!whole) {
    opened.exit_code = Fail(whole.error(), file, options.json);
    return opened;
  }
  return *std::move(whole);
}

StatusOr<tune::TunePlan> ReadPlan(const std::string& file) {
  if (file.empty()) return tune::TunePlan();
  const StatusOr<std::string> text = ReadInput(file, kMostPlanBytes);
  if (!text) return tl::unexpected(text.error());
  return tune::TunePlanFromJson(*text);
}

StatusOr<std::string> OptimisedText(tune::Evaluator& evaluator, const tune::TunePlan& plan) {
  CompileOptions compiling;
  compiling.sites = false;
  compiling.text = true;
  StatusOr<Compiled> compiled = evaluator.Compile(plan, compiling);
  if (!compiled) return tl::unexpected(compiled.error());
  return std::move(compiled->text);
}

}  // namespace hone::cli
