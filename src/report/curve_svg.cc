#include "report/curve_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string_view>

#include "core/result.h"

namespace hone::report {
namespace {

// Okabe and Ito ("Color Universal Design", 2008), without black and yellow; orange and sky blue are
// darkened until they, too, have a contrast of 3 with white and with the dark ground.
constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73",
                                    "#cc79a7", "#b57d00", "#3a96cc"};
constexpr const char* kDashes[] = {"", "7 3", "2 3", "9 3 2 3"};
constexpr const char* kStyle =
    "text{font:12px system-ui,sans-serif;fill:#333}"
    ".title{font-size:15px;font-weight:600}"
    ".ground{fill:#fff}.grid{stroke:#ddd}.axis{stroke:#888;fill:none}"
    ".curve{fill:none;stroke-width:1.8;stroke-linejoin:round;stroke-linecap:round}"
    ".band{stroke:none;fill-opacity:.18}"
    "@media(prefers-color-scheme:dark){"
    "text{fill:#ccc}.ground{fill:#111}.grid{stroke:#333}.axis{stroke:#777}.band{fill-opacity:.3}}";

constexpr double kLeft = 66;
constexpr double kRight = 18;
constexpr double kTop = 38;
constexpr double kBottom = 46;
constexpr double kLegendRow = 18;
constexpr double kCharacter = 6.8;  // a generous mean width at 12px

// The length of the UTF-8 sequence of a character that XML 1.0 allows, at the start of `text`; 0
// where there is none.
size_t AllowedSequence(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return lead >= 0x20 || lead == '\t' || lead == '\n' || lead == '\r' ? 1 : 0;
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  uint32_t code = lead & (0x7f >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (code < kLeast[length] || code > 0x10ffff || surrogate || (code & 0xfffe) == 0xfffe) return 0;
  return length;
}

std::string Escape(std::string_view text) {
  std::string escaped;
  while (!text.empty()) {
    const size_t length = AllowedSequence(text);
    const std::string_view sequence = text.substr(0, std::max<size_t>(length, 1));
    text.remove_prefix(sequence.size());
    if (length == 0) {
      escaped += "\xef\xbf\xbd";
    } else if (sequence == "&") {
      escaped += "&amp;";
    } else if (sequence == "<") {
      escaped += "&lt;";
    } else if (sequence == ">") {
      escaped += "&gt;";
    } else if (sequence == "\"") {
      escaped += "&quot;";
    } else {
      escaped += sequence;
    }
  }
  return escaped;
}

size_t Characters(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void Include(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  // Something to draw, even of no point or of one.
  void Open() {
    if (low > high) *this = {0, 1};
    if (low < high) return;
    const double margin = low == 0 ? 1 : std::abs(low) / 10;
    low -= margin;
    high += margin;
  }
};

struct Tick {
  double at;  // on the axis
  std::string label;
};

// "20k", "1.5M", "0.001", "1e-07".
std::string Label(double value) {
  constexpr struct {
    double unit;
    const char* suffix;
  } kUnits[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (size < 1e13) {
    for (const auto& [unit, suffix] : kUnits) {
      if (size >= unit * (1 - 1e-9)) return fmt::format("{:.6g}{}", value / unit, suffix);
    }
  }
  return fmt::format("{:.6g}", value);
}

// Multiples of 1, 2 or 5 times a power of ten, `most` at the most (Heckbert, "Nice numbers for
// graph labels", Graphics Gems, 1990).
std::vector<Tick> LinearTicks(const Range& range, int most) {
  const double rough = (range.high - range.low) / most;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double nice : {1.0, 2.0, 5.0}) {
    if (nice * power >= rough * (1 - 1e-9)) {
      step = nice * power;
      break;
    }
  }
  std::vector<Tick> ticks;
  const double first = std::ceil(range.low / step - 1e-9);
  for (int i = 0; i <= most + 1; ++i) {
    const double at = (first + i) * step;
    if (at > range.high + step * 1e-9) break;
    ticks.push_back({at, Label(at)});
  }
  return ticks;
}

// `range` and places are of log10; powers of ten, and 2 and 5 times them where these are few.
// Within one power of ten, as on a linear axis.
std::vector<Tick> LogTicks(const Range& range, int most) {
  if (range.high - range.low < 1) {
    std::vector<Tick> ticks =
        LinearTicks({std::pow(10, range.low), std::pow(10, range.high)}, most / 2);
    for (Tick& tick : ticks) tick.at = std::log10(tick.at);
    return ticks;
  }
  const int first = static_cast<int>(std::floor(range.low + 1e-9));
  const int last = static_cast<int>(std::ceil(range.high - 1e-9));
  const int decades = last - first;
  const int stride = std::max(1, (decades + most - 1) / most);
  std::vector<Tick> ticks;
  for (int decade = first; decade <= last; decade += stride) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor > 1 && 3 * decades > 2 * most) break;
      const double at = decade + std::log10(factor);
      if (at < range.low - 1e-9 || at > range.high + 1e-9) continue;
      ticks.push_back({at, Label(factor * std::pow(10, decade))});
    }
  }
  return ticks;
}

// From numbers to pixels.
struct Axis {
  Range range;
  double from, to;  // pixels of range.low and range.high
  bool log = false;

  double Place(double value) const {
    const double at = log ? std::log10(value) : value;
    return AtPlace(at);
  }
  double AtPlace(double at) const {
    return from + (at - range.low) / (range.high - range.low) * (to - from);
  }
};

class Drawing {
 public:
  explicit Drawing(const CurvePlot& plot) : plot_(plot) {
    x_.log = plot.log_x;
    for (const CurveSeries& series : plot.series) {
      HONE_CHECK(series.x.size() == series.y.size());
      HONE_CHECK(series.y_low.size() == series.y_high.size());
      HONE_CHECK(series.y_low.empty() || series.y_low.size() == series.x.size());
      for (size_t i = 0; i < series.x.size(); ++i) {
        if (!Drawn(series, i) && !InBand(series, i)) continue;
        x_.range.Include(plot.log_x ? std::log10(series.x[i]) : series.x[i]);
        y_.range.Include(series.y[i]);
        if (!InBand(series, i)) continue;
        y_.range.Include(series.y_low[i]);
        y_.range.Include(series.y_high[i]);
      }
    }
    x_.range.Open();
    y_.range.Open();
    const double margin = (y_.range.high - y_.range.low) * 0.04;
    y_.range = {y_.range.low - margin, y_.range.high + margin};
    x_.from = kLeft;
    x_.to = std::max(kLeft + 1, plot.width - kRight);
    y_.from = std::max(kTop + 1, plot.height - kBottom);
    y_.to = kTop;
  }

  std::string Draw() {
    const std::string legend = Legend();  // which gives the height
    const double height = plot_.height + legend_height_;
    Add("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
        "viewBox=\"0 0 {0} {1}\" role=\"img\">\n<title>{2}</title>\n<style>{3}</style>\n"
        "<rect class=\"ground\" width=\"{0}\" height=\"{1}\"/>\n",
        plot_.width, height, Escape(plot_.title), kStyle);
    Text((x_.from + x_.to) / 2, 23, "middle", plot_.title, " class=\"title\"");
    Axes();
    for (size_t i = 0; i < plot_.series.size(); ++i) Bands(plot_.series[i], i);
    for (size_t i = 0; i < plot_.series.size(); ++i) Curves(plot_.series[i], i);
    return out_ + legend + "</svg>\n";
  }

 private:
  template <class... Parts>
  void Add(fmt::format_string<Parts...> format, Parts&&... parts) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Parts>(parts)...);
  }

  bool HasPlace(const CurveSeries& series, size_t i) const {
    return std::isfinite(series.x[i]) && (!plot_.log_x || series.x[i] > 0);
  }
  bool Drawn(const CurveSeries& series, size_t i) const {
    return HasPlace(series, i) && std::isfinite(series.y[i]);
  }
  bool InBand(const CurveSeries& series, size_t i) const {
    return !series.y_low.empty() && HasPlace(series, i) && std::isfinite(series.y_low[i]) &&
           std::isfinite(series.y_high[i]);
  }

  void Text(double x, double y, const char* anchor, const std::string& text,
            const std::string& attributes = "") {
    Add("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor,
        attributes, Escape(text));
  }

  void Axes() {
    const int most_x = std::max(2, static_cast<int>((x_.to - x_.from) / 70));
    const int most_y = std::max(2, static_cast<int>((y_.from - y_.to) / 45));
    for (const Tick& tick : x_.log ? LogTicks(x_.range, most_x) : LinearTicks(x_.range, most_x)) {
      const double x = x_.AtPlace(tick.at);
      Add("<line class=\"grid\" x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\"/>\n", x,
          y_.from, y_.to);
      Text(x, y_.from + 17, "middle", tick.label);
    }
    for (const Tick& tick : LinearTicks(y_.range, most_y)) {
      const double y = y_.AtPlace(tick.at);
      Add("<line class=\"grid\" x1=\"{1:.1f}\" y1=\"{0:.1f}\" x2=\"{2:.1f}\" y2=\"{0:.1f}\"/>\n", y,
          x_.from, x_.to);
      Text(x_.from - 7, y + 4, "end", tick.label);
    }
    Add("<path class=\"axis\" d=\"M{0:.1f} {1:.1f}V{2:.1f}H{3:.1f}\"/>\n", x_.from, y_.to, y_.from,
        x_.to);
    Text((x_.from + x_.to) / 2, y_.from + 36, "middle", plot_.x_label);
    const double middle = (y_.from + y_.to) / 2;
    Text(15, middle, "middle", plot_.y_label,
         fmt::format(" transform=\"rotate(-90 15 {:.1f})\"", middle));
  }

  static const char* Colour(size_t number) { return kColours[number % std::size(kColours)]; }

  static std::string Stroke(size_t number) {
    const char* dash = kDashes[number / std::size(kColours) % std::size(kDashes)];
    return fmt::format("stroke=\"{}\"", Colour(number)) +
           (*dash ? fmt::format(" stroke-dasharray=\"{}\"", dash) : "");
  }

  std::string Point(double x, double y) const {
    return fmt::format("{:.2f},{:.2f}", x_.Place(x), y_.Place(y));
  }

  void Bands(const CurveSeries& series, size_t number) {
    size_t end = 0;
    for (size_t i = 0; i < series.x.size(); i = end + 1) {
      for (end = i; end < series.x.size() && InBand(series, end);) ++end;
      if (end - i < 2) continue;
      std::string points;
      for (size_t k = i; k < end; ++k) points += Point(series.x[k], series.y_high[k]) + " ";
      for (size_t k = end; k-- > i;) points += Point(series.x[k], series.y_low[k]) + " ";
      points.pop_back();
      Add("<polygon class=\"band\" fill=\"{}\" points=\"{}\"/>\n", Colour(number), points);
    }
  }

  void Curves(const CurveSeries& series, size_t number) {
    size_t end = 0;
    for (size_t i = 0; i < series.x.size(); i = end + 1) {
      for (end = i; end < series.x.size() && Drawn(series, end);) ++end;
      if (end == i) continue;
      if (end - i == 1) {
        Add("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"3\" fill=\"{}\"/>\n", x_.Place(series.x[i]),
            y_.Place(series.y[i]), Colour(number));
        continue;
      }
      std::string points;
      for (size_t k = i; k < end; ++k) points += Point(series.x[k], series.y[k]) + " ";
      points.pop_back();
      Add("<polyline class=\"curve\" {} points=\"{}\"/>\n", Stroke(number), points);
    }
  }

  // Below the plot, in rows.
  std::string Legend() {
    std::string legend;
    double x = x_.from;
    double y = plot_.height + 4;
    for (size_t i = 0; i < plot_.series.size(); ++i) {
      const std::string& name = plot_.series[i].name;
      const double width = 44 + kCharacter * static_cast<double>(Characters(name));
      if (x > x_.from && x + width > plot_.width) {
        x = x_.from;
        y += kLegendRow;
      }
      legend += fmt::format(
          "<line class=\"curve\" {} x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>"
          "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
          Stroke(i), x, y - 4, x + 22, y - 4, x + 28, y, Escape(name));
      x += width;
    }
    legend_height_ = plot_.series.empty() ? 0 : y + 12 - plot_.height;
    return legend;
  }

  const CurvePlot& plot_;
  Axis x_, y_;
  double legend_height_ = 0;
  std::string out_;
};

}  // namespace

std::string CurveSvg(const CurvePlot& plot) { return Drawing(plot).Draw(); }

}  // namespace hone::report
