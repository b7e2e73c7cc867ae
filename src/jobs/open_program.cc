#include "jobs/open_program.h"

#include <utility>

#include "jobs/input.h"
#include "tune/device_evaluator.h"

namespace hone::jobs {
namespace {

constexpr size_t kMostPlanBytes = size_t{64} << 20;

}  // namespace

StatusOr<OpenedProgram> OpenProgram(std::string data, const OpenOptions& options, Events& events) {
  auto programs = tune::PoolEvaluator::Start(options.start_pool, std::move(data), options.seed,
                                             events.stop(), options.apart);
  if (!programs) return tl::unexpected(programs.error());
  OpenedProgram opened;
  opened.programs = programs->get();
  if (!options.device) {
    opened.evaluator = *std::move(programs);
    return opened;
  }
  const auto waiting = events.During("loading the plugin");
  auto measured =
      tune::DeviceEvaluator::Start(*std::move(programs), *options.device, events.stop());
  if (!measured) return tl::unexpected(measured.error());
  opened.device = &(*measured)->device();
  opened.evaluator = *std::move(measured);
  return opened;
}

StatusOr<OpenOptions> OpenOptionsFor(const WorkerOptions& workers, const std::string& device,
                                     uint64_t seed, Events& events, const Cluster* cluster) {
  StatusOr<PoolOptions> pool = PoolOptionsFor(workers, events);
  if (!pool) return tl::unexpected(pool.error());
  if (cluster != nullptr) cluster->Lend(*pool);
  OpenOptions open;
  open.start_pool = [pool = *std::move(pool)] { return Pool::Start(pool); };
  open.apart = cluster != nullptr;
  if (!device.empty()) open.device = DeviceOptionsFor(workers, device);
  open.seed = seed;
  return open;
}

FileOr<OpenedProgram> OpenNamed(const std::string& file, const WorkerOptions& workers,
                                const std::string& device, uint64_t seed, Events& events) {
  FileOr<std::string> data = ReadNamed(file, workers);
  if (!data) return tl::unexpected(data.error());
  const StatusOr<OpenOptions> open = OpenOptionsFor(workers, device, seed, events);
  if (!open) return Wrong(file, open.error());
  return About(file, OpenProgram(*std::move(data), *open, events));
}

FileOr<tune::TunePlan> ReadPlan(const std::string& file) {
  if (file.empty()) return tune::TunePlan();
  const StatusOr<std::string> text = ReadInput(file, kMostPlanBytes);
  if (!text) return Wrong(file, text.error());
  return About(file, tune::TunePlanFromJson(*text));
}

StatusOr<Compiled> CompileUnder(tune::Evaluator& evaluator, const tune::TunePlan& plan,
                                bool raced) {
  CompileOptions compiling;
  compiling.sites = raced;  // what sites are listed of is compiled as what is raced is
  compiling.text = true;
  return evaluator.Compile(plan, compiling);
}

}  // namespace hone::jobs
