// Learning curves as a picture.
#ifndef HONE_REPORT_CURVE_SVG_H_
#define HONE_REPORT_CURVE_SVG_H_

#include <string>
#include <vector>

namespace hone::report {

// One curve. Where y is not finite it has a gap; a point between gaps is a dot.
struct CurveSeries {
  std::string name;
  std::vector<double> x;  // ascending
  std::vector<double> y;  // as long as x
  // A band behind the curve, such as quartiles over seeds; as long as x, or both empty.
  std::vector<double> y_low, y_high;
};

struct CurvePlot {
  std::string title;
  std::string x_label, y_label;
  std::vector<CurveSeries> series;
  bool log_x = false;  // points of x <= 0 are gaps
  int width = 720;     // pixels
  int height = 440;    // pixels, to which the rows of the legend are added
};

// A self-contained SVG document: styles inside, no scripts, no fonts of its own, colours that hold
// on light and on dark grounds (prefers-color-scheme) and apart for the colour-blind; from the
// seventh series on they come again, dashed. The same plot gives the same bytes. Names are UTF-8;
// what XML does not allow in them becomes U+FFFD.
std::string CurveSvg(const CurvePlot& plot);

}  // namespace hone::report

#endif  // HONE_REPORT_CURVE_SVG_H_
