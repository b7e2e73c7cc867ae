// A plugin's client at work on one device: compile, place inputs, run, time.
#ifndef HONE_DEVICE_PLUGIN_CLIENT_H_
#define HONE_DEVICE_PLUGIN_CLIENT_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"
#include "device/device_name.h"
#include "device/facts.h"
#include "device/plugin/plugin.h"

namespace hone::device {

// Everything made here is the process's until it ends: the plugin's own ending is not waited for.
class Client {
 public:
  // Loads the plugin too.
  Status Open(const DeviceName& name);
  const PluginInfo& info() const { return info_; }
  bool open() const { return client_ != nullptr; }

  Status Compile(uint32_t executable, std::string_view format, std::string_view code,
                 std::string_view options);
  Status Drop(uint32_t executable);
  Status Place(uint32_t inputs, const std::vector<ArrayView>& arrays);
  Status Remove(uint32_t inputs);
  StatusOr<std::vector<DeviceArray>> Run(uint32_t executable, uint32_t inputs);
  // Seconds of a run, mean over so many.
  StatusOr<double> Time(uint32_t executable, uint32_t inputs, uint32_t repeats);

 private:
  struct Executable {
    PJRT_LoadedExecutable* loaded = nullptr;
    size_t outputs = 0;
  };
  using Buffers = std::vector<PJRT_Buffer*>;

  Status Create(const DeviceName& name);
  Status Describe();
  StatusOr<std::vector<PJRT_Device*>> Devices();
  StatusOr<DeviceDetails> DescribeDevice(PJRT_Device* device);
  StatusOr<size_t> OutputsOf(PJRT_LoadedExecutable* loaded);
  StatusOr<std::pair<const Executable*, const Buffers*>> Find(uint32_t executable,
                                                              uint32_t inputs) const;
  // Starts a run and waits until the device is done; the outputs are the caller's.
  StatusOr<Buffers> Execute(const Executable& executable, const Buffers& inputs);
  StatusOr<DeviceArray> Fetch(PJRT_Buffer* buffer);
  void Free(const Buffers& buffers);
  Status Check(PJRT_Error* error, const char* doing) { return ToStatus(api_, error, doing); }

  const PJRT_Api* api_ = nullptr;
  PJRT_Client* client_ = nullptr;
  PJRT_Device* device_ = nullptr;
  PluginInfo info_;
  std::map<uint32_t, Executable> executables_;
  std::map<uint32_t, Buffers> inputs_;
};

}  // namespace hone::device

#endif  // HONE_DEVICE_PLUGIN_CLIENT_H_
