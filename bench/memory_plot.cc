#include "memory_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hone::memory {
namespace {

constexpr double kWidth = 760, kHeight = 440, kLeft = 70, kRight = 740, kTop = 20, kBottom = 390;
constexpr double kLeastOperators = 250, kMostOperators = 20'000;
constexpr double kLeastSeconds = 0.01, kMostSeconds = 100;
constexpr const char* kColours[] = {"#1f77b4", "#d95f02", "#1b9e77", "#7570b3", "#a6761d"};

double Share(double value, double least, double most) {
  return (std::log(std::clamp(value, least, most)) - std::log(least)) /
         (std::log(most) - std::log(least));
}

double X(double operators) {
  return kLeft + (kRight - kLeft) * Share(operators, kLeastOperators, kMostOperators);
}

double Y(double seconds) {
  return kBottom - (kBottom - kTop) * Share(seconds, kLeastSeconds, kMostSeconds);
}

std::string Line(const std::vector<std::pair<double, double>>& points, const char* style) {
  std::string at;
  for (const auto& [operators, seconds] : points) {
    at += fmt::format("{:.1f},{:.1f} ", X(operators), Y(seconds));
  }
  return fmt::format("<polyline fill=\"none\" {} points=\"{}\"/>\n", style, at);
}

std::string Text(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     text);
}

}  // namespace

double Exponent(const std::vector<std::pair<double, double>>& points) {
  double x = 0, y = 0, xx = 0, xy = 0;
  const auto n = static_cast<double>(points.size());
  for (const auto& [operators, seconds] : points) {
    const double a = std::log(operators), b = std::log(seconds);
    x += a;
    y += b;
    xx += a * a;
    xy += a * b;
  }
  return (n * xy - x * y) / (n * xx - x * x);
}

std::string PlotGrowth(const std::vector<Growth>& programs) {
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" font-size=\"13\" fill=\"#222222\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
      kWidth, kHeight);
  for (double seconds = kLeastSeconds; seconds < 2 * kMostSeconds; seconds *= 10) {
    svg += Line({{kLeastOperators, seconds}, {kMostOperators, seconds}}, "stroke=\"#dddddd\"");
    svg += Text(kLeft - 8, Y(seconds) + 4, "end", fmt::format("{:g} s", seconds));
  }
  for (double operators : {300.0, 1000.0, 3000.0, 10000.0}) {
    svg += Line({{operators, kLeastSeconds}, {operators, kMostSeconds}}, "stroke=\"#dddddd\"");
    svg += Text(X(operators), kBottom + 18, "middle", fmt::format("{:.0f}", operators));
  }
  svg += Text((kLeft + kRight) / 2, kHeight - 10, "middle",
              "operators of the program (repeated one, two, four, … times)");
  const auto asked = [](double operators) {
    return 60 * operators * std::log(operators) / (1e4 * std::log(1e4));
  };
  std::vector<std::pair<double, double>> guide;
  for (double operators = 300; operators < 10'001; operators *= std::pow(1e4 / 300, 1.0 / 16)) {
    guide.emplace_back(operators, asked(operators));
  }
  svg += Line(guide, "stroke=\"#888888\" stroke-dasharray=\"6 4\"");
  svg += Text(X(1000), Y(asked(1000)) - 10, "end", "n log n, 60 s at 10 000");
  double row = kBottom - 14 - 18 * static_cast<double>(programs.size() - 1);
  for (size_t k = 0; k < programs.size(); ++k, row += 18) {
    const char* colour = kColours[k % std::size(kColours)];
    const auto& points = programs[k].points;
    svg += Line(points, fmt::format("stroke=\"{}\" stroke-width=\"2\"", colour).c_str());
    for (const auto& [operators, seconds] : points) {
      svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\"/>\n",
                         X(operators), Y(seconds), colour);
    }
    svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"18\" height=\"4\" fill=\"{}\"/>\n",
                       kRight - 300, row - 6, colour);
    std::string label = programs[k].name;
    if (points.size() > 1) label += fmt::format(": n^{:.2f}", Exponent(points));
    svg += Text(kRight - 276, row, "start", label);
  }
  return svg + "</svg>\n";
}

}  // namespace hone::memory
