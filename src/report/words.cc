#include "report/words.h"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

namespace hone::report {
namespace {

using Json = nlohmann::ordered_json;

// A value with the largest unit in which it is at least one: "1.23 Mi".
std::string Scaled(double number, double base, const char* const (&units)[6]) {
  size_t unit = 0;
  while (std::abs(number) >= base && unit + 1 < std::size(units)) {
    number /= base;
    ++unit;
  }
  const int digits = unit == 0 || std::abs(number) >= 100 ? 0 : std::abs(number) >= 10 ? 1 : 2;
  return fmt::format("{:.{}f} {}", number, digits, units[unit]);
}

}  // namespace

std::string Grouped(int64_t number) {
  if (number == -1) return "-";
  const std::string digits = std::to_string(number);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    const bool after_digit = i > 0 && digits[i - 1] != '-';
    if (after_digit && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string HumanBytes(double bytes) {
  if (bytes == -1) return "-";
  return Scaled(bytes, 1024, {"B", "KiB", "MiB", "GiB", "TiB", "PiB"});
}

std::string HumanCount(double number) {
  if (number == -1) return "-";
  std::string text = Scaled(number, 1000, {"", "K", "M", "G", "T", "P"});
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

std::string HumanSeconds(double seconds) {
  const char* const units[] = {"s", "ms", "µs", "ns"};
  size_t unit = 0;
  while (unit < 3 && std::abs(seconds) < 1) {
    seconds *= 1000;
    ++unit;
  }
  return fmt::format("{:#.3g} {}", seconds, units[unit]);
}

std::string Percent(double share) {
  return fmt::format("{:.{}f} %", 100 * share, std::abs(share) < 0.1 ? 1 : 0);
}

std::string Printable(const std::string& message) {
  // The dump is where broken UTF-8 is replaced; its quotes and escapes are undone by parsing.
  std::string text = message;
  const Json whole = Json::parse(Json(message).dump(-1, ' ', false, Json::error_handler_t::replace),
                                 nullptr, false);
  if (whole.is_string()) text = whole.get<std::string>();
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      result += "\n  ";
    } else if (c == '\t') {
      result += ' ';
    } else if (byte < 32 || byte == 127) {
      result += "\uFFFD";
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace hone::report
