// hone device: what a PJRT plugin is, and which of XLA's flags are tried on it.
#include "cli/device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "cli/actions.h"
#include "cli/progress.h"
#include "device/flags.h"

namespace hone::cli {
namespace {

struct InfoOptions {
  CommonOptions common;
  std::string device;
};

CLI::Validator IsDeviceName() {
  const auto check = [](std::string& given) {
    const auto name = device::ParseDeviceName(given);
    return name ? std::string() : name.error().message;
  };
  return {check, ""};
}

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

int RunInfo(const InfoOptions& options) {
  const bool json = options.common.json;
  StatusOr<std::unique_ptr<device::RemoteDevice>> started =
      MakeError(ErrorCode::kInternal, "not started");
  {
    const Waiting waiting(options.common.ShowProgress(), "loading the plugin");
    started = StartDevice(options.common, options.device);
  }
  if (!started) return Fail(started.error(), json);
  const device::PluginInfo& info = (*started)->info();
  if (!json) return Finish(InfoText(info), kFine);
  Json out{{"device", options.device}};
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

void AddDeviceOption(CLI::App& app, std::string& device, const std::string& help) {
  app.add_option("--device", device, help)->check(IsDeviceName())->type_name("DEVICE");
}

device::DeviceOptions DeviceOptionsFor(const CommonOptions& options, const std::string& device) {
  device::DeviceOptions whole;
  whole.name = *device::ParseDeviceName(device);
  whole.memory_limit_bytes = options.memory_limit_bytes;
  whole.sandbox = !options.no_sandbox;
  return whole;
}

StatusOr<std::unique_ptr<device::RemoteDevice>> StartDevice(const CommonOptions& options,
                                                            const std::string& device) {
  return device::RemoteDevice::Start(DeviceOptionsFor(options, device));
}

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
  actions.Add(
      "info", "what a PJRT plugin and its devices are",
      "  hone device info pjrt:/path/to/pjrt_c_api_cpu_plugin.so\n", [](CLI::App& info) -> Run {
        const auto options = std::make_shared<InfoOptions>();
        info.add_option("DEVICE", options->device, "pjrt:/path/to/plugin.so[,option=value…]")
            ->required()
            ->check(IsDeviceName())
            ->type_name("");
        AddCommonOptions(info, options->common);
        return [options] { return RunInfo(*options); };
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
