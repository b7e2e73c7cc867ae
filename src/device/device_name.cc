#include "device/device_name.h"

#include <charconv>
#include <optional>

namespace hone::device {
namespace {

constexpr std::string_view kScheme = "pjrt:";

tl::unexpected<Error> Bad(std::string_view text, const std::string& why) {
  return MakeError(ErrorCode::kInvalidInput,
                   "'" + std::string(text) + "' names no device: " + why +
                       "; give pjrt:/path/to/plugin.so, with ,option=value behind it for each "
                       "option of the plugin's, and ,device=1 for another than its first device");
}

template <class T>
std::optional<T> Number(std::string_view text) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

// "[0;1]"
std::optional<std::vector<int64_t>> List(std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  std::vector<int64_t> numbers;
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    const size_t end = text.find(';');
    const auto number = Number<int64_t>(text.substr(0, end));
    if (!number) return std::nullopt;
    numbers.push_back(*number);
    text = end == text.npos ? "" : text.substr(end + 1);
  }
  return numbers;
}

}  // namespace

StatusOr<DeviceName> ParseDeviceName(std::string_view text) {
  if (text.substr(0, kScheme.size()) != kScheme) {
    return Bad(text, "it does not begin with pjrt:");
  }
  DeviceName name;
  std::string_view rest = text.substr(kScheme.size());
  size_t comma = rest.find(',');
  name.plugin = rest.substr(0, comma);
  if (name.plugin.empty()) return Bad(text, "the plugin's path is missing");
  while (comma != rest.npos) {
    rest = rest.substr(comma + 1);
    comma = rest.find(',');
    const std::string_view option = rest.substr(0, comma);
    const size_t equals = option.find('=');
    if (equals == option.npos || equals == 0) {
      return Bad(text, "'" + std::string(option) + "' is no option=value");
    }
    const std::string_view value = option.substr(equals + 1);
    if (option.substr(0, equals) == "device") {
      const auto number = Number<uint32_t>(value);
      if (!number) return Bad(text, "device is a number, counted from 0");
      name.device = *number;
    } else {
      name.options.emplace_back(option.substr(0, equals), value);
    }
  }
  return name;
}

OptionValue ParseOptionValue(std::string_view text) {
  OptionValue value;
  value.text = text;
  if (text.size() >= 2 && text.front() == '\'' && text.back() == '\'') {
    value.text = text.substr(1, text.size() - 2);
  } else if (text == "true" || text == "false") {
    value.kind = OptionValue::Kind::kBoolean;
    value.boolean = text == "true";
  } else if (const auto integer = Number<int64_t>(text)) {
    value.kind = OptionValue::Kind::kInteger;
    value.integer = *integer;
  } else if (const auto real = Number<float>(text)) {
    value.kind = OptionValue::Kind::kReal;
    value.real = *real;
  } else if (auto integers = List(text)) {
    value.kind = OptionValue::Kind::kIntegers;
    value.integers = *std::move(integers);
  }
  return value;
}

}  // namespace hone::device
