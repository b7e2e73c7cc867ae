// Will the same work take the same time? What changes clock speeds, and what else runs.
#include "jobs/doctor/steadiness.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <thread>

#include "jobs/doctor/checks.h"
#include "jobs/doctor/probe.h"
#include "jobs/machine_load.h"

namespace hone::jobs::doctor {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kPieceSeconds = 0.002;
constexpr double kSteady = 0.05;  // of the coefficient of variation

// Work of the processor alone, which touches no memory.
uint64_t Spin(uint64_t state, int64_t rounds) {
  for (int64_t i = 0; i < rounds; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
  }
  return state;
}

double Timed(uint64_t& state, int64_t rounds) {
  const auto start = Clock::now();
  state = Spin(state, rounds);
  return std::chrono::duration<double>(Clock::now() - start).count();
}

ProcessorTicks TicksOf(const Surroundings& here) {
  return ReadProcessorTicks(ReadSystem(here, "proc/stat")).value_or(ProcessorTicks{});
}

}  // namespace

double CoefficientOfVariation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  double mean = 0;
  for (const double value : values) mean += value;
  mean /= static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1)) / mean;
}

std::vector<double> RepeatedTimes(double seconds) {
  uint64_t state = 88172645463325252u;
  int64_t rounds = 1 << 16;
  while (Timed(state, rounds) < kPieceSeconds / 2) rounds *= 2;
  std::vector<double> times;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < end) times.push_back(Timed(state, rounds));
  if (state == 0) times.clear();  // never: so that the work is not optimised away
  return times;
}

Finding Governor(const Surroundings& here) {
  const std::string governor =
      ReadSystem(here, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (governor.empty()) return {State::kOk, "not to be seen, as in most virtual machines", ""};
  if (governor == "performance") return {State::kOk, governor, ""};
  return {State::kWarning,
          governor + ": the clock follows the load, and short runs are slower than long ones",
          "for measurements, as root: cpupower frequency-set -g performance"};
}

Finding Turbo(const Surroundings& here) {
  const std::string no_turbo = ReadSystem(here, "sys/devices/system/cpu/intel_pstate/no_turbo");
  const std::string boost = ReadSystem(here, "sys/devices/system/cpu/cpufreq/boost");
  if (no_turbo.empty() && boost.empty())
    return {State::kOk, "not to be seen, as in most virtual machines", ""};
  if (no_turbo == "1" || boost == "0") return {State::kOk, "off", ""};
  return {
      State::kWarning, "on: the clock depends on temperature and on the other cores",
      no_turbo.empty()
          ? "for measurements, as root: echo 0 > /sys/devices/system/cpu/cpufreq/boost"
          : "for measurements, as root: echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo"};
}

Finding HugePages(const Surroundings& here) {
  const std::string text = ReadSystem(here, "sys/kernel/mm/transparent_hugepage/enabled");
  const size_t from = text.find('[');
  const size_t to = text.find(']');
  if (from == text.npos || to == text.npos) return {State::kOk, "not to be seen", ""};
  const std::string chosen = text.substr(from + 1, to - from - 1);
  if (chosen == "always")
    return {State::kOk, "always: large arrays may get huge pages, or not, from run to run", ""};
  if (chosen == "madvise") {
    return {State::kOk,
            "madvise: GLIBC_TUNABLES=glibc.malloc.hugetlb=1, as under `hone with`, gets them", ""};
  }
  return {State::kOk, chosen, ""};
}

Finding Load(const Surroundings& here) {
  const std::optional<double> load = NumberIn(ReadSystem(here, "proc/loadavg"));
  if (!load) return {State::kOk, "not to be seen", ""};
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const std::string what = fmt::format("{:.2f} over the last minute, on {} cores", *load, cores);
  if (*load > 0.5 * cores) {
    return {
        State::kWarning, what,
        "measure while less else runs: hone's measurements are paired, but they need more pairs"};
  }
  return {State::kOk, what, ""};
}

Finding Repetition(const Surroundings& here) {
  const ProcessorTicks before = TicksOf(here);
  const std::vector<double> times = RepeatedTimes(here.steady_seconds);
  const ProcessorTicks after = TicksOf(here);
  const double variation = CoefficientOfVariation(times);
  std::string what = fmt::format(
      "{} times the same {:.1f} ms of work: coefficient of variation {:.1f} %", times.size(),
      times.empty() ? 0 : 1e3 * *std::min_element(times.begin(), times.end()), 100 * variation);
  const double all = after.busy + after.idle - before.busy - before.idle;
  if (all > 0 && after.stolen > before.stolen) {
    what += fmt::format(", {:.0f} % stolen by other machines",
                        100 * (after.stolen - before.stolen) / all);
  }
  if (variation > kSteady) {
    return {State::kWarning, what,
            "something else runs here, or the clock changes; small differences in time will not be "
            "seen"};
  }
  return {State::kOk, what, ""};
}

}  // namespace hone::jobs::doctor
