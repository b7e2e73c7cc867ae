#include "loops/interpret.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/rng.h"
#include "loops/inputs.h"
#include "loops/interpret_factor.h"

namespace hone::loops {
namespace {

using Shape = std::vector<int64_t>;

constexpr int64_t kLookEvery = 64;  // elements, between two looks at the time

size_t Index(int64_t value) { return static_cast<size_t>(value); }

Shape Strides(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

double Unary(const std::string& kind, double x) {
  if (kind == "relu") return x > 0 || std::isnan(x) ? x : 0;
  if (kind == "exp") return std::exp(x);
  if (kind == "expm1") return std::expm1(x);
  if (kind == "log") return std::log(x);
  if (kind == "log1p") return std::log1p(x);
  if (kind == "tanh") return std::tanh(x);
  if (kind == "sqrt") return std::sqrt(x);
  if (kind == "rsqrt") return 1 / std::sqrt(x);
  if (kind == "negate") return -x;
  if (kind == "abs") return std::fabs(x);
  return 1 / (1 + std::exp(-x));  // logistic
}

double Binary(const std::string& kind, double a, double b) {
  if (kind == "add") return a + b;
  if (kind == "subtract") return a - b;
  if (kind == "multiply") return a * b;
  if (kind == "divide") return a / b;
  if (kind == "equal") return a == b;
  if (kind == "not_equal") return a != b;
  if (kind == "less") return a < b;
  if (kind == "less_equal") return a <= b;
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  return kind == "maximum" ? std::max(a, b) : std::min(a, b);
}

// To so many significant bits, ties to even; below 2^least with the spacing that is there.
double RoundedToBits(double value, int bits, int least) {
  if (value == 0 || !std::isfinite(value)) return value;
  int exponent = 0;
  std::frexp(value, &exponent);  // 0.5 <= |value| / 2^exponent < 1
  const double spacing = std::ldexp(1, std::max(exponent - 1, least) - bits + 1);
  const double rounded = std::nearbyint(value / spacing) * spacing;
  const double most = std::ldexp(2, 1 - least);  // the first that is infinite
  return std::fabs(rounded) < most ? rounded : std::copysign(HUGE_VAL, value);
}

double Rounded(double value, Element element) {
  if (element == Element::kF32) return static_cast<double>(static_cast<float>(value));
  if (const ElementInfo& info = InfoOf(element); info.narrow() && info.floating) {
    const verify::ElementType& type =
        StoredAs(info.widening == Widening::kRounds ? Element::kBF16 : element);
    return RoundedToBits(value, type.mantissa_bits + 1, 2 - (1 << (type.exponent_bits - 1)));
  }
  if (element == Element::kI32 && std::isfinite(value)) {  // it wraps around
    return static_cast<double>(static_cast<int32_t>(static_cast<int64_t>(value)));
  }
  return value;
}

// One operation, element by element.
class Evaluator {
 public:
  Evaluator(const Task& task, const Operation& op, const std::vector<Values>& values,
            uint64_t noise)
      : op_(op), element_(task.tensors[Index(op.result)].element), rng_(noise) {
    if (noise != 0 && InfoOf(element_).floating) {
      unit_ = element_ == Element::kF32 ? 0x1p-23 : 0x1p-52;
    }
    for (const int operand : op.operands) {
      shapes_.push_back(task.tensors[Index(operand)].shape);
      in_.push_back(values[Index(operand)].data());
    }
    out_ = task.tensors[Index(op.result)].shape;
    if (op.kind == "transpose") {
      const Shape strides = Strides(shapes_[0]);
      for (const int64_t d : op.Get("permutation", 0, 0)) strides_.push_back(strides[Index(d)]);
    }
    if (op.kind == "attend" || op.kind == "product" || op.kind == "convolve") {
      Shape made = out_;
      Shape permutation = op.Get("permutation", 0, 0);
      if (permutation.empty()) {
        for (size_t d = 0; d < out_.size(); ++d) permutation.push_back(static_cast<int64_t>(d));
      }
      for (size_t d = 0; d < made.size(); ++d) made[Index(permutation[d])] = out_[d];
      const Shape strides = Strides(made);
      for (const int64_t d : permutation) strides_.push_back(strides[Index(d)]);
    }
    if (op.kind == "slice") {
      strides_ = Strides(shapes_[0]);
      const Shape starts = op.Get("starts", 0, 0);
      for (size_t d = 0; d < starts.size(); ++d) in_[0] += starts[d] * strides_[d];
    }
    if (op.kind == "broadcast") {
      const Shape strides = Strides(shapes_[0]), dimensions = op.Get("dimensions", 0, 0);
      strides_.resize(out_.size(), 0);
      for (size_t d = 0; d < dimensions.size(); ++d) strides_[Index(dimensions[d])] = strides[d];
    }
    if (op.kind == "reduce_sum" || op.kind == "reduce_max") Axes();
  }

  double At(int64_t flat) const {
    const std::string& kind = op_.kind;
    if (IsUnary(kind)) return Off(Unary(kind, in_[0][flat]));
    if (RoundedTo(kind)) return in_[0][flat];
    if (IsBinary(kind)) {
      const int64_t size =
          std::accumulate(shapes_[1].begin(), shapes_[1].end(), int64_t{1}, std::multiplies<>());
      return Off(Binary(kind, in_[0][flat], in_[1][flat % size]));
    }
    if (kind == "matmul" || kind == "batch_matmul") return Product(flat, out_.back());
    if (kind == "conv2d" || kind == "pool_max" || kind == "pool_sum") return Window(flat);
    if (kind == "transpose" || kind == "broadcast" || kind == "slice")
      return in_[0][Offset(flat, strides_)];
    if (kind == "constant") return Rounded(op_.value, element_);
    if (kind == "softmax") return Softmax(flat);
    if (kind == "layer_norm") return LayerNorm(flat);
    if (kind == "attention") return Attention(flat);
    if (kind == "select") return in_[0][flat] != 0 ? in_[1][flat] : in_[2][flat];
    if (kind == "scores") return Score(flat);
    if (IsRunning(kind)) return Running(flat);
    if (Sorts(kind)) return Sorted(flat);
    if (IsFactor(kind)) return Factored(flat);
    if (kind == "attend") return Attend(Offset(flat, strides_));
    if (kind == "convolve") return Convolution(Offset(flat, strides_));
    if (kind == "depthwise") return Convolution(flat);
    if (kind == "product") return Product(Offset(flat, strides_), shapes_[1].back());
    return Reduction(flat);
  }

 private:
  void Axes() {
    const Shape axes = op_.Get("axes", 0, 0);
    const Shape strides = Strides(shapes_[0]);
    for (size_t d = 0; d < shapes_[0].size(); ++d) {
      const bool reduced = std::count(axes.begin(), axes.end(), static_cast<int64_t>(d)) != 0;
      (reduced ? reduced_ : strides_).push_back(strides[d]);
      if (reduced) reduced_shape_.push_back(shapes_[0][d]);
    }
    if (strides_.empty()) strides_.push_back(0);  // the only element of all
  }

  // Where the point of the result lies under other strides.
  int64_t Offset(int64_t flat, const Shape& strides) const { return Offset(flat, out_, strides); }
  static int64_t Offset(int64_t flat, const Shape& shape, const Shape& strides) {
    int64_t offset = 0;
    for (size_t d = shape.size(); d-- > 0;) {
      offset += flat % shape[d] * strides[d];
      flat /= shape[d];
    }
    return offset;
  }

  double Product(int64_t flat, int64_t columns) const {
    const int64_t rows = shapes_[0][shapes_[0].size() - 2], inner = shapes_[0].back();
    const int64_t batch = flat / columns / rows;
    const double* const a = in_[0] + flat / columns * inner;
    const double* const b = in_[1] + batch * inner * columns + flat % columns;
    double sum = 0;
    for (int64_t k = 0; k < inner; ++k) sum = Off(sum + a[k] * b[k * columns]);
    return sum;
  }

  double Convolution(int64_t flat) const {  // in [N,O...,F]
    const size_t spatial = shapes_[0].size() - 2;
    const Shape sizes = op_.Get("sizes", spatial, 1), strides = op_.Get("strides", spatial, 1);
    const Shape dilations = op_.Get("dilations", spatial, 1), pads = op_.Get("pads", spatial, 0);
    const bool depthwise = op_.kind == "depthwise";
    const int64_t features = shapes_[1].back(), inner = shapes_[0].back(), f = flat % features;
    Shape position(spatial);
    flat /= features;
    for (size_t d = spatial; d-- > 0; flat /= sizes[d]) position[d] = flat % sizes[d];
    const int64_t taps = std::accumulate(shapes_[1].begin(), shapes_[1].end() - (depthwise ? 1 : 2),
                                         int64_t{1}, std::multiplies<>());
    double sum = 0;
    for (int64_t tap = 0; tap < taps; ++tap) {
      int64_t left = tap, at = 0, stride = inner;
      bool inside = true;
      for (size_t d = spatial; d-- > 0; left /= shapes_[1][d]) {
        const int64_t place =
            position[d] * strides[d] + left % shapes_[1][d] * dilations[d] - pads[d];
        inside = inside && place >= 0 && place < shapes_[0][d + 1];
        at += place * stride;
        stride *= shapes_[0][d + 1];
      }
      if (!inside) continue;
      const double* const x = in_[0] + flat * stride + at;
      if (depthwise) {
        sum = Off(sum + x[f] * in_[1][tap * inner + f]);
        continue;
      }
      const double* const w = in_[1] + tap * inner * features + f;
      for (int64_t c = 0; c < inner; ++c) sum = Off(sum + x[c] * w[c * features]);
    }
    return sum;
  }

  double Window(int64_t flat) const {
    const bool pool = op_.kind != "conv2d";
    const Shape strides = op_.Get("strides", 2, 1), dilations = op_.Get("dilations", 2, 1);
    const Shape window = pool ? op_.Get("window", 2, 1) : Shape{shapes_[1][2], shapes_[1][3]};
    const int64_t w = flat % out_[3], h = flat / out_[3] % out_[2];
    const int64_t c = flat / out_[3] / out_[2] % out_[1], n = flat / out_[3] / out_[2] / out_[1];
    const int64_t channels = shapes_[0][1], height = shapes_[0][2], width = shapes_[0][3];
    double result = op_.kind == "pool_max" ? -std::numeric_limits<double>::infinity() : 0;
    for (int64_t i = pool ? c : 0; i < (pool ? c + 1 : channels); ++i) {
      const double* const image = in_[0] + (n * channels + i) * height * width;
      for (int64_t y = 0; y < window[0]; ++y) {
        for (int64_t x = 0; x < window[1]; ++x) {
          const double value = image[(h * strides[0] + y * dilations[0]) * width + w * strides[1] +
                                     x * dilations[1]];
          if (op_.kind == "pool_max") {
            result = Binary("maximum", result, value);
          } else {
            const int64_t at = ((c * channels + i) * window[0] + y) * window[1] + x;
            result = Off(result + (pool ? value : value * in_[1][at]));
          }
        }
      }
    }
    return result;
  }

  double Reduction(int64_t flat) const {
    const double* const from = in_[0] + Offset(flat, strides_);
    const int64_t count = std::accumulate(reduced_shape_.begin(), reduced_shape_.end(), int64_t{1},
                                          std::multiplies<>());
    double result = op_.kind == "reduce_max" ? -std::numeric_limits<double>::infinity() : 0;
    for (int64_t i = 0; i < count; ++i) {
      const double value = from[Offset(i, reduced_shape_, reduced_)];
      result = op_.kind == "reduce_max" ? Binary("maximum", result, value) : Off(result + value);
    }
    return result;
  }

  // All lines that lie side by side are run along at once, in a line's own order, and kept.
  double Running(int64_t flat) const {
    const int64_t size = out_[1], inner = out_.size() == 3 ? out_[2] : 1, all = size * inner;
    if (flat / all != row_) {
      row_ = flat / all;
      running_.resize(Index(all));
      const double* const from = in_[0] + row_ * all;
      const bool reverse = op_.Get("reverse", 1, 0)[0] != 0;
      const bool maximum = op_.kind == "running_max", product = op_.kind == "running_product";
      const double nothing = maximum ? -std::numeric_limits<double>::infinity() : product ? 1 : 0;
      for (int64_t i = 0; i < all; ++i) {
        const int64_t at = reverse ? all - 1 - i : i;
        const int64_t last = reverse ? at + inner : at - inner;
        const double before = i < inner ? nothing : running_[Index(last)];
        running_[Index(at)] = maximum   ? Binary("maximum", before, from[at])
                              : product ? Off(before * from[at])
                                        : Off(before + from[at]);
      }
    }
    return running_[Index(flat % all)];
  }

  double Sorted(int64_t flat) const {
    const int64_t size = out_.back();
    const double* const row = in_[0] + flat / size * size;
    if (flat / size != row_) {
      row_ = flat / size;
      order_.resize(Index(size));
      std::iota(order_.begin(), order_.end(), int64_t{0});
      // In IEEE 754's total order, of what is no NaN.
      std::stable_sort(order_.begin(), order_.end(), [&](int64_t a, int64_t b) {
        return std::make_pair(row[a], !std::signbit(row[a])) <
               std::make_pair(row[b], !std::signbit(row[b]));
      });
    }
    const int64_t from = order_[Index(flat % size)];
    return op_.kind == "argsort" ? static_cast<double>(from) : row[from];
  }

  // A matrix of the batch is factored, or solved with, at once, and kept.
  double Factored(int64_t flat) const {
    const int64_t n = shapes_[0][1], columns = out_[2], all = out_[1] * columns;
    if (flat / all != row_) {
      row_ = flat / all;
      const double* const right = in_.size() > 1 ? in_[1] + row_ * all : nullptr;
      running_ = InterpretFactor(op_, {in_[0] + row_ * n * shapes_[0][2], right, n, columns},
                                 [this](double x) { return Off(x); });
    }
    return running_[Index(flat % all)];
  }

  double Softmax(int64_t flat) const {
    const int64_t size = out_.back();
    const double* const row = in_[0] + flat / size * size;
    if (flat / size != row_) {
      row_ = flat / size;
      most_ = *std::max_element(row, row + size);
      sum_ = 0;
      for (int64_t i = 0; i < size; ++i) sum_ = Off(sum_ + Off(std::exp(Off(row[i] - most_))));
    }
    return Off(Off(std::exp(Off(row[flat % size] - most_))) / sum_);
  }

  double LayerNorm(int64_t flat) const {
    const int64_t size = out_.back();
    const double* const row = in_[0] + flat / size * size;
    if (flat / size != row_) {
      row_ = flat / size;
      mean_ = 0;
      for (int64_t i = 0; i < size; ++i) mean_ = Off(mean_ + row[i]);
      mean_ = Off(mean_ / static_cast<double>(size));
      sum_ = 0;
      for (int64_t i = 0; i < size; ++i) {
        const double x = Off(row[i] - mean_);
        sum_ = Off(sum_ + Off(x * x));
      }
    }
    const int64_t i = flat % size;
    const double variance = sum_ / static_cast<double>(size);
    const double factor = Off(1 / Off(std::sqrt(Off(variance + 1e-5))));
    return Off(Off(Off(Off(row[i] - mean_) * factor) * in_[1][i]) + in_[2][i]);
  }

  double Attention(int64_t flat) const {
    const int64_t values = out_[3], queries = out_[2], inner = shapes_[0][3], keys = shapes_[1][2];
    const int64_t head = flat / values / queries;
    if (flat / values != row_) {
      row_ = flat / values;
      const double* const q = in_[0] + row_ * inner;
      const double* const k = in_[1] + head * keys * inner;
      weights_.resize(Index(keys));
      for (int64_t t = 0; t < keys; ++t) {
        double score = 0;
        for (int64_t d = 0; d < inner; ++d) score = Off(score + q[d] * k[t * inner + d]);
        weights_[Index(t)] = Off(score / std::sqrt(static_cast<double>(inner)));
      }
      most_ = *std::max_element(weights_.begin(), weights_.end());
      sum_ = 0;
      for (double& weight : weights_) {
        weight = Off(std::exp(Off(weight - most_)));
        sum_ = Off(sum_ + weight);
      }
    }
    const double* const v = in_[2] + head * keys * values + flat % values;
    double result = 0;
    for (int64_t t = 0; t < keys; ++t) result = Off(result + weights_[Index(t)] * v[t * values]);
    return Off(result / sum_);
  }

  double Score(int64_t flat) const {
    const int64_t columns = out_.back(), rows = out_[out_.size() - 2], inner = shapes_[0].back();
    const double* const q = in_[0] + flat / columns * inner;
    const double* const k = in_[1] + (flat / columns / rows * columns + flat % columns) * inner;
    double score = 0;
    for (int64_t d = 0; d < inner; ++d) score = Off(score + q[d] * k[d]);
    return score;
  }

  double Attend(int64_t flat) const {  // in [...,S,E]
    const int64_t keys = shapes_[0].back(), rows = shapes_[0][shapes_[0].size() - 2];
    const int64_t values = shapes_[1].back();
    const int64_t row = flat / values;
    const int64_t until = op_.Get("until", 1, keys)[0];
    const int64_t seen = std::min(keys, row % rows + until + 1);
    const double* const scores = in_[0] + row * keys;
    if (row != row_) {
      row_ = row;
      weights_.assign(scores, scores + seen);
      most_ = -std::numeric_limits<double>::infinity();
      for (const double weight : weights_) most_ = Binary("maximum", most_, weight);
      sum_ = 0;
      for (double& weight : weights_) {
        weight = Off(std::exp(Off(weight - most_)));
        sum_ = Off(sum_ + weight);
      }
    }
    const double* const v = in_[1] + row / rows * keys * values + flat % values;
    double result = 0;
    for (int64_t t = 0; t < seen; ++t) result = Off(result + weights_[Index(t)] * v[t * values]);
    return Off(result / sum_);
  }

  // Led astray by up to a unit in its last place, where there is noise.
  double Off(double value) const {
    return unit_ == 0 ? value : value * (1 + (2 * rng_.Unit() - 1) * unit_);
  }

  const Operation& op_;
  const Element element_;
  mutable Rng rng_;
  double unit_ = 0;
  std::vector<Shape> shapes_;
  std::vector<const double*> in_;
  Shape out_;
  Shape strides_;  // of the operand, a dimension of the result each
  Shape reduced_, reduced_shape_;
  // Of the row that was evaluated last.
  mutable int64_t row_ = -1;
  mutable std::vector<int64_t> order_;  // of the row: of what sorts
  mutable Values running_;              // all along that row
  mutable double most_ = 0, mean_ = 0, sum_ = 0;
  mutable std::vector<double> weights_;
};

}  // namespace

std::vector<Values> Interpret(const Task& task, std::vector<Values> values,
                              const std::vector<int64_t>& points, uint64_t noise,
                              const std::function<bool()>& over) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (InfoOf(task.tensors[i].element).widening != Widening::kRounds) continue;
    for (double& value : values[i]) value = Rounded(value, task.tensors[i].element);
  }
  values.resize(task.tensors.size());
  for (size_t i = 0; i < task.operations.size(); ++i) {
    const Operation& op = task.operations[i];
    const Tensor& result = task.tensors[Index(op.result)];
    const Evaluator evaluator(task, op, values, noise == 0 ? 0 : noise * 1000 + i + 1);
    Values& made = values[Index(op.result)];
    made.resize(Index(result.elements()));
    const bool only_points =
        !points.empty() && i + 1 == task.operations.size() && task.outputs.size() == 1;
    const auto count = only_points ? static_cast<int64_t>(points.size()) : result.elements();
    for (int64_t k = 0; k < count; ++k) {
      if (k % kLookEvery == 0 && over && over()) return {};
      const int64_t flat = only_points ? points[Index(k)] : k;
      double& value = made[Index(flat)] = evaluator.At(flat);
      // Integers wrap around where they are made.
      if (result.element == Element::kI32) value = Rounded(value, result.element);
    }
  }
  std::vector<Values> outputs;
  for (const int output : task.outputs) {
    Values all;
    const Element element = task.tensors[Index(output)].element;
    if (points.empty()) {
      for (const double value : values[Index(output)]) all.push_back(Rounded(value, element));
    } else {
      for (const int64_t point : points) {
        all.push_back(Rounded(values[Index(output)][Index(point)], element));
      }
    }
    outputs.push_back(std::move(all));
  }
  return outputs;
}

}  // namespace hone::loops
