#include <algorithm>
#include <type_traits>

#include "memory/values/evaluate.h"

namespace hone::memory {
namespace {

bool Has(const std::vector<int64_t>& list, size_t d) {
  return std::find(list.begin(), list.end(), static_cast<int64_t>(d)) != list.end();
}

// Distances from the first element to all others, over some dimensions of a dense array.
std::vector<int64_t> Offsets(const Box& box, const std::vector<int64_t>& dimensions) {
  const std::vector<int64_t> strides = Strides(box);
  std::vector<int64_t> offsets = {0};
  for (int64_t d : dimensions) {
    std::vector<int64_t> next;
    for (int64_t offset : offsets) {
      for (int64_t i = 0; i < Extent(box, static_cast<size_t>(d)); ++i) {
        next.push_back(offset + i * strides[static_cast<size_t>(d)]);
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
      for (double& value : result.reals) value = Round(value, result.type);
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

// What of the input a convolution's window looks at from one place, in one dimension.
struct Tap {
  int64_t input;  // in the whole tensor
  int64_t kernel;
};

std::vector<Tap> Taps(int64_t out, const WindowDimension& window, int64_t size) {
  std::vector<Tap> taps;
  for (int64_t k = 0; k < window.size; ++k) {
    const int64_t at = out * window.stride - window.pad_low + k * window.window_dilation;
    if (at < 0 || at % window.base_dilation != 0 || at / window.base_dilation >= size) continue;
    taps.push_back({at / window.base_dilation, window.reversal ? window.size - 1 - k : k});
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
  const std::vector<int64_t> lhs_offsets = Offsets(lhs.box, lhs_contracting);
  const std::vector<int64_t> rhs_offsets = Offsets(rhs.box, rhs_contracting);
  HONE_CHECK(lhs_offsets.size() == rhs_offsets.size());
  std::vector<size_t> lhs_free, rhs_free;
  for (size_t d = 0; d < lhs.box.low.size(); ++d) {
    if (!Has(lhs_batch, d) && !Has(lhs_contracting, d)) lhs_free.push_back(d);
  }
  for (size_t d = 0; d < rhs.box.low.size(); ++d) {
    if (!Has(rhs_batch, d) && !Has(rhs_contracting, d)) rhs_free.push_back(d);
  }
  const bool known = OnNumbers(lhs, rhs, result, [&](const auto& a, const auto& b, auto& sums) {
    std::vector<int64_t> left = lhs.box.low, right = rhs.box.low;
    ForEach(out, [&](const std::vector<int64_t>& index, int64_t at) {
      size_t from = 0;
      for (size_t k = 0; k < lhs_batch.size(); ++k, ++from) {
        left[static_cast<size_t>(lhs_batch[k])] = index[from];
        right[static_cast<size_t>(rhs_batch[k])] = index[from];
      }
      for (size_t d : lhs_free) left[d] = index[from++];
      for (size_t d : rhs_free) right[d] = index[from++];
      const auto* x = a.data() + Position(lhs.box, left);
      const auto* y = b.data() + Position(rhs.box, right);
      std::remove_cvref_t<decltype(sums[0])> sum{};
      for (size_t k = 0; k < lhs_offsets.size(); ++k) sum += x[lhs_offsets[k]] * y[rhs_offsets[k]];
      sums[static_cast<size_t>(at)] = sum;
    });
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
  for (size_t s = 0; s < rank; ++s) {
    const size_t d = u(labels.output_spatial[s]);
    for (int64_t place = out.low[d]; place < out.high[d]; ++place) {
      taps[s].push_back(Taps(place, op.window[s], lhs_dimensions[u(labels.spatial[s])]));
    }
  }
  Array result = MakeArray(type, out);
  const bool known = OnNumbers(lhs, rhs, result, [&](const auto& a, const auto& b, auto& sums) {
    std::vector<std::pair<int64_t, int64_t>> places, more;
    ForEach(out, [&](const std::vector<int64_t>& index, int64_t at) {
      const int64_t feature = index[u(labels.output_feature)];
      int64_t batch = index[u(labels.output_batch)];
      if (batch_groups > 1) {
        const int64_t group = feature / (out_features / batch_groups);
        batch += group * (lhs_dimensions[u(labels.batch)] / batch_groups);
      }
      const int64_t first = feature / (out_features / feature_groups) * in_features;
      places.assign(1, {(batch - lhs.box.low[u(labels.batch)]) * lhs_strides[u(labels.batch)] +
                            (first + first_input - lhs.box.low[u(labels.feature)]) * lhs_step,
                        (feature - rhs.box.low[u(labels.kernel_output)]) *
                            rhs_strides[u(labels.kernel_output)]});
      for (size_t s = 0; s < rank; ++s) {
        const size_t d = u(labels.output_spatial[s]);
        more.clear();
        for (const auto& [left, right] : places) {
          for (const Tap& tap : taps[s][u(index[d] - out.low[d])]) {
            const size_t in = u(labels.spatial[s]);
            HONE_CHECK(tap.input >= lhs.box.low[in] && tap.input < lhs.box.high[in]);
            more.emplace_back(left + (tap.input - lhs.box.low[in]) * lhs_strides[in],
                              right + tap.kernel * rhs_strides[u(labels.kernel_spatial[s])]);
          }
        }
        places.swap(more);
      }
      std::remove_cvref_t<decltype(sums[0])> sum{};
      for (const auto& [left, right] : places) {
        const auto* x = a.data() + left;
        const auto* y = b.data() + right;
        for (int64_t f = 0; f < part; ++f) sum += x[f * lhs_step] * y[f * rhs_step];
      }
      sums[static_cast<size_t>(at)] = sum;
    });
  });
  if (!known) return NoArithmetic(op, "these types");
  return result;
}

}  // namespace hone::memory
