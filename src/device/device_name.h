// A device by name: "pjrt:/path/to/plugin.so,option=value,…".
#ifndef HONE_DEVICE_DEVICE_NAME_H_
#define HONE_DEVICE_DEVICE_NAME_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"

namespace hone::device {

struct DeviceName {
  std::string plugin;   // a path
  uint32_t device = 0;  // the option `device`: which of those that the client can address
  // The plugin's own, for PJRT_Client_Create, as they were given.
  std::vector<std::pair<std::string, std::string>> options;
};

StatusOr<DeviceName> ParseDeviceName(std::string_view text);

// A value of PJRT_NamedValue as people write it: "true" and "false", whole numbers, numbers with a
// point, lists of whole numbers ("[0;1]"), and text; text in single quotes is text whatever it
// looks like.
struct OptionValue {
  enum class Kind { kText, kInteger, kIntegers, kReal, kBoolean };
  Kind kind = Kind::kText;
  std::string text;
  int64_t integer = 0;
  std::vector<int64_t> integers;
  float real = 0;
  bool boolean = false;
};
OptionValue ParseOptionValue(std::string_view text);

}  // namespace hone::device

#endif  // HONE_DEVICE_DEVICE_NAME_H_
