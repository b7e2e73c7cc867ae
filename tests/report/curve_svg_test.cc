#include "report/curve_svg.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::report {
namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN();
const double kInfinity = std::numeric_limits<double>::infinity();

// "" or what is wrong: tags nest, attributes are quoted and once each, no stray < & >, no NaN.
std::string Malformed(const std::string& svg) {
  static const std::regex tag(R"(^<(/?)([a-z]+)((?: [A-Za-z0-9:-]+="[^"<]*")*)(/?)>)");
  static const std::regex attribute(R"( ([A-Za-z0-9:-]+)=")");
  static const std::regex stray(R"(&(?!(amp|lt|gt|quot|apos|#[0-9]+);))");
  if (std::regex_search(svg, stray)) return "a stray &";
  if (std::regex_search(svg, std::regex("[^a-z](nan|inf)[^a-z]"))) return "a number that is none";
  std::vector<std::string> open;
  std::string_view rest = svg;
  bool any = false;
  while (!rest.empty()) {
    const size_t next = rest.find('<');
    const std::string_view text = rest.substr(0, next);
    if (text.find('>') != std::string_view::npos) return "a stray >";
    if (open.empty() && text.find_first_not_of('\n') != std::string_view::npos) {
      return "text outside the root";
    }
    if (next == std::string_view::npos) break;
    rest.remove_prefix(next);
    const std::string from(rest.substr(0, rest.find('>') + 1));
    std::smatch match;
    if (!std::regex_search(from, match, tag)) return "no tag: " + from;
    if (open.empty() && any) return "a second root";
    any = true;
    std::set<std::string> names;
    const std::string attributes = match[3];
    for (std::sregex_iterator i(attributes.begin(), attributes.end(), attribute), end; i != end;
         ++i) {
      if (!names.insert((*i)[1]).second) return "an attribute twice: " + from;
    }
    if (match[1].length() != 0) {
      if (open.empty() || open.back() != match[2]) return "closes another: " + from;
      open.pop_back();
    } else if (match[4].length() == 0) {
      open.push_back(match[2]);
    }
    rest.remove_prefix(match.length());
  }
  if (!any) return "no root";
  return open.empty() ? "" : "left open: " + open.back();
}

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// The points of each polyline.
std::vector<std::vector<std::pair<double, double>>> Polylines(const std::string& svg) {
  static const std::regex line(R"re(<polyline [^>]*points="([^"]*)")re");
  static const std::regex point(R"((-?[0-9.]+),(-?[0-9.]+))");
  std::vector<std::vector<std::pair<double, double>>> lines;
  for (std::sregex_iterator i(svg.begin(), svg.end(), line), end; i != end; ++i) {
    const std::string points = (*i)[1];
    lines.emplace_back();
    for (std::sregex_iterator j(points.begin(), points.end(), point); j != end; ++j) {
      lines.back().emplace_back(std::stod((*j)[1]), std::stod((*j)[2]));
    }
  }
  return lines;
}

std::vector<std::string> Texts(const std::string& svg) {
  static const std::regex text("<text [^>]*>([^<]*)</text>");
  std::vector<std::string> texts;
  for (std::sregex_iterator i(svg.begin(), svg.end(), text), end; i != end; ++i) {
    texts.push_back((*i)[1]);
  }
  return texts;
}

bool Has(const std::vector<std::string>& texts, const std::string& text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

CurvePlot Example() {
  CurvePlot plot{"PPO", "environment steps", "mean return", {}};
  plot.series.push_back({"train", {0, 10000, 20000, 30000}, {0, 0.5, 0.75, 0.8}, {}, {}});
  plot.series.push_back(
      {"validation", {0, 15000, 30000}, {0, 0.4, 0.6}, {-0.1, 0.3, 0.5}, {0.1, 0.5, 0.7}});
  return plot;
}

TEST(CurveSvg, TheCheckFindsWhatIsWrong) {
  EXPECT_EQ(Malformed("<svg a=\"1\"><b/>x &amp; y</svg>\n"), "");
  for (const char* wrong :
       {"", "<svg>", "<svg><b></svg>", "<svg a=1/>", "<svg>a & b</svg>", "<svg>></svg>", "<a/><b/>",
        "<svg a=\"1\" a=\"2\"/>", "<svg a=\"nan \"/>", "<svg>< b</svg>", "x<svg/>"}) {
    EXPECT_NE(Malformed(wrong), "") << wrong;
  }
}

TEST(CurveSvg, DrawsEverySeriesWithItsBand) {
  const std::string svg = CurveSvg(Example());
  EXPECT_EQ(Malformed(svg), "") << svg;
  const auto lines = Polylines(svg);
  ASSERT_EQ(lines.size(), 2u);
  ASSERT_EQ(lines[0].size(), 4u);
  ASSERT_EQ(lines[1].size(), 3u);
  EXPECT_EQ(Count(svg, "<polygon "), 1u);
  // The same numbers are at the same places; to the right is more x, above is more y.
  EXPECT_EQ(lines[0][0], lines[1][0]);
  EXPECT_EQ(lines[0][3].first, lines[1][2].first);
  EXPECT_NEAR(lines[0][1].first - lines[0][0].first, lines[0][2].first - lines[0][1].first, 0.02);
  EXPECT_LT(lines[0][0].first, lines[0][1].first);
  EXPECT_GT(lines[0][0].second, lines[0][1].second);
  EXPECT_NEAR((lines[0][0].second - lines[0][1].second) / 0.5,
              (lines[0][1].second - lines[0][2].second) / 0.25, 0.1);
  for (const auto& line : lines) {
    for (const auto& [x, y] : line) {
      EXPECT_TRUE(x >= 0 && x <= 720 && y >= 0 && y <= 440) << x << "," << y;
    }
  }
  const auto texts = Texts(svg);
  for (const char* text : {"PPO", "environment steps", "mean return", "train", "validation", "0",
                           "10k", "20k", "0.2", "0.4"}) {
    EXPECT_TRUE(Has(texts, text)) << text;
  }
}

TEST(CurveSvg, SameInputSameBytes) {
  EXPECT_EQ(CurveSvg(Example()), CurveSvg(Example()));
  CurvePlot other = Example();
  other.series[0].y[1] = 0.6;
  EXPECT_NE(CurveSvg(Example()), CurveSvg(other));
}

TEST(CurveSvg, EscapesNames) {
  CurvePlot plot = Example();
  plot.title = "a < b && \"c\" > d";
  plot.x_label = "\x01\xff\xc0\xaf \xed\xa0\x80|";
  plot.series[0].name = "</svg><script>";
  plot.series[1].name = "Größe → \xf0\x9f\x99\x82";
  const std::string svg = CurveSvg(plot);
  EXPECT_EQ(Malformed(svg), "") << svg;
  const auto texts = Texts(svg);
  EXPECT_TRUE(Has(texts, "a &lt; b &amp;&amp; &quot;c&quot; &gt; d"));
  EXPECT_TRUE(Has(texts, "&lt;/svg&gt;&lt;script&gt;"));
  EXPECT_TRUE(Has(texts, "Größe → \xf0\x9f\x99\x82"));
  EXPECT_TRUE(Has(texts, "\uFFFD\uFFFD\uFFFD\uFFFD \uFFFD\uFFFD\uFFFD|"));
}

TEST(CurveSvg, EmptyAndOnePoint) {
  for (const std::vector<CurveSeries>& series :
       {std::vector<CurveSeries>{}, {{"none", {}, {}, {}, {}}}, {{"gap", {1}, {kNan}, {}, {}}}}) {
    const std::string svg = CurveSvg({"t", "x", "y", series});
    EXPECT_EQ(Malformed(svg), "") << svg;
    EXPECT_EQ(Count(svg, "<polyline "), 0u);
    EXPECT_EQ(Count(svg, "<circle "), 0u);
  }
  for (const double y : {0.0, -7.0, 1e-300, 1e300}) {
    for (const bool log_x : {false, true}) {
      const std::string svg = CurveSvg({"t", "x", "y", {{"one", {5}, {y}, {}, {}}}, log_x});
      EXPECT_EQ(Malformed(svg), "") << svg;
      EXPECT_EQ(Count(svg, "<circle "), 1u) << y;
    }
  }
}

TEST(CurveSvg, GapsWhereThereIsNoNumber) {
  CurvePlot plot{"t", "x", "y", {}};
  plot.series.push_back({"s",
                         {1, 2, 3, 4, 5, 6, 7, 8},
                         {1, 2, kNan, 4, kInfinity, 6, 7, 8},
                         {0, 1, 2, kNan, 4, 5, 6, 7},
                         {2, 3, 4, 5, 6, 7, 8, 9}});
  const std::string svg = CurveSvg(plot);
  EXPECT_EQ(Malformed(svg), "") << svg;
  const auto lines = Polylines(svg);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].size(), 2u);
  EXPECT_EQ(lines[1].size(), 3u);
  EXPECT_EQ(Count(svg, "<circle "), 1u);
  EXPECT_EQ(Count(svg, "<polygon "), 2u);
}

TEST(CurveSvg, LogarithmicX) {
  CurvePlot plot{"t", "x", "y", {{"s", {0, 1, 10, 100, 1000}, {9, 1, 2, 3, 4}, {}, {}}}, true};
  const std::string svg = CurveSvg(plot);
  EXPECT_EQ(Malformed(svg), "") << svg;
  const auto lines = Polylines(svg);
  ASSERT_EQ(lines.size(), 1u);
  ASSERT_EQ(lines[0].size(), 4u);  // without that of 0
  const double step = lines[0][1].first - lines[0][0].first;
  EXPECT_GT(step, 100);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(lines[0][i + 1].first - lines[0][i].first, step, 0.02);
  for (const char* text : {"1", "10", "100", "1k"}) EXPECT_TRUE(Has(Texts(svg), text)) << text;
}

// Between 2 and 20 labels an axis, none twice, whatever the numbers.
TEST(CurveSvg, TicksFitAnyRange) {
  for (const bool log_x : {false, true}) {
    for (const double scale : {1e-12, 1e-3, 0.7, 1.0, 3.0, 12345.0, 1e9, 1e15}) {
      for (const double spread : {1.001, 1.3, 2.0, 1e4, 1e30}) {
        const CurvePlot plot{"t",
                             "x",
                             "y",
                             {{"s", {scale, scale * spread}, {-scale, scale * spread}, {}, {}}},
                             log_x};
        const std::string svg = CurveSvg(plot);
        ASSERT_EQ(Malformed(svg), "") << svg;
        const size_t ticks = Count(svg, "class=\"grid\"");
        EXPECT_GE(ticks, spread < 1.1 ? 2u : 4u) << scale << " " << spread << log_x;
        EXPECT_LE(ticks, 40u) << scale << " " << spread << log_x;
      }
    }
  }
}

double Luminance(const std::string& colour) {
  const auto channel = [&](int at) {
    const double c = std::stoi(colour.substr(at, 2), nullptr, 16) / 255.0;
    return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}

// WCAG 2.1, 1.4.11: graphics need a contrast of 3 with what is beside them.
TEST(CurveSvg, ColoursHoldOnLightAndDark) {
  CurvePlot plot{"t", "x", "y", {}};
  for (int i = 0; i < 14; ++i) {
    plot.series.push_back({"series " + std::to_string(i), {0, 1}, {0.0, 1.0 * i}, {}, {}});
  }
  const std::string svg = CurveSvg(plot);
  EXPECT_EQ(Malformed(svg), "");
  static const std::regex stroke(
      R"re(<polyline class="curve" (stroke="(#[0-9a-f]{6})"[^>]*) points)re");
  std::set<std::string> looks;
  for (std::sregex_iterator i(svg.begin(), svg.end(), stroke), end; i != end; ++i) {
    looks.insert((*i)[1]);
    const double luminance = Luminance((*i)[2]);
    EXPECT_GE(1.05 / (luminance + 0.05), 3) << (*i)[2];
    EXPECT_GE((luminance + 0.05) / (Luminance("#111111") + 0.05), 3) << (*i)[2];
  }
  EXPECT_EQ(looks.size(), 14u);
}

// HONE_SVG_OUT=FILE writes the example, to be looked at.
TEST(CurveSvg, DISABLED_Example) {
  if (const char* path = std::getenv("HONE_SVG_OUT")) std::ofstream(path) << CurveSvg(Example());
}

}  // namespace
}  // namespace hone::report
