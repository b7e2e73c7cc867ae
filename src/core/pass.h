// What the agent side knows of a registered XLA pass.
#ifndef HONE_CORE_PASS_H_
#define HONE_CORE_PASS_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace hone {

enum class PassGroup { kSimplify, kExpand, kLegalise, kLayout, kFuse, kSchedule, kCollective };

inline constexpr std::string_view PassGroupName(PassGroup group) {
  constexpr std::string_view kNames[] = {"simplify", "expand",   "legalise",  "layout",
                                         "fuse",     "schedule", "collective"};
  return kNames[static_cast<int>(group)];
}

// An action: an index into the registry's table.
using PassId = uint16_t;

struct PassInfo {
  // XLA's own `pass->name()`, followed by ":variant" where options differ from the plain entry.
  std::string name;
  std::string class_name;
  std::string meaning;  // one line
  PassGroup group = PassGroup::kSimplify;
  std::string options;  // "" where the pass has none or takes XLA's defaults
  // In the action set `simplify`: keeps or lowers the op count, expands nothing to legalise it.
  bool simplify = false;
};

}  // namespace hone

#endif  // HONE_CORE_PASS_H_
