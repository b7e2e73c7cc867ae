#include "cli/options.h"

#include <fmt/format.h>

#include <CLI/Error.hpp>
#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "core/objective.h"
#include "device/facts.h"
#include "search/searcher.h"

namespace hone::cli {
namespace {

using jobs::Budget;
using jobs::ClusterOptions;

// In the group that `--help` shows last.
constexpr const char* kGroup = "Workers and limits";
constexpr int kMostHere = 256;
constexpr int kMostThere = 100'000;

template <class T, class Parse>
CLI::Option* AddParsed(CLI::App& app, const std::string& name, T& target, const std::string& help,
                       const char* type, Parse parse) {
  return app
      .add_option_function<std::string>(
          name,
          [&target, name, parse](const std::string& text) {
            auto parsed = parse(text);
            if (!parsed) throw CLI::ValidationError(name, parsed.error().message);
            target = *std::move(parsed);
          },
          help)
      ->type_name(type);
}

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

void AddNoFlag(CLI::App& app, const std::string& name, bool& value, const std::string& help) {
  app.add_flag_callback(name, [&value] { value = false; }, help);
}

void AddCommonOptions(CLI::App& app, CommonOptions& options) {
  app.add_flag("--json", options.json, "print JSON, for programs");
  app.add_flag("-q,--quiet", options.quiet, "no progress");
  app.add_flag("--stand-in-constants", options.stand_in_constants,
               "give constants that a dump has elided, {...}, made-up values of the right kind");
  app.add_option(
         "--target", options.target,
         "what XLA compiles for: cpu, h100, a100, b200, …, or a file that describes a GPU (cpu)")
      ->type_name("GPU")
      ->group(kGroup);
  app.add_option("--workers", options.workers,
                 fmt::format("processes that run XLA ({})", options.workers))
      ->check(CLI::Range(1, 256).description(""))
      ->type_name("N")
      ->group(kGroup);
  AddDuration(app, "--pass-deadline", options.pass_deadline_seconds,
              fmt::format("a pass that runs longer is killed and counts as failed ({:g}s)",
                          options.pass_deadline_seconds))
      ->group(kGroup);
  AddSize(app, "--memory-limit", options.memory_limit_bytes,
          "a worker that takes more is killed (three quarters of the machine's)")
      ->group(kGroup);
  AddSize(app, "--cache", options.cache_bytes,
          fmt::format("memory for program states, per worker ({})",
                      HumanBytes(static_cast<double>(options.cache_bytes))))
      ->group(kGroup);
  AddSizeOrNone(
      app, "--kernel-cache", options.kernel_bytes,
      fmt::format("memory for kernels' machine code, per worker; 0: every kernel is compiled ({})",
                  HumanBytes(static_cast<double>(options.kernel_bytes))))
      ->group(kGroup);
  app.add_option("--kernel-folder", options.kernel_folder,
                 "where runs share kernels' machine code, or none (kernels in hone's cache "
                 "folder)")
      ->type_name("FOLDER")
      ->group(kGroup);
  app.add_option("--max-input-mb", options.most_input_mb,
                 fmt::format("larger files are not read ({})", options.most_input_mb))
      ->check(CLI::Range(1, 2047).description(""))  // a protobuf message ends at 2 GiB
      ->type_name("MIB")
      ->group(kGroup);
  app.add_option("--rules", options.rules,
                 "rewrite rules of your own, beside hone's; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group(kGroup);
  app.add_flag("--no-sandbox", options.no_sandbox,
               "workers are not locked up: for systems where they cannot start otherwise")
      ->group(kGroup);
}

void AddProgramOptions(CLI::App& app, CommonOptions& options) {
  AddDatasetsOption(app, options.datasets);
  AddCommonOptions(app, options);
}

void AddDatasetsOption(CLI::App& app, std::vector<std::string>& folders) {
  app.add_option("--datasets", folders,
                 "also a data set, whose programs are named LAST-OF-FOLDER/FILE; may be repeated")
      ->type_name("FOLDER")
      ->allow_extra_args(false);
}

int ManyWorkers() {
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 8u));
}

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
                 "a Python that has Ray (.venv-ray of setup/install --ray, or else python3)")
      ->type_name("PATH")
      ->group(kGroup);
  app.add_option("--worker", options.worker,
                 "where hone-worker is on the cluster's machines (where it is here)")
      ->type_name("PATH")
      ->group(kGroup);
}

CLI::Validator IsDeviceName() {
  const auto check = [](std::string& given) {
    const auto name = device::ParseDeviceName(given);
    return name ? std::string() : name.error().message;
  };
  return {check, ""};
}

void AddDeviceOption(CLI::App& app, std::string& device, const std::string& help) {
  app.add_option("--device", device, help)->check(IsDeviceName())->type_name("DEVICE");
}

void AddFiles(CLI::App& app, std::vector<std::string>& files) {
  AddWord(app, "FILE", files, "programs, or folders of them; paths or URIs");
}

void AddProgramSet(CLI::App& app, jobs::ProgramSet& programs) {
  AddWord(app, "PROGRAM", programs.files, "programs, or folders of them; paths or URIs");
  app.add_option("--split", programs.split, "only those that index.tsv has in this split")
      ->type_name("NAME");
}

void AddObjectiveOption(CLI::App& app, std::string& objective) {
  const std::vector<std::string> names(std::begin(kObjectiveNames), std::end(kObjectiveNames));
  app.add_option("--objective", objective, "the metric to minimise")
      ->check(CLI::IsMember(names))
      ->capture_default_str();
}

void AddObjectiveOptions(CLI::App& app, std::string& objective, std::string& actions) {
  AddObjectiveOption(app, objective);
  app.add_option("--actions", actions, "the passes to choose from")->capture_default_str();
}

void AddModelOptions(CLI::App& app, jobs::ModelOptions& options) {
  app.add_option("--policy", options.policy,
                 "a trained policy, for searchers that use one (the one that comes with hone)")
      ->type_name("FILE");
  app.add_option("--coreset", options.coreset,
                 "a coreset, for the searcher of that name (the one that comes with hone)")
      ->type_name("FILE");
}

CLI::Option* AddSearchOption(CLI::App& app, std::string& search, const std::string& help) {
  std::vector<std::string> searchers;
  for (const SearcherInfo& searcher : Searchers()) searchers.emplace_back(searcher.name);
  return app.add_option("--search", search, help)->check(CLI::IsMember(searchers));
}

void AddInputsOption(CLI::App& app, jobs::GivenInputs& inputs) {
  app.add_option(
         "--inputs", inputs.texts,
         fmt::format("what programs are compared on: how many generated input sets, each of "
                     "another distribution ({}), and files of your own before those: "
                     "numpy.savez's, an array for each parameter",
                     CompareOptions().inputs))
      ->type_name("N|FILE.npz")
      ->check(jobs::WhyNoInputs);
}

CLI::Option* AddStoreOption(CLI::App& app, std::string& path) {
  return app
      .add_option("--store", path,
                  "remember here what is found out, and go on from what is known; none: nowhere")
      ->transform([](std::string file) { return file == "none" ? std::string() : file; })
      ->type_name("FILE");
}

void AddReportOption(CLI::App& app, std::string& path, bool several_files) {
  app.add_option("--report", path,
                 several_files
                     ? "write a page to look at, one HTML file; a folder for several files"
                     : "write a page to look at, one HTML file")
      ->type_name("OUT");
}

CLI::Option* AddDuration(CLI::App& app, const std::string& name, double& seconds,
                         const std::string& help) {
  return AddParsed(app, name, seconds, help, "DURATION", jobs::ParseDuration);
}

CLI::Option* AddSize(CLI::App& app, const std::string& name, size_t& bytes,
                     const std::string& help) {
  return AddParsed(app, name, bytes, help, "SIZE", jobs::ParseSize);
}

CLI::Option* AddSizeOrNone(CLI::App& app, const std::string& name, size_t& bytes,
                           const std::string& help) {
  return AddParsed(app, name, bytes, help, "SIZE", [](std::string_view text) {
    const size_t first = std::min(text.find_first_not_of(' '), text.size());
    const size_t end = text.find_last_not_of(' ') + 1;  // npos + 1 is 0
    const bool none = text.substr(first, end - std::min(first, end)) == "0";
    return none ? StatusOr<size_t>(0) : jobs::ParseSize(text);
  });
}

CLI::Option* AddBudget(CLI::App& app, const std::string& name, Budget& budget,
                       const std::string& help) {
  return AddParsed(app, name, budget, help, "BUDGET", jobs::ParseBudget);
}

}  // namespace hone::cli
