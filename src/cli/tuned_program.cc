#include "cli/tuned_program.h"

#include <utility>

#include "cli/command_events.h"
#include "cli/device.h"
#include "cli/input.h"

namespace hone::cli {
namespace {

constexpr size_t kMostPlanBytes = size_t{64} << 20;

}  // namespace

jobs::OpenOptions OpenOptionsFor(const CommonOptions& options, const std::string& device,
                                 uint64_t seed, const Cluster* cluster) {
  jobs::OpenOptions open;
  open.start_pool = [options, cluster]() -> StatusOr<std::unique_ptr<Pool>> {
    StatusOr<PoolOptions> pool = PoolOptionsFor(options);
    if (!pool) return tl::unexpected(pool.error());
    if (cluster != nullptr) cluster->Lend(*pool);
    return Pool::Start(*pool);
  };
  open.apart = cluster != nullptr;
  if (!device.empty()) open.device = DeviceOptionsFor(options, device);
  open.seed = seed;
  return open;
}

tl::expected<jobs::OpenedProgram, FileError> OpenProgram(const CommonOptions& options,
                                                         const std::string& file,
                                                         const std::string& device, uint64_t seed) {
  StatusOr<std::string> data = ReadInput(file, options.MostInputBytes(), options.datasets);
  if (!data) return tl::unexpected(FileError{file, data.error()});
  CommandEvents events(options.ShowProgress());
  StatusOr<jobs::OpenedProgram> opened =
      jobs::OpenProgram(*std::move(data), OpenOptionsFor(options, device, seed), events);
  if (!opened) return tl::unexpected(FileError{file, opened.error()});
  return *std::move(opened);
}

StatusOr<tune::TunePlan> ReadPlan(const std::string& file) {
  if (file.empty()) return tune::TunePlan();
  const StatusOr<std::string> text = ReadInput(file, kMostPlanBytes);
  if (!text) return tl::unexpected(text.error());
  return tune::TunePlanFromJson(*text);
}

}  // namespace hone::cli
