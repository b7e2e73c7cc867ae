// What makes glibc keep what a run has freed for the next one (docs/decisions.md, "Memory is kept
// between runs"): names and values for $GLIBC_TUNABLES.
#ifndef HONE_CORE_KEPT_MEMORY_H_
#define HONE_CORE_KEPT_MEMORY_H_

#include <initializer_list>
#include <string>
#include <utility>

namespace hone {

using Tunables = std::initializer_list<std::pair<const char*, const char*>>;

inline constexpr Tunables kKeepWhatIsFreed = {{"glibc.malloc.mmap_max", "0"},
                                              {"glibc.malloc.trim_threshold", "17179869184"}};

// Behind those that are given, whose word stands.
inline std::string WithTunables(std::string given, Tunables more) {
  for (const auto& [name, value] : more) {
    if (given.find(name) != given.npos) continue;
    if (!given.empty()) given += ':';
    given += std::string(name) + "=" + value;
  }
  return given;
}

}  // namespace hone

#endif  // HONE_CORE_KEPT_MEMORY_H_
