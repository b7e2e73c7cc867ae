#include "device/remote_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "device/calls.h"
#include "wire/helper_client.h"

extern char** environ;

namespace hone::device {
namespace {

constexpr size_t kMostExecutables = 6;
constexpr size_t kMostInputs = 4;
constexpr double kCompilePatience = 600;  // of a program that is compiled again
// What a message can carry in one piece.
constexpr size_t kMostArrayBytes = (size_t{1} << 29) - 1;

// Of the user's environment a plugin is given what says where drivers are and which devices may be
// used, and nothing that decides how it compiles.
constexpr std::string_view kPassedOn[] = {
    "LD_LIBRARY_PATH",        "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER",
    "NVIDIA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
    "TPU_VISIBLE_CHIPS",      "TPU_VISIBLE_DEVICES",  "PATH"};

std::vector<std::string> Environment() {
  std::vector<std::string> passed;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('='));
    if (std::find(std::begin(kPassedOn), std::end(kPassedOn), name) != std::end(kPassedOn)) {
      passed.emplace_back(text);
    }
  }
  return passed;
}

Attributes AttributesOf(capnp::List<NamedText>::Reader list) {
  Attributes attributes;
  for (const auto named : list) {
    attributes.emplace_back(std::string(named.getName()), std::string(named.getValue()));
  }
  return attributes;
}

PluginInfo InfoOf(PluginFacts::Reader facts) {
  PluginInfo info;
  info.api_major = facts.getApiMajor();
  info.api_minor = facts.getApiMinor();
  info.platform = facts.getPlatform();
  info.platform_version = facts.getPlatformVersion();
  info.attributes = AttributesOf(facts.getAttributes());
  for (const auto device : facts.getDevices()) {
    info.devices.push_back({device.getId(), device.getKind(), device.getText(),
                            AttributesOf(device.getAttributes()), device.getMemoryBytes()});
  }
  return info;
}

}  // namespace

RemoteDevice::RemoteDevice(DeviceOptions options)
    : options_(std::move(options)), link_(MakeLink(/*sandbox=*/false)) {}

std::unique_ptr<wire::WorkerLink> RemoteDevice::MakeLink(bool sandbox) const {
  wire::LinkOptions link =
      wire::HelperLink(options_.program_path, "hone-device", sandbox, options_.memory_limit_bytes);
  link.name = "the plugin's process";
  link.environment = Environment();
  return std::make_unique<wire::WorkerLink>(std::move(link));
}

RemoteDevice::~RemoteDevice() = default;

StatusOr<std::unique_ptr<RemoteDevice>> RemoteDevice::Start(const DeviceOptions& options) {
  DeviceOptions whole = options;
  // A relative name is a file here, not in the places that a loader searches.
  whole.name.plugin = std::filesystem::absolute(options.name.plugin).string();
  std::unique_ptr<RemoteDevice> device(new RemoteDevice(std::move(whole)));
  if (Status connected = device->Connect(); !connected) return tl::unexpected(connected.error());
  return device;
}

int RemoteDevice::pid() const { return link_->pid(); }

wire::Patience RemoteDevice::Calling() const {
  return {options_.call_deadline_seconds, false, nullptr};
}

void RemoteDevice::Forget() {
  executables_.clear();
  inputs_.clear();
}

// The answer, or the error in it. Where the process is lost, all that it held is.
template <class C, class Make>
StatusOr<wire::Reply<C>> RemoteDevice::Ask(const wire::Patience& patience, Make make) {
  StatusOr<wire::Reply<C>> reply = link_->Call<C>(patience, make);
  if (!reply) Forget();
  return wire::OrFailure(std::move(reply));
}

Status RemoteDevice::Connect() {
  const StatusOr<bool> started = link_->Connect();
  if (!started) return tl::unexpected(started.error());
  if (!*started) return {};
  Forget();
  const wire::Patience patience{options_.open_deadline_seconds, false, nullptr};
  const auto opened = Ask<OpenCall>(patience, [this](Device::OpenParams::Builder params) {
    params.setPlugin(options_.name.plugin);
    params.setDevice(options_.name.device);
    const auto& given = options_.name.options;
    auto options = params.initOptions(static_cast<uint32_t>(given.size()));
    for (uint32_t i = 0; i < given.size(); ++i) {
      options[i].setName(given[i].first);
      options[i].setValue(given[i].second);
    }
  });
  if (opened) {
    info_ = InfoOf(opened->getFacts());
    if (!options_.sandbox || locked_up_ || info_.platform != "cpu") return {};
    // What it is for is known only now, when it has threads, and has seen no program yet: another
    // process is locked up before it loads it.
    locked_up_ = true;
    link_ = MakeLink(/*sandbox=*/true);
    return Connect();
  }
  link_->Disconnect();  // without a client it is of no use
  Error error = opened.error();
  if (error.code == ErrorCode::kWorkerDied || error.code == ErrorCode::kDeadline) {
    error = {ErrorCode::kUnsupported,
             options_.name.plugin + ": it was lost while it was loaded: " + error.message};
  }
  return tl::unexpected(error);
}

Status RemoteDevice::Restart() {
  link_->Disconnect();
  return Connect();
}

StatusOr<double> RemoteDevice::Compile(const DeviceProgram& program, double deadline_seconds) {
  if (Status ready = Connect(); !ready) return tl::unexpected(ready.error());
  if (const auto found = executables_.find(program.name); found != executables_.end()) {
    found->second.used = ++calls_;
    return found->second.seconds;
  }
  KeepFew();
  if (program.module->size() > kMostArrayBytes) {
    return MakeError(ErrorCode::kUnsupported, "the program is larger than 512 MiB");
  }
  const uint32_t id = next_id_++;
  const auto compiled = Ask<CompileCall>(
      {deadline_seconds, false, nullptr}, [&](Device::CompileParams::Builder params) {
        const std::string options =
            CompileOptionsProto(device().id, program.tupled_arguments, program.flags);
        params.setExecutable(id);
        params.setFormat("hlo");
        params.setCode({reinterpret_cast<const unsigned char*>(program.module->data()),
                        program.module->size()});
        params.setOptions({reinterpret_cast<const unsigned char*>(options.data()), options.size()});
      });
  if (!compiled) return tl::unexpected(compiled.error());
  executables_[program.name] = {id, ++calls_, compiled->getSeconds()};
  return compiled->getSeconds();
}

void RemoteDevice::KeepFew() {
  while (executables_.size() >= kMostExecutables) {
    const auto oldest = wire::LeastRecent(executables_);
    const uint32_t id = oldest->second.id;
    executables_.erase(oldest);
    if (!Ask<DropCall>(Calling(),
                       [id](Device::DropParams::Builder params) { params.setExecutable(id); })) {
      return;
    }
  }
}

StatusOr<uint32_t> RemoteDevice::Placed(const DeviceInputs& inputs) {
  if (const auto found = inputs_.find(inputs.name); found != inputs_.end()) {
    found->second.used = ++calls_;
    return found->second.id;
  }
  while (inputs_.size() >= kMostInputs) {
    const auto oldest = wire::LeastRecent(inputs_);
    const uint32_t id = oldest->second.id;
    inputs_.erase(oldest);
    const auto removed = Ask<RemoveCall>(
        Calling(), [id](Device::RemoveParams::Builder params) { params.setInputs(id); });
    if (!removed) return tl::unexpected(removed.error());
  }
  for (const DeviceArray& array : inputs.arrays) {
    if (array.bytes.size() > kMostArrayBytes) {
      return MakeError(ErrorCode::kUnsupported, "a parameter is larger than 512 MiB");
    }
  }
  const uint32_t id = next_id_++;
  const auto placed = Ask<PlaceCall>(Calling(), [&](Device::PlaceParams::Builder params) {
    params.setInputs(id);
    auto list = params.initArrays(static_cast<uint32_t>(inputs.arrays.size()));
    for (uint32_t i = 0; i < inputs.arrays.size(); ++i) {
      const DeviceArray& array = inputs.arrays[i];
      list[i].setType(array.type);
      auto dimensions = list[i].initDimensions(static_cast<uint32_t>(array.dimensions.size()));
      for (uint32_t d = 0; d < array.dimensions.size(); ++d) dimensions.set(d, array.dimensions[d]);
      list[i].setBytes(
          {reinterpret_cast<const unsigned char*>(array.bytes.data()), array.bytes.size()});
    }
  });
  if (!placed) return tl::unexpected(placed.error());
  inputs_[inputs.name] = {id, ++calls_};
  return id;
}

StatusOr<std::vector<DeviceArray>> RemoteDevice::Run(const DeviceProgram& program,
                                                     const DeviceInputs& inputs) {
  const auto compiled = Compile(program, kCompilePatience);
  if (!compiled) return tl::unexpected(compiled.error());
  const StatusOr<uint32_t> placed = Placed(inputs);
  if (!placed) return tl::unexpected(placed.error());
  const auto run = Ask<RunCall>(Calling(), [&](Device::RunParams::Builder params) {
    params.setExecutable(executables_.at(program.name).id);
    params.setInputs(*placed);
  });
  if (!run) return tl::unexpected(run.error());
  std::vector<DeviceArray> outputs;
  for (const auto array : run->getOutputs()) {
    const auto bytes = array.getBytes();
    outputs.push_back({std::string(array.getType().cStr()),
                       NumbersOf(array.getDimensions()),
                       {reinterpret_cast<const char*>(bytes.begin()), bytes.size()}});
  }
  return outputs;
}

StatusOr<std::vector<PairTimes>> RemoteDevice::Time(const DeviceProgram& a, const DeviceProgram& b,
                                                    const DeviceInputs& inputs, int first,
                                                    int pairs, int repeats) {
  for (const DeviceProgram* program : {&a, &b}) {
    const auto compiled = Compile(*program, kCompilePatience);
    if (!compiled) return tl::unexpected(compiled.error());
  }
  const StatusOr<uint32_t> placed = Placed(inputs);
  if (!placed) return tl::unexpected(placed.error());
  const auto timed = Ask<TimeCall>(Calling(), [&](Device::TimeParams::Builder params) {
    params.setA(executables_.at(a.name).id);
    params.setB(executables_.at(b.name).id);
    params.setInputs(*placed);
    params.setFirstPair(static_cast<uint32_t>(first));
    params.setPairs(static_cast<uint32_t>(pairs));
    params.setRepeats(static_cast<uint32_t>(repeats));
  });
  if (!timed) return tl::unexpected(timed.error());
  return wire::PairsOf(timed->getSeconds());
}

}  // namespace hone::device
