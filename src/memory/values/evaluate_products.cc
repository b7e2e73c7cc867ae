#include <Eigen/Core>
#include <algorithm>
#include <numeric>
#include <type_traits>

#include "memory/values/evaluate.h"
#include "memory/values/product.h"

namespace hone::memory {
namespace {

bool Has(const std::vector<int64_t>& list, size_t d) {
  return std::find(list.begin(), list.end(), static_cast<int64_t>(d)) != list.end();
}

// Dimension d of an array goes from low to high.
struct Run {
  int64_t d, low, high;
};

// Where an array's elements lie, over some dimensions, the last one fastest.
std::vector<int64_t> Offsets(const Box& box, const std::vector<Run>& runs) {
  const std::vector<int64_t> strides = Strides(box);
  std::vector<int64_t> offsets = {0};
  for (const Run& run : runs) {
    const auto d = static_cast<size_t>(run.d);
    std::vector<int64_t> next;
    for (int64_t offset : offsets) {
      for (int64_t i = run.low; i < run.high; ++i) {
        next.push_back(offset + (i - box.low[d]) * strides[d]);
      }
    }
    offsets = std::move(next);
  }
  return offsets;
}

// Runs `compute` on the vectors of numbers that fit the operands' kind. The sums are made in double
// precision or modulo 2^64 and rounded once.
template <class Compute>
bool OnNumbers(const Array& lhs, const Array& rhs, Array& result, Compute compute) {
  if (KindOf(lhs.type) != KindOf(rhs.type) || KindOf(lhs.type) != KindOf(result.type)) return false;
  switch (KindOf(result.type)) {
    case ValueKind::kReal:
      compute(lhs.reals, rhs.reals, result.reals);
      RoundAll(result.reals, result.type);
      return true;
    case ValueKind::kInteger:
      compute(lhs.integers, rhs.integers, result.integers);
      for (int64_t& value : result.integers) value = Wrap(value, result.type);
      return true;
    case ValueKind::kComplex:
      compute(lhs.complexes, rhs.complexes, result.complexes);
      for (auto& value : result.complexes) {
        value = {Round(value.real(), result.type), Round(value.imag(), result.type)};
      }
      return true;
    case ValueKind::kNone:
      break;
  }
  return false;
}

template <class Number>
using Matrix = Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int64_t kPatchElements = 1 << 21;  // of a convolution's operand, laid out at a time

Eigen::Index Size(const std::vector<int64_t>& list) {
  return static_cast<Eigen::Index>(list.size());
}

// The elements of a dense array that lie `rows[i] + columns[j]` from `first`.
template <class Number>
Matrix<Number> Gathered(const Number* first, const std::vector<int64_t>& rows,
                        const std::vector<int64_t>& columns) {
  Matrix<Number> matrix(Size(rows), Size(columns));
  Number* to = matrix.data();
  for (int64_t row : rows) {
    for (int64_t column : columns) *to++ = first[row + column];
  }
  return matrix;
}

// out[i][j] = Σ_k left[left_rows[i] + left_summed[k]] * right[right_summed[k] + right_columns[j]]
template <class Number>
void MultiplyScattered(const Number* left, const std::vector<int64_t>& left_rows,
                       const std::vector<int64_t>& left_summed, const Number* right,
                       const std::vector<int64_t>& right_summed,
                       const std::vector<int64_t>& right_columns, Number* out) {
  if constexpr (std::is_same_v<Number, double>) {
    Multiply({left, left_rows, left_summed}, {right, right_summed, right_columns}, out);
  } else {
    Eigen::Map<Matrix<Number>> product(out, Size(left_rows), Size(right_columns));
    product.noalias() =
        Gathered(left, left_rows, left_summed) * Gathered(right, right_summed, right_columns);
  }
}

// What of the input a convolution's window looks at from one place, in one dimension.
struct Tap {
  int64_t input;   // in the whole tensor
  int64_t window;  // in the window
};

std::vector<Tap> Taps(int64_t out, const WindowDimension& window, int64_t size) {
  std::vector<Tap> taps;
  for (int64_t k = 0; k < window.size; ++k) {
    const int64_t at = out * window.stride - window.pad_low + k * window.window_dilation;
    if (at < 0 || at % window.base_dilation != 0 || at / window.base_dilation >= size) continue;
    taps.push_back({at / window.base_dilation, k});
  }
  return taps;
}

}  // namespace

StatusOr<Array> EvaluateDot(const Op& op, const Array& lhs, const Array& rhs, ElementType type,
                            const Box& out) {
  const auto& lhs_batch = ListOf(op, "lhs_batch_dims");
  const auto& rhs_batch = ListOf(op, "rhs_batch_dims");
  const auto& lhs_contracting = ListOf(op, "lhs_contracting_dims");
  const auto& rhs_contracting = ListOf(op, "rhs_contracting_dims");
  Array result = MakeArray(type, out);
  if (IsEmpty(out)) return result;
  // The result's dimensions: those that both have, then the rest of the left's and the right's.
  std::vector<Run> left[3], right[3];  // both, rest, summed over
  size_t at = 0;
  for (size_t k = 0; k < lhs_batch.size(); ++k, ++at) {
    left[0].push_back({lhs_batch[k], out.low[at], out.high[at]});
    right[0].push_back({rhs_batch[k], out.low[at], out.high[at]});
  }
  for (size_t d = 0; d < lhs.box.low.size(); ++d) {
    if (Has(lhs_batch, d) || Has(lhs_contracting, d)) continue;
    left[1].push_back({static_cast<int64_t>(d), out.low[at], out.high[at]});
    ++at;
  }
  for (size_t d = 0; d < rhs.box.low.size(); ++d) {
    if (Has(rhs_batch, d) || Has(rhs_contracting, d)) continue;
    right[1].push_back({static_cast<int64_t>(d), out.low[at], out.high[at]});
    ++at;
  }
  for (size_t k = 0; k < lhs_contracting.size(); ++k) {
    const auto l = static_cast<size_t>(lhs_contracting[k]);
    const auto r = static_cast<size_t>(rhs_contracting[k]);
    left[2].push_back({lhs_contracting[k], lhs.box.low[l], lhs.box.high[l]});
    right[2].push_back({rhs_contracting[k], rhs.box.low[r], rhs.box.high[r]});
  }
  const std::vector<int64_t> lhs_both = Offsets(lhs.box, left[0]);
  const std::vector<int64_t> rhs_both = Offsets(rhs.box, right[0]);
  const std::vector<int64_t> rows = Offsets(lhs.box, left[1]);
  const std::vector<int64_t> columns = Offsets(rhs.box, right[1]);
  const std::vector<int64_t> lhs_summed = Offsets(lhs.box, left[2]);
  const std::vector<int64_t> rhs_summed = Offsets(rhs.box, right[2]);
  HONE_CHECK(lhs_summed.size() == rhs_summed.size());
  const bool known = OnNumbers(lhs, rhs, result, [&](const auto& a, const auto& b, auto& sums) {
    using Number = std::remove_cvref_t<decltype(sums[0])>;
    const size_t size = rows.size() * columns.size();
    for (size_t k = 0; k < lhs_both.size(); ++k) {
      MultiplyScattered<Number>(a.data() + lhs_both[k], rows, lhs_summed, b.data() + rhs_both[k],
                                rhs_summed, columns, sums.data() + k * size);
    }
  });
  if (!known) return NoArithmetic(op, "these types");
  return result;
}

StatusOr<Array> EvaluateConvolution(const Op& op, const Array& lhs,
                                    const std::vector<int64_t>& lhs_dimensions, const Array& rhs,
                                    const std::vector<int64_t>& rhs_dimensions, ElementType type,
                                    const Box& out) {
  const ConvolutionDimensions& labels = op.convolution;
  const auto u = [](int64_t d) { return static_cast<size_t>(d); };
  const auto count_of = [&](const char* name) {
    return ListOf(op, name).empty() ? int64_t{1} : ListOf(op, name)[0];
  };
  const int64_t feature_groups = count_of("feature_group_count");
  const int64_t batch_groups = count_of("batch_group_count");
  const int64_t out_features = rhs_dimensions[u(labels.kernel_output)];
  const int64_t in_features = rhs_dimensions[u(labels.kernel_input)];
  // Of the input features, those that are here: the others are another part of the sum.
  const int64_t first_input = rhs.box.low[u(labels.kernel_input)];
  const int64_t part = Extent(rhs.box, u(labels.kernel_input));
  const size_t rank = labels.spatial.size();
  const std::vector<int64_t> lhs_strides = Strides(lhs.box), rhs_strides = Strides(rhs.box);
  const int64_t lhs_step = lhs_strides[u(labels.feature)];
  const int64_t rhs_step = rhs_strides[u(labels.kernel_input)];
  // Taps of every place along each spatial dimension.
  std::vector<std::vector<std::vector<Tap>>> taps(rank);
  std::vector<int64_t> window_offsets = {0};  // of the kernel
  for (size_t s = 0; s < rank; ++s) {
    const size_t d = u(labels.output_spatial[s]);
    const WindowDimension& window = op.window[s];
    for (int64_t place = out.low[d]; place < out.high[d]; ++place) {
      taps[s].push_back(Taps(place, window, lhs_dimensions[u(labels.spatial[s])]));
    }
    std::vector<int64_t> offsets;
    for (int64_t offset : window_offsets) {
      for (int64_t k = 0; k < window.size; ++k) {
        const int64_t kernel = window.reversal ? window.size - 1 - k : k;
        offsets.push_back(offset + kernel * rhs_strides[u(labels.kernel_spatial[s])]);
      }
    }
    window_offsets = std::move(offsets);
  }
  // The window's elements, times the input features: what each place of the result sums over.
  std::vector<int64_t> summed;
  for (int64_t offset : window_offsets) {
    for (int64_t f = 0; f < part; ++f) summed.push_back(offset + f * rhs_step);
  }
  const size_t output_feature = u(labels.output_feature);
  Box places = out;  // of the result, but for features
  places.high[output_feature] = places.low[output_feature] + 1;
  const std::vector<int64_t> out_strides = Strides(out);
  const int64_t groups = std::max(feature_groups, batch_groups);
  const int64_t features_per_group = out_features / groups;
  Array result = MakeArray(type, out);
  if (IsEmpty(out)) return result;
  // For each group of features, a matrix of what the windows see, times the kernel's.
  const auto of_group = [&](int64_t group, const auto& a, const auto& b, auto& sums) {
    using Number = std::remove_cvref_t<decltype(sums[0])>;
    const Run features = {labels.kernel_output,
                          std::max(out.low[output_feature], group * features_per_group),
                          std::min(out.high[output_feature], (group + 1) * features_per_group)};
    if (features.low >= features.high) return;
    const std::vector<int64_t> columns = Offsets(rhs.box, {features});
    const int64_t batches = batch_groups > 1 ? lhs_dimensions[u(labels.batch)] / batch_groups : 0;
    const int64_t first_feature = feature_groups > 1 ? group * in_features : 0;
    const auto width = static_cast<int64_t>(summed.size());
    const int64_t most = std::max<int64_t>(1, kPatchElements / std::max<int64_t>(1, width));
    Matrix<Number> patches = Matrix<Number>::Zero(std::min(most, Elements(places)), width);
    std::vector<int64_t> targets, rows, along(summed.size());
    std::iota(along.begin(), along.end(), int64_t{0});
    Matrix<Number> product(patches.rows(), Size(columns));
    const auto multiply = [&] {
      const auto count = static_cast<int64_t>(targets.size());
      rows.clear();
      for (int64_t row = 0; row < count; ++row) rows.push_back(row * width);
      MultiplyScattered<Number>(patches.data(), rows, along, b.data(), summed, columns,
                                product.data());
      for (int64_t row = 0; row < count; ++row) {
        for (int64_t f = features.low; f < features.high; ++f) {
          const int64_t to =
              targets[u(row)] + (f - out.low[output_feature]) * out_strides[output_feature];
          sums[u(to)] = product(row, f - features.low);
        }
      }
      patches.setZero();
      targets.clear();
    };
    std::vector<std::pair<int64_t, int64_t>> seen, more;  // in the input, in the window
    ForEach(places, [&](const std::vector<int64_t>& index, int64_t) {
      const int64_t batch = index[u(labels.output_batch)] + group * batches;
      seen.assign(1, {(batch - lhs.box.low[u(labels.batch)]) * lhs_strides[u(labels.batch)] +
                          (first_feature + first_input - lhs.box.low[u(labels.feature)]) * lhs_step,
                      0});
      for (size_t s = 0; s < rank; ++s) {
        const size_t d = u(labels.output_spatial[s]);
        const size_t in = u(labels.spatial[s]);
        more.clear();
        for (const auto& [left, element] : seen) {
          for (const Tap& tap : taps[s][u(index[d] - out.low[d])]) {
            HONE_CHECK(tap.input >= lhs.box.low[in] && tap.input < lhs.box.high[in]);
            more.emplace_back(left + (tap.input - lhs.box.low[in]) * lhs_strides[in],
                              element * op.window[s].size + tap.window);
          }
        }
        seen.swap(more);
      }
      Number* row = patches.row(static_cast<int64_t>(targets.size())).data();
      for (const auto& [left, element] : seen) {
        const Number* x = a.data() + left;
        Number* to = row + element * part;
        for (int64_t f = 0; f < part; ++f) to[f] = x[f * lhs_step];
      }
      targets.push_back(Position(out, index));
      if (static_cast<int64_t>(targets.size()) == patches.rows()) multiply();
    });
    if (!targets.empty()) multiply();
  };
  const bool known = OnNumbers(lhs, rhs, result, [&](const auto& a, const auto& b, auto& sums) {
    for (int64_t group = 0; group < groups; ++group) of_group(group, a, b, sums);
  });
  if (!known) return NoArithmetic(op, "these types");
  return result;
}

}  // namespace hone::memory
