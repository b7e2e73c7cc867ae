#include "jobs/quantities.h"

#include <charconv>
#include <cmath>
#include <string>
#include <utility>

namespace hone::jobs {
namespace {

constexpr double kLongest = 366.0 * 24 * 3600;

struct Unit {
  std::string_view name;
  double factor;
};

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// A decimal number and what follows it; false where there is no number.
bool SplitNumber(std::string_view text, double& number, std::string_view& unit) {
  text = Trim(text);
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::general);
  if (error != std::errc() || !std::isfinite(number)) return false;
  unit = Trim(text.substr(static_cast<size_t>(end - text.data())));
  return true;
}

// The factor of the unit, or 0.
template <size_t n>
double Factor(const Unit (&units)[n], std::string_view name) {
  for (const Unit& unit : units) {
    if (unit.name == name) return unit.factor;
  }
  return 0;
}

tl::unexpected<Error> Bad(std::string_view text, const char* what) {
  return MakeError(ErrorCode::kInvalidInput, "'" + std::string(text) + "' is not " + what);
}

}  // namespace

StatusOr<double> ParseDuration(std::string_view text) {
  static constexpr Unit kUnits[] = {{"", 1},   {"s", 1},    {"sec", 1},  {"ms", 1e-3},
                                    {"m", 60}, {"min", 60}, {"h", 3600}, {"d", 86400}};
  const char* const kWhat = "a duration such as 30s, 2m or 1.5h";
  double number = 0;
  std::string_view unit;
  if (!SplitNumber(text, number, unit)) return Bad(text, kWhat);
  const double seconds = number * Factor(kUnits, unit);
  if (!(seconds > 0) || seconds > kLongest) return Bad(text, kWhat);
  return seconds;
}

StatusOr<size_t> ParseSize(std::string_view text) {
  static constexpr double kKi = 1024;
  static constexpr Unit kUnits[] = {{"", 1},
                                    {"B", 1},
                                    {"k", kKi},
                                    {"K", kKi},
                                    {"KiB", kKi},
                                    {"kB", 1e3},
                                    {"KB", 1e3},
                                    {"m", kKi * kKi},
                                    {"M", kKi * kKi},
                                    {"MiB", kKi * kKi},
                                    {"MB", 1e6},
                                    {"g", kKi * kKi * kKi},
                                    {"G", kKi * kKi * kKi},
                                    {"GiB", kKi * kKi * kKi},
                                    {"GB", 1e9},
                                    {"T", kKi * kKi * kKi * kKi},
                                    {"TiB", kKi * kKi * kKi * kKi},
                                    {"TB", 1e12}};
  const char* const kWhat = "a size such as 512MiB or 1GiB";
  double number = 0;
  std::string_view unit;
  if (!SplitNumber(text, number, unit)) return Bad(text, kWhat);
  const double bytes = number * Factor(kUnits, unit);
  if (!(bytes >= 1) || bytes > 1e18) return Bad(text, kWhat);
  return static_cast<size_t>(bytes);
}

StatusOr<Budget> ParseBudget(std::string_view text) {
  const char* const kWhat = "a budget such as 30s, 2m, 2000steps or 30s,2000steps";
  Budget budget;
  for (std::string_view rest = text;;) {
    const size_t comma = rest.find(',');
    const std::string_view part = Trim(rest.substr(0, comma));
    double number = 0;
    std::string_view unit;
    if (!SplitNumber(part, number, unit)) return Bad(text, kWhat);
    if (unit == "steps" || unit == "step") {
      if (number < 1 || number > 1e15 || number != std::floor(number)) return Bad(text, kWhat);
      budget.steps = static_cast<int64_t>(number);
    } else {
      const StatusOr<double> seconds = ParseDuration(part);
      if (!seconds) return Bad(text, kWhat);
      budget.seconds = *seconds;
    }
    if (comma == rest.npos) return budget;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace hone::jobs
