#include "memory/attributes.h"

#include <charconv>

namespace hone::memory {
namespace {

tl::unexpected<Error> BadAttribute(const std::string& what, std::string_view text) {
  return MakeError(ErrorCode::kUnsupported,
                   "cannot read the " + what + " '" + std::string(text) + "'");
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0;;) {
    const size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == text.npos) return parts;
    begin = end + 1;
  }
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '{')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '}')) text.remove_suffix(1);
  return text;
}

bool ReadInteger(std::string_view text, int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

// Numbers between separators.
bool ReadIntegers(std::string_view text, char separator, std::vector<int64_t>& values) {
  for (std::string_view part : Split(text, separator)) {
    if (!ReadInteger(Trim(part), values.emplace_back())) return false;
  }
  return true;
}

// XLA writes dimension numbers as one attribute: "lhs_contracting_dims" has the value
// "{1}, rhs_contracting_dims={0}".
std::vector<std::pair<std::string, std::string>> SplitJoined(const std::string& name,
                                                             const std::string& value) {
  std::vector<std::pair<std::string, std::string>> parts;
  std::string text = name + "=" + value;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '"') return {{name, value}};
    if (i < text.size() && text[i] == '{') ++depth;
    if (i < text.size() && text[i] == '}') --depth;
    if (i != text.size() && (depth != 0 || text[i] != ',')) continue;
    std::string_view part = std::string_view(text).substr(begin, i - begin);
    while (part.starts_with(' ')) part.remove_prefix(1);
    const size_t equals = part.find('=');
    if (equals == part.npos) return {{name, value}};
    parts.emplace_back(part.substr(0, equals), part.substr(equals + 1));
    begin = i + 1;
  }
  return parts;
}

}  // namespace

std::string_view AttributeText(const InstructionInfo& instruction, std::string_view name) {
  for (const auto& [key, value] : instruction.attributes) {
    if (key == name) return value;
  }
  return {};
}

std::optional<std::vector<int64_t>> ParseIntegers(std::string_view text) {
  std::vector<int64_t> values;
  if (text.empty()) return std::nullopt;
  if (text.front() != '{') {
    if (!ReadInteger(text, values.emplace_back())) return std::nullopt;
    return values;
  }
  if (Trim(text).empty()) return values;
  if (!ReadIntegers(Trim(text), ',', values)) return std::nullopt;
  return values;
}

StatusOr<std::vector<WindowDimension>> ParseWindow(std::string_view text) {
  std::vector<WindowDimension> window;
  for (std::string_view field : Split(Trim(text), ' ')) {
    if (field.empty()) continue;
    const size_t equals = field.find('=');
    if (equals == field.npos) return BadAttribute("window", text);
    const std::string_view name = field.substr(0, equals);
    const auto parts = Split(field.substr(equals + 1), 'x');
    if (window.empty()) window.resize(parts.size());
    if (window.size() != parts.size()) return BadAttribute("window", text);
    for (size_t d = 0; d < parts.size(); ++d) {
      std::vector<int64_t> numbers;
      if (!ReadIntegers(parts[d], '_', numbers)) return BadAttribute("window", text);
      WindowDimension& dimension = window[d];
      if (name == "pad" && numbers.size() == 2) {
        dimension.pad_low = numbers[0];
        dimension.pad_high = numbers[1];
      } else if (numbers.size() != 1) {
        return BadAttribute("window", text);
      } else if (name == "size") {
        dimension.size = numbers[0];
      } else if (name == "stride") {
        dimension.stride = numbers[0];
      } else if (name == "lhs_dilate") {
        dimension.base_dilation = numbers[0];
      } else if (name == "rhs_dilate") {
        dimension.window_dilation = numbers[0];
      } else if (name == "rhs_reversal") {
        dimension.reversal = numbers[0] != 0;
      } else {
        return BadAttribute("window", text);
      }
    }
  }
  return window;
}

StatusOr<ConvolutionDimensions> ParseDimLabels(std::string_view text) {
  const size_t underscore = text.find('_'), arrow = text.find("->");
  if (underscore == text.npos || arrow == text.npos) return BadAttribute("dim_labels", text);
  ConvolutionDimensions dimensions;
  const auto read = [](std::string_view labels, char first, char second, int64_t& first_at,
                       int64_t& second_at, std::vector<int64_t>& spatial) {
    spatial.resize(labels.size() < 2 ? 0 : labels.size() - 2);
    for (size_t d = 0; d < labels.size(); ++d) {
      const char label = labels[d];
      if (label == first) {
        first_at = static_cast<int64_t>(d);
      } else if (label == second) {
        second_at = static_cast<int64_t>(d);
      } else if (label >= '0' && static_cast<size_t>(label - '0') < spatial.size()) {
        spatial[static_cast<size_t>(label - '0')] = static_cast<int64_t>(d);
      } else {
        return false;
      }
    }
    return true;
  };
  const bool good =
      read(text.substr(0, underscore), 'b', 'f', dimensions.batch, dimensions.feature,
           dimensions.spatial) &&
      read(text.substr(underscore + 1, arrow - underscore - 1), 'i', 'o', dimensions.kernel_input,
           dimensions.kernel_output, dimensions.kernel_spatial) &&
      read(text.substr(arrow + 2), 'b', 'f', dimensions.output_batch, dimensions.output_feature,
           dimensions.output_spatial);
  if (!good) return BadAttribute("dim_labels", text);
  return dimensions;
}

StatusOr<SliceBounds> ParseSlice(std::string_view text) {
  SliceBounds bounds;
  for (size_t begin = text.find('['); begin != text.npos; begin = text.find('[', begin + 1)) {
    const size_t end = text.find(']', begin);
    std::vector<int64_t> numbers;
    if (end == text.npos || !ReadIntegers(text.substr(begin + 1, end - begin - 1), ':', numbers) ||
        numbers.size() < 2) {
      return BadAttribute("slice", text);
    }
    bounds.starts.push_back(numbers[0]);
    bounds.strides.push_back(numbers.size() > 2 ? numbers[2] : 1);
  }
  return bounds;
}

StatusOr<Padding> ParsePadding(std::string_view text) {
  Padding padding;
  for (std::string_view part : Split(text, 'x')) {
    std::vector<int64_t> numbers;
    if (!ReadIntegers(part, '_', numbers) || numbers.size() < 2) {
      return BadAttribute("padding", text);
    }
    padding.low.push_back(numbers[0]);
    padding.high.push_back(numbers[1]);
    padding.interior.push_back(numbers.size() > 2 ? numbers[2] : 0);
  }
  return padding;
}

Status ReadAttributes(const InstructionInfo& instruction, Op& op) {
  std::vector<std::pair<std::string, std::string>> attributes;
  for (const auto& [name, value] : instruction.attributes) {
    for (auto& part : SplitJoined(name, value)) attributes.push_back(std::move(part));
  }
  for (const auto& [name, value] : attributes) {
    if (name == "window") {
      auto window = ParseWindow(value);
      if (!window) return tl::unexpected(window.error());
      op.window = *std::move(window);
    } else if (name == "dim_labels") {
      auto dimensions = ParseDimLabels(value);
      if (!dimensions) return tl::unexpected(dimensions.error());
      op.convolution = *std::move(dimensions);
    } else if (auto integers = ParseIntegers(value)) {
      op.lists[name] = *std::move(integers);
    } else {
      op.texts[name] = value;
    }
  }
  return {};
}

}  // namespace hone::memory
