#include "jobs/doctor/probe.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "jobs/child.h"

namespace hone::jobs::doctor {
namespace {

namespace fs = std::filesystem;

constexpr double kProgramSeconds = 20;
// What version 1 says where there is no limit: the largest number of whole pages.
constexpr double kNoLimitBytes = 0x1p62;

std::optional<double> Least(std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

// Calls `look(folder)` for every control group of this process, up to the root, of version 2
// (controller "") or of a controller of version 1; the least of what it says.
template <class Look>
std::optional<double> LeastOfGroups(const Surroundings& here, const std::string& controller,
                                    Look look) {
  std::istringstream lines(ReadSystem(here, "proc/self/cgroup"));
  std::optional<double> least;
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
    if (names != "," + controller + "," && names.find("," + controller + ",") == names.npos)
      continue;
    if (controller.empty() != (names == ",,")) continue;
    const std::string top = controller.empty() ? "sys/fs/cgroup" : "sys/fs/cgroup/" + controller;
    // A container sees its own group as the root, whatever its path says.
    for (fs::path group = line.substr(second + 1);; group = group.parent_path()) {
      least = Least(least, look(top + (group == "/" ? "" : group.string())));
      if (group == "/" || group.empty()) break;
    }
  }
  return least;
}

}  // namespace

std::string ReadSystem(const Surroundings& here, const std::string& path) {
  std::ifstream file(fs::path(here.root) / path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string ValueOf(const std::string& text, const std::string& key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(key, 0) != 0) continue;
    const size_t from = line.find_first_not_of(" \t:", key.size());
    const bool whole_key = line.size() == key.size() ||
                           std::string(" \t:").find(line[key.size()]) != std::string::npos;
    if (whole_key) return from == line.npos ? "" : line.substr(from);
  }
  return "";
}

std::optional<double> NumberIn(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str()) return std::nullopt;
  return number;
}

std::optional<double> GroupCores(const Surroundings& here) {
  const auto cores = [](std::optional<double> quota,
                        std::optional<double> period) -> std::optional<double> {
    if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
    return *quota / *period;
  };
  return Least(LeastOfGroups(here, "",
                             [&](const std::string& group) {
                               const std::string text = ReadSystem(here, group + "/cpu.max");
                               const size_t space = text.find(' ');
                               if (space == text.npos) return std::optional<double>();
                               return cores(NumberIn(text), NumberIn(text.substr(space)));
                             }),
               LeastOfGroups(here, "cpu", [&](const std::string& group) {
                 return cores(NumberIn(ReadSystem(here, group + "/cpu.cfs_quota_us")),
                              NumberIn(ReadSystem(here, group + "/cpu.cfs_period_us")));
               }));
}

std::optional<double> GroupMemoryBytes(const Surroundings& here) {
  const auto bytes = [&](const std::string& file) -> std::optional<double> {
    const std::optional<double> limit = NumberIn(ReadSystem(here, file));
    if (!limit || *limit <= 0 || *limit > kNoLimitBytes) return std::nullopt;
    return limit;
  };
  return Least(
      LeastOfGroups(here, "",
                    [&](const std::string& group) { return bytes(group + "/memory.max"); }),
      LeastOfGroups(here, "memory", [&](const std::string& group) {
        return bytes(group + "/memory.limit_in_bytes");
      }));
}

std::optional<std::string> FirstLineOf(const std::vector<std::string>& words) {
  const StatusOr<Finished> done = RunProgram(words, {.variables = {}, .seconds = kProgramSeconds});
  if (!done || done->exit_code != 0) return std::nullopt;
  return done->out.substr(0, done->out.find('\n'));
}

}  // namespace hone::jobs::doctor
