// hone device: what a PJRT plugin is, and which of XLA's flags are tried on it.
#include "cli/device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

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

Json AttributesJson(const device::Attributes& attributes) {
  Json json = Json::object();
  for (const auto& [name, value] : attributes) json[name] = value;
  return json;
}

std::string AttributesText(const device::Attributes& attributes) {
  std::string text;
  for (const auto& [name, value] : attributes) {
    text += fmt::format("    {}  {}\n", Printable(name), Printable(value));
  }
  return text;
}

Json InfoJson(const std::string& name, const device::PluginInfo& info) {
  Json json;
  json["device"] = name;
  json["platform"] = info.platform;
  json["platform_version"] = info.platform_version;
  json["api_version"] = {info.api_major, info.api_minor};
  json["attributes"] = AttributesJson(info.attributes);
  json["flags"] = device::FlagChoicesFor(info.platform, /*fast_math=*/true).size();
  json["devices"] = Json::array();
  for (const device::DeviceDetails& one : info.devices) {
    json["devices"].push_back({{"id", one.id},
                               {"kind", one.kind},
                               {"text", one.text},
                               {"memory_bytes", one.memory_bytes},
                               {"attributes", AttributesJson(one.attributes)}});
  }
  return json;
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
  return json ? Finish(InfoJson(options.device, info), kFine) : Finish(InfoText(info), kFine);
}

int RunFlags(const std::string& platform, bool json) {
  if (json) {
    Json out;
    out["flags"] = Json::array();
    for (const device::DeviceFlag& flag : device::DeviceFlags()) {
      if (!platform.empty() && flag.platform != platform) continue;
      out["flags"].push_back({{"platform", flag.platform},
                              {"name", flag.name},
                              {"values", flag.values},
                              {"numerics", flag.numerics},
                              {"meaning", flag.meaning},
                              {"source", flag.source}});
    }
    return Finish(out, kFine);
  }
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
  auto options = std::make_shared<InfoOptions>();
  auto platform = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  CLI::App* info = app.add_subcommand("info", "what a PJRT plugin and its devices are");
  info->add_option("DEVICE", options->device, "pjrt:/path/to/plugin.so[,option=value…]")
      ->required()
      ->check(IsDeviceName())
      ->type_name("");
  AddCommonOptions(*info, options->common);
  info->footer("Examples:\n  hone device info pjrt:/path/to/pjrt_c_api_cpu_plugin.so\n");
  CLI::App* flags = app.add_subcommand("flags", "XLA's flags that are tried on plugins");
  flags->add_option("PLATFORM", *platform, "cpu, gpu or tpu; all where it is not given")
      ->check(CLI::IsMember({"cpu", "gpu", "tpu"}))
      ->type_name("");
  flags->add_flag("--json", *json, "print JSON, for programs");
  flags->footer("Examples:\n  hone device flags gpu\n  hone device flags --json\n");
  app.require_subcommand(1, 1);
  auto formatter = std::make_shared<CLI::Formatter>();
  formatter->column_width(app.get_formatter()->get_column_width());
  formatter->label("SUBCOMMAND", "ACTION");
  app.formatter(formatter);
  info->group("Actions");
  flags->group("Actions");
  return [=] { return info->parsed() ? RunInfo(*options) : RunFlags(*platform, *json); };
}

}  // namespace hone::cli
