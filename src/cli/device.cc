// hone device: what a PJRT plugin is, and which of XLA's flags are tried on it.
#include "cli/device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "cli/actions.h"
#include "cli/command_events.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "device/flags.h"

namespace hone::cli {
namespace {

struct InfoFlags {
  CommonOptions common;
  std::string device;
};

std::string AttributesText(const device::Attributes& attributes) {
  std::string text;
  for (const auto& [name, value] : attributes) {
    text += fmt::format("    {}  {}\n", Printable(name), Printable(value));
  }
  return text;
}

std::string InfoText(const device::PluginInfo& info) {
  const std::string_view flags = device::FlagPlatform(info.platform);
  std::string text = fmt::format(
      "platform     {}\nversion      {}\nPJRT API     {}.{}\nflags        {}\n", info.platform,
      Printable(info.platform_version), info.api_major, info.api_minor,
      flags.empty() ? "none that hone knows"
                    : fmt::format("{} to try; hone device flags {}",
                                  device::FlagChoicesFor(info.platform, true).size(), flags));
  if (!info.attributes.empty()) text += "attributes\n" + AttributesText(info.attributes);
  for (size_t i = 0; i < info.devices.size(); ++i) {
    const device::DeviceDetails& one = info.devices[i];
    text += fmt::format(
        "device {}     {}, id {}{}{}\n", i, Printable(one.kind), one.id,
        one.memory_bytes > 0 ? ", " + HumanBytes(static_cast<double>(one.memory_bytes)) : "",
        one.text.empty() ? "" : ", " + Printable(one.text));
    text += AttributesText(one.attributes);
  }
  return text;
}

int RunInfo(const InfoFlags& flags) {
  const bool json = flags.common.json;
  CommandEvents events(flags.common);
  const auto started = jobs::StartDevice(flags.common, flags.device, events);
  if (!started) return Fail(started.error(), json);
  const device::PluginInfo& info = (*started)->info();
  if (!json) return Finish(InfoText(info), kFine);
  Json out{{"device", flags.device}};
  out.update(jobs::PluginJson(info));
  return Finish(out, kFine);
}

int RunFlags(const std::string& platform, bool json) {
  if (json) return Finish(jobs::DeviceFlagsJson(platform), kFine);
  std::string text;
  for (const device::DeviceFlag& flag : device::DeviceFlags()) {
    if (!platform.empty() && flag.platform != platform) continue;
    text += fmt::format("{:<4} {}{}\n     {}\n     {}\n", flag.platform, flag.name,
                        flag.numerics ? " (with --fast-math)" : "", flag.meaning,
                        fmt::join(flag.values, " | "));
  }
  return Finish(text, kFine);
}

}  // namespace

std::string OnDeviceText(const device::RemoteDevice& device, const jobs::OnDevice& tried) {
  const std::string kind = Printable(device.device().kind);
  std::string text;
  if (tried.comparison) {
    const ComparisonReport& report = *tried.comparison;
    text += fmt::format("on {}: {}\n", kind,
                        report.verdict == Verdict::kEqual
                            ? fmt::format("computes the same; worst error {:.3g} of the tolerance",
                                          report.worst_error)
                        : report.verdict == Verdict::kDifferent
                            ? "computes something else: " + Printable(report.reason)
                            : "not known to compute the same: " + Printable(report.reason));
  }
  if (!tried.error.empty()) {
    return text + fmt::format("on {}: not measured: {}\n", kind, Printable(tried.error));
  }
  const RaceReport& race = tried.race;
  if (race.same_executable) return text + fmt::format("on {}: the same program\n", kind);
  return text + fmt::format(
                    "on {}: program {:.4g} ms, result {:.4g} ms: {:.3f} times as fast, 95 % "
                    "interval [{:.3f}, {:.3f}] of {} pairs\n",
                    kind, 1000 * race.seconds_a, 1000 * race.seconds_b, race.speedup, race.low,
                    race.high, race.pairs);
}

Run AddDevice(CLI::App& app) {
  Actions actions(app);
  actions.Add("info", "what a PJRT plugin and its devices are",
              "  hone device info pjrt:/path/to/pjrt_c_api_cpu_plugin.so\n",
              [](CLI::App& info) -> Run {
                const auto flags = std::make_shared<InfoFlags>();
                AddWord(info, "DEVICE", flags->device, "pjrt:/path/to/plugin.so[,option=value…]")
                    ->check(IsDeviceName());
                AddCommonOptions(info, flags->common);
                return [flags] { return RunInfo(*flags); };
              });
  actions.Add("flags", "XLA's flags that are tried on plugins",
              "  hone device flags gpu\n  hone device flags --json\n", [](CLI::App& flags) -> Run {
                const auto platform = std::make_shared<std::string>();
                const auto json = std::make_shared<bool>(false);
                flags
                    .add_option("PLATFORM", *platform, "cpu, gpu or tpu; all where it is not given")
                    ->check(CLI::IsMember({"cpu", "gpu", "tpu"}))
                    ->type_name("");
                flags.add_flag("--json", *json, "print JSON, for programs");
                return [platform, json] { return RunFlags(*platform, *json); };
              });
  return actions.Chosen();
}

}  // namespace hone::cli
