#include "jobs/machine_load.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace hone::jobs {
namespace {

constexpr double kLeastSeconds = 0.1;
constexpr double kMostOthersCores = 0.3;  // beside which times are not a quiet machine's

struct Process {
  long parent = 0;
  double ticks = 0;  // its own and its ended children's
};

// proc(5): the name, in parentheses, may hold anything; the parent is the second field behind it,
// user and system time and the children's are the 12th to the 15th.
std::optional<Process> ReadProcess(const std::filesystem::path& folder) {
  std::ifstream file(folder / "stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  std::istringstream fields(line.substr(std::min(line.rfind(')') + 1, line.size())));
  std::string skipped;
  Process process;
  fields >> skipped >> process.parent;
  for (int i = 3; i < 12; ++i) fields >> skipped;
  for (int i = 0; i < 4; ++i) {
    double ticks = 0;
    fields >> ticks;
    process.ticks += ticks;
  }
  if (!fields) return std::nullopt;
  return process;
}

double OwnTicks() {
  std::map<long, Process> processes;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    if (!std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c); })) {
      continue;
    }
    if (const auto process = ReadProcess(entry.path())) processes[std::stol(name)] = *process;
  }
  double ticks = 0;
  for (const auto& [id, process] : processes) {
    long ancestor = id;
    for (auto at = processes.find(id); ancestor != getpid() && at != processes.end();
         at = processes.find(ancestor)) {
      ancestor = at->second.parent;
    }
    if (ancestor == getpid()) ticks += process.ticks;
  }
  return ticks;
}

// Seconds of processor time that other processes have used.
std::optional<double> Others() {
  std::ifstream file("/proc/stat");
  std::string line;
  std::getline(file, line);
  const std::optional<ProcessorTicks> all = ReadProcessorTicks(line);
  if (!all) return std::nullopt;
  return (all->busy - OwnTicks()) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

std::optional<ProcessorTicks> ReadProcessorTicks(const std::string& stat) {
  std::istringstream fields(stat);
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, soft_irq = 0, stolen = 0;
  fields >> name >> user >> nice >> system >> idle >> waiting >> irq >> soft_irq >> stolen;
  if (!fields || name != "cpu") return std::nullopt;
  return ProcessorTicks{user + nice + system + irq + soft_irq + stolen, idle + waiting, stolen};
}

MachineLoad::MachineLoad() : start_(std::chrono::steady_clock::now()), others_(Others()) {}

std::optional<double> MachineLoad::OthersCores() const {
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const std::optional<double> now = Others();
  if (!others_ || !now || seconds < kLeastSeconds) return std::nullopt;
  return std::max(0.0, *now - *others_) / seconds;
}

std::string BesideOthers(double others_cores) {
  if (others_cores <= kMostOthersCores) return "";
  return fmt::format(
      "other processes kept {:.1f} cores busy: what was fastest beside them may be slower where "
      "they are not; tune again on a quiet machine",
      others_cores);
}

}  // namespace hone::jobs
