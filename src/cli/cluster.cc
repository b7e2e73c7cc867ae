#include "cli/cluster.h"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace hone::cli {
namespace {

constexpr int kMostHere = 256;
constexpr int kMostThere = 100'000;
constexpr char kGroup[] = "Workers and limits";

// "4"; or an address, "ray:auto", "ray://HOST:PORT" or "ray:HOST:PORT", with ",4" behind it or not.
void ReadWorkers(const std::string& given, CommonOptions& common, ClusterOptions& options) {
  std::string_view count = given;
  int most = kMostHere;
  options.address.clear();
  if (given.starts_with("ray:")) {
    const size_t comma = given.rfind(',');
    const std::string address = given.substr(0, comma);
    options.address = address.starts_with("ray://") ? address : address.substr(4);
    if (options.address.empty() || options.address == "ray://") {
      throw CLI::ValidationError("--workers", "behind ray: comes auto, HOST:PORT or //HOST:PORT");
    }
    most = common.workers = kMostThere;
    if (comma == given.npos) return;
    count = std::string_view(given).substr(comma + 1);
  }
  int number = 0;
  const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), number);
  if (error != std::errc() || end != count.data() + count.size() || number < 1 || number > most) {
    throw CLI::ValidationError(
        "--workers", fmt::format("{} is neither a number from 1 to {} nor a cluster, such as "
                                 "ray:auto or ray://HOST:PORT",
                                 count.empty() ? "nothing" : std::string(count), most));
  }
  common.workers = number;
}

}  // namespace

void AddClusterOptions(CLI::App& app, CommonOptions& common, ClusterOptions& options) {
  app.remove_option(app.get_option("--workers"));
  app.add_option_function<std::string>(
         "--workers",
         [&common, &options](const std::string& given) { ReadWorkers(given, common, options); },
         fmt::format("processes that run XLA ({}); on the machines of a Ray cluster: ray:auto, "
                     "ray://HOST:PORT or ray:HOST:PORT, with ,N behind it no more than N",
                     common.workers))
      ->type_name("N|RAY")
      ->group(kGroup);
  app.add_option("--kind", options.kind,
                 "only machines of the cluster with the resource hone_device_KIND")
      ->type_name("KIND")
      ->group(kGroup);
  app.add_option("--python", options.python,
                 "that has Ray (.venv-ray of setup/install --ray, or else python3)")
      ->type_name("PATH")
      ->group(kGroup);
  app.add_option("--worker", options.worker,
                 "the hone-worker on the cluster's machines (where this hone has its own)")
      ->type_name("PATH")
      ->group(kGroup);
}

StatusOr<std::shared_ptr<Cluster>> Connect(ClusterOptions options, const CommonOptions& common) {
  options.memory_limit_bytes = common.memory_limit_bytes;
  options.quiet = common.quiet;
  return Cluster::Connect(options);
}

}  // namespace hone::cli
