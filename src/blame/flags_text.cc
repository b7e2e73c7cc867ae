#include "blame/flags_text.h"

#include <fmt/format.h>

#include <map>
#include <sstream>

#include "core/compile_plan.h"

namespace hone::blame {
namespace {

constexpr std::string_view kExtra = "xla_backend_extra_options";
constexpr std::string_view kDisable = "xla_disable_hlo_passes";

std::vector<std::string> Split(const std::string& text) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

}  // namespace

StatusOr<Flags> FlagsFromText(std::string_view text) {
  std::map<std::string, std::string> flags;
  std::stringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    const std::string given = word;
    word.erase(0, word.find_first_not_of('-'));
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "true" : word.substr(equals + 1);
    if (name.rfind("xla_", 0) != 0) {
      return MakeError(ErrorCode::kInvalidInput,
                       fmt::format("'{}' is no flag of XLA's; write --xla_NAME=VALUE, with spaces "
                                   "between flags",
                                   given));
    }
    if (name == kDisable) {
      for (const std::string& pass : Split(value)) {
        flags[std::string(kWithoutPass) + pass] = "true";
      }
    } else if (name == kExtra) {
      for (const std::string& entry : Split(value)) {
        const size_t middle = entry.find('=');
        flags[fmt::format("{}.{}", kExtra, entry.substr(0, middle))] =
            middle == std::string::npos ? "" : entry.substr(middle + 1);
      }
    } else {
      flags[name] = value;
    }
  }
  return Flags(flags.begin(), flags.end());
}

std::string FlagsToText(const Flags& flags) {
  std::string text, passes, extra;
  const std::string prefix = fmt::format("{}.", kExtra);
  for (const auto& [name, value] : flags) {
    if (IsWithoutPass(name)) {
      passes += fmt::format("{}{}", passes.empty() ? "" : ",", name.substr(kWithoutPass.size()));
    } else if (name.rfind(prefix, 0) == 0) {
      extra += fmt::format("{}{}{}{}", extra.empty() ? "" : ",", name.substr(prefix.size()),
                           value.empty() ? "" : "=", value);
    } else {
      text += fmt::format("{}--{}={}", text.empty() ? "" : " ", name, value);
    }
  }
  for (const auto& [name, list] : {std::pair{kDisable, passes}, std::pair{kExtra, extra}}) {
    if (!list.empty()) text += fmt::format("{}--{}={}", text.empty() ? "" : " ", name, list);
  }
  return text;
}

}  // namespace hone::blame
