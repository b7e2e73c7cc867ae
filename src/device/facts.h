// A plugin and its devices as data, and arrays on their way to and from a device.
#ifndef HONE_DEVICE_FACTS_H_
#define HONE_DEVICE_FACTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::device {

using Attributes = std::vector<std::pair<std::string, std::string>>;

struct DeviceDetails {
  int id = 0;
  std::string kind;  // "NVIDIA H200", "cpu"
  std::string text;  // as the plugin shows it
  Attributes attributes;
  int64_t memory_bytes = 0;  // that there are; 0 where the plugin does not tell
};

struct PluginInfo {
  int api_major = 0;
  int api_minor = 0;
  std::string platform;  // "cpu", "cuda", "rocm", "tpu"
  std::string platform_version;
  Attributes attributes;
  std::vector<DeviceDetails> devices;  // that can be addressed
};

// Row-major, in the machine's own byte order.
struct DeviceArray {
  std::string type;  // XLA's name of the element type
  std::vector<int64_t> dimensions;
  std::string bytes;
};
struct ArrayView {
  std::string_view type;
  std::vector<int64_t> dimensions;
  std::string_view bytes;
};

}  // namespace hone::device

#endif  // HONE_DEVICE_FACTS_H_
