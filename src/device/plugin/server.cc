#include "device/plugin/server.h"

#include <capnp/message.h>

#include <chrono>
#include <string>
#include <vector>

#include "device/calls.h"
#include "device/plugin/client.h"
#include "wire/sandbox.h"

namespace hone::device {
namespace {

using wire::Received;

capnp::Data::Reader DataOf(std::string_view bytes) {
  return {reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()};
}

std::string_view TextOf(capnp::Data::Reader data) {
  return {reinterpret_cast<const char*>(data.begin()), data.size()};
}

std::string_view TextOf(capnp::Text::Reader text) { return {text.begin(), text.size()}; }

template <class List>
void Put(const Attributes& attributes, List list) {
  for (uint32_t i = 0; i < attributes.size(); ++i) {
    list[i].setName(attributes[i].first);
    list[i].setValue(attributes[i].second);
  }
}

void Put(const PluginInfo& info, PluginFacts::Builder out) {
  out.setApiMajor(info.api_major);
  out.setApiMinor(info.api_minor);
  out.setPlatform(info.platform);
  out.setPlatformVersion(info.platform_version);
  Put(info.attributes, out.initAttributes(static_cast<uint32_t>(info.attributes.size())));
  auto devices = out.initDevices(static_cast<uint32_t>(info.devices.size()));
  for (uint32_t i = 0; i < info.devices.size(); ++i) {
    const DeviceDetails& device = info.devices[i];
    devices[i].setId(device.id);
    devices[i].setKind(device.kind);
    devices[i].setText(device.text);
    devices[i].setMemoryBytes(device.memory_bytes);
    Put(device.attributes,
        devices[i].initAttributes(static_cast<uint32_t>(device.attributes.size())));
  }
}

class Server {
 public:
  Server(int socket, const wire::HelperOptions& options) : socket_(socket), options_(options) {}

  void Run() {
    Received received;
    while (wire::Receive(
        socket_, [this] { return wire::Readable(socket_, -1); }, received)) {
      if (!Answer(received)) return;
    }
  }

 private:
  bool Answer(const Received& received) {
    return Try<OpenCall>(received) || Try<CompileCall>(received) || Try<DropCall>(received) ||
           Try<PlaceCall>(received) || Try<RemoveCall>(received) || Try<RunCall>(received) ||
           Try<TimeCall>(received);
  }

  template <class Call>
  bool Try(const Received& received) {
    return wire::Answer<Call>(socket_, received, [this](const auto& params, auto& results) {
      return Do(params, results);
    });
  }

  Status Do(Device::OpenParams::Reader params, Device::OpenResults::Builder results) {
    DeviceName name;
    name.plugin = TextOf(params.getPlugin());
    name.device = params.getDevice();
    for (const auto option : params.getOptions()) {
      name.options.emplace_back(TextOf(option.getName()), TextOf(option.getValue()));
    }
    if (options_.sandbox) wire::EnterSandbox({{}, {name.plugin}, options_.data_bytes});
    const Status opened = client_.Open(name);
    if (opened) Put(client_.info(), results.initFacts());
    return opened;
  }

  Status Do(Device::CompileParams::Reader params, Device::CompileResults::Builder results) {
    const auto start = std::chrono::steady_clock::now();
    const Status compiled = client_.Compile(params.getExecutable(), TextOf(params.getFormat()),
                                            TextOf(params.getCode()), TextOf(params.getOptions()));
    results.setSeconds(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    return compiled;
  }

  Status Do(Device::DropParams::Reader params, Device::DropResults::Builder) {
    return client_.Drop(params.getExecutable());
  }

  Status Do(Device::PlaceParams::Reader params, Device::PlaceResults::Builder) {
    std::vector<ArrayView> arrays;
    for (const auto array : params.getArrays()) {
      arrays.push_back(
          {TextOf(array.getType()), NumbersOf(array.getDimensions()), TextOf(array.getBytes())});
    }
    return client_.Place(params.getInputs(), arrays);
  }

  Status Do(Device::RemoveParams::Reader params, Device::RemoveResults::Builder) {
    return client_.Remove(params.getInputs());
  }

  Status Do(Device::RunParams::Reader params, Device::RunResults::Builder results) {
    const auto outputs = client_.Run(params.getExecutable(), params.getInputs());
    if (!outputs) return tl::unexpected(outputs.error());
    auto list = results.initOutputs(static_cast<uint32_t>(outputs->size()));
    for (uint32_t i = 0; i < outputs->size(); ++i) {
      const DeviceArray& array = (*outputs)[i];
      list[i].setType(array.type);
      auto dimensions = list[i].initDimensions(static_cast<uint32_t>(array.dimensions.size()));
      for (uint32_t d = 0; d < array.dimensions.size(); ++d) dimensions.set(d, array.dimensions[d]);
      list[i].setBytes(DataOf(array.bytes));
    }
    return {};
  }

  Status Do(Device::TimeParams::Reader params, Device::TimeResults::Builder results) {
    auto list = results.initSeconds(2 * params.getPairs());
    for (uint32_t pair = 0; pair < params.getPairs(); ++pair) {
      const bool a_first = (params.getFirstPair() + pair) % 2 == 0;
      for (const bool first : {true, false}) {
        const bool is_a = first == a_first;
        const StatusOr<double> seconds = client_.Time(is_a ? params.getA() : params.getB(),
                                                      params.getInputs(), params.getRepeats());
        if (!seconds) return tl::unexpected(seconds.error());
        list.set(2 * pair + (is_a ? 0 : 1), *seconds);
      }
    }
    return {};
  }

  const int socket_;
  const wire::HelperOptions options_;
  Client client_;
};

}  // namespace

void Serve(int socket, const wire::HelperOptions& options) { Server(socket, options).Run(); }

}  // namespace hone::device
