// What there is of the machine, and how much of it is ours.
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <thread>

#include "jobs/doctor/checks.h"
#include "jobs/doctor/probe.h"
#include "report/words.h"

namespace hone::jobs::doctor {
namespace {

namespace fs = std::filesystem;

constexpr double kGiB = 0x1p30;
constexpr double kLeastMemory = 4 * kGiB;  // a large program and its copies
constexpr double kLeastDisk = 1.2 * kGiB;  // the wheel and what is unpacked of it

}  // namespace

Finding Processor(const Surroundings& here) {
  const std::string text = ReadSystem(here, "proc/cpuinfo");
  const std::string model = ValueOf(text, "model name");
  const std::string flags = " " + ValueOf(text, "flags") + " ";
  const auto has = [&](const char* flag) {
    return flags.find(fmt::format(" {} ", flag)) != flags.npos;
  };
  const std::string what =
      (model.empty() ? "of an unknown model" : model) + (has("avx512f") ? ", with AVX-512"
                                                         : has("avx2")  ? ", with AVX2"
                                                                        : "");
  if (!has("avx2")) {
    return {State::kWarning, what + ", without AVX2",
            "use a newer processor: XLA's libraries have no fast code for this one"};
  }
  return {State::kOk, what, ""};
}

Finding Cores(const Surroundings& here) {
  cpu_set_t set;
  const bool known = sched_getaffinity(0, sizeof(set), &set) == 0;
  const double mine = known ? CPU_COUNT(&set) : std::max(1u, std::thread::hardware_concurrency());
  const std::optional<double> limit = GroupCores(here);
  if (limit && *limit < mine) {
    return {State::kWarning,
            fmt::format("{:.0f} cores, of which the control group grants {:g}", mine, *limit),
            "measurements stall when the quota is spent; raise it, or give fewer --workers"};
  }
  if (mine < 2) {
    return {State::kWarning, "1 core",
            "hone and its worker take turns on it; measure with nothing else running"};
  }
  return {State::kOk, fmt::format("{:.0f}", mine), ""};
}

Finding Memory(const Surroundings& here) {
  const std::string text = ReadSystem(here, "proc/meminfo");
  const std::optional<double> total = NumberIn(ValueOf(text, "MemTotal"));
  const std::optional<double> free = NumberIn(ValueOf(text, "MemAvailable"));
  if (!total || !free) return {State::kWarning, "unknown: /proc/meminfo cannot be read", ""};
  const std::optional<double> limit = GroupMemoryBytes(here);
  double most = *total * 1024;
  std::string what =
      fmt::format("{}, {} of it free", report::HumanBytes(most), report::HumanBytes(*free * 1024));
  if (limit && *limit < most) {
    most = *limit;
    what += fmt::format("; the control group grants {}", report::HumanBytes(most));
  }
  if (std::min(most, *free * 1024) < kLeastMemory) {
    return {State::kWarning, what,
            "large programs need more than 4 GiB; set --memory-limit, so that a worker is ended "
            "rather than "
            "another program"};
  }
  return {State::kOk, what, ""};
}

Finding Disk(const Surroundings& here) {
  fs::path folder = here.cache;
  std::error_code error;
  while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  const fs::space_info space = fs::space(folder, error);
  if (error) return {State::kWarning, fmt::format("{}: {}", here.cache, error.message()), ""};
  const auto free = static_cast<double>(space.available);
  const std::string what = fmt::format("{} free for {}", report::HumanBytes(free), here.cache);
  if (free < kLeastDisk) {
    return {State::kWarning, what,
            "XLA's libraries need 1.2 GiB once; make room, or set HONE_CACHE to another folder"};
  }
  return {State::kOk, what, ""};
}

}  // namespace hone::jobs::doctor
