// XLA's flags that are worth trying on a plugin, by platform.
#ifndef HONE_DEVICE_FLAGS_H_
#define HONE_DEVICE_FLAGS_H_

#include <string>
#include <string_view>
#include <vector>

#include "core/compile_plan.h"
#include "device/messages.h"

namespace hone::device {

// A plugin's default where a flag is not given.
inline constexpr std::string_view kUnset = "unset";

struct DeviceFlag {
  std::string_view platform;  // "cpu", "gpu", "tpu"
  std::string_view name;
  // To try, beside leaving it unset; commas within one belong to it. "none" is the empty list.
  std::vector<std::string_view> values;
  bool numerics;  // changes results: offered with --fast-math only
  std::string_view meaning;
  std::string_view source;
};

const std::vector<DeviceFlag>& DeviceFlags();

// "cpu", "gpu" or "tpu" of what a plugin calls its platform ("cuda", "rocm", …); "" for others, of
// whose flags nothing is known.
std::string_view FlagPlatform(std::string_view platform);

// As a tuner takes them: "unset" is first.
std::vector<FlagChoices> FlagChoicesFor(std::string_view platform, bool fast_math);

// A plan's flags in the spelling of a plugin's compile options: none of those left unset, and the passes left
// out (kWithoutPass) as one list, behind those that the plan's own xla_disable_hlo_passes names.
Flags PluginFlags(const CompilePlan& plan);

}  // namespace hone::device

#endif  // HONE_DEVICE_FLAGS_H_
