// Products and convolutions of boxes, against sums written down as their definitions say.
#include <gtest/gtest.h>

#include <random>

#include "memory/values/evaluate.h"

namespace hone::memory {
namespace {

using Index = std::vector<int64_t>;

Array RandomArray(ElementType type, const Index& dimensions, std::mt19937_64& random) {
  Array array = MakeArray(type, WholeBox(dimensions));
  for (double& value : array.reals) value = static_cast<double>(random() % 64) / 16 - 2;
  for (int64_t& value : array.integers) value = static_cast<int64_t>(random() % 64) - 32;
  return array;
}

double At(const Array& array, const Index& index) {
  return AsReal(array, Position(array.box, index));
}

int64_t Between(int64_t low, int64_t high, std::mt19937_64& random) {
  return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
}

// A part of a box with at least one element.
Box Part(const Index& dimensions, std::mt19937_64& random) {
  Box part = WholeBox(dimensions);
  for (size_t d = 0; d < dimensions.size(); ++d) {
    part.low[d] = Between(0, dimensions[d] - 1, random);
    part.high[d] = Between(part.low[d] + 1, dimensions[d], random);
  }
  return part;
}

TEST(EvaluateDot, SumsAsItsDimensionsSay) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 60; ++round) {
    const ElementType type = round % 3 == 0 ? ElementType::kS32 : ElementType::kF32;
    const int64_t both = Between(1, 3, random), rows = Between(1, 5, random);
    const int64_t summed = Between(1, 4, random), more = Between(1, 3, random);
    const int64_t columns = Between(1, 6, random);
    // [summed, both, rows, more] x [more, columns, both, summed]
    const Array lhs = RandomArray(type, {summed, both, rows, more}, random);
    const Array rhs = RandomArray(type, {more, columns, both, summed}, random);
    Op op;
    op.opcode = "dot";
    op.lists = {{"lhs_batch_dims", {1}},
                {"rhs_batch_dims", {2}},
                {"lhs_contracting_dims", {0, 3}},
                {"rhs_contracting_dims", {3, 0}}};
    const Box out = Part({both, rows, columns}, random);
    const auto result = EvaluateDot(op, lhs, rhs, type, out);
    ASSERT_TRUE(result) << result.error().message;
    ForEach(out, [&](const Index& index, int64_t at) {
      double sum = 0;
      for (int64_t s = 0; s < summed; ++s) {
        for (int64_t m = 0; m < more; ++m) {
          sum += At(lhs, {s, index[0], index[1], m}) * At(rhs, {m, index[2], index[0], s});
        }
      }
      ASSERT_EQ(AsReal(*result, at), sum) << "round " << round;
    });
  }
}

TEST(EvaluateConvolution, SumsAsItsWindowSays) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 300; ++round) {
    const ElementType type = round % 3 == 0 ? ElementType::kS32 : ElementType::kF32;
    const int64_t groups = Between(1, 3, random);
    const bool of_batch = round % 4 == 1, of_features = round % 4 == 2;
    const int64_t features = Between(1, 3, random);  // of the input, that a kernel sees
    const int64_t out_features = groups * Between(1, 2, random);
    const Index sizes = {Between(3, 7, random), Between(3, 7, random)};
    Op op;
    op.opcode = "convolution";
    op.lists = {{"feature_group_count", {of_features ? groups : 1}},
                {"batch_group_count", {of_batch ? groups : 1}}};
    op.convolution.batch = 0, op.convolution.feature = 3, op.convolution.spatial = {1, 2};
    op.convolution.kernel_input = 2, op.convolution.kernel_output = 3;
    op.convolution.kernel_spatial = {0, 1};
    op.convolution.output_batch = 0, op.convolution.output_feature = 1;
    op.convolution.output_spatial = {3, 2};
    Index out_sizes;
    for (size_t s = 0; s < 2; ++s) {
      WindowDimension window;
      window.size = Between(1, 3, random);
      window.stride = Between(1, 2, random);
      window.pad_low = Between(0, 2, random);
      window.base_dilation = Between(1, 2, random);
      window.window_dilation = Between(1, 2, random);
      window.reversal = random() % 2 == 0;
      op.window.push_back(window);
      const int64_t dilated = (sizes[s] - 1) * window.base_dilation + 1 + window.pad_low;
      const int64_t reach = (window.size - 1) * window.window_dilation + 1;
      out_sizes.push_back(std::max<int64_t>(1, (dilated - reach) / window.stride + 1));
    }
    const int64_t batch = of_batch ? groups * 2 : 2;
    const int64_t in_features = of_features ? groups * features : features;
    const Index lhs_dimensions = {batch, sizes[0], sizes[1], in_features};
    const Index rhs_dimensions = {op.window[0].size, op.window[1].size, features, out_features};
    const Array lhs = RandomArray(type, lhs_dimensions, random);
    const Array rhs = RandomArray(type, rhs_dimensions, random);
    const Box out = Part({2, out_features, out_sizes[1], out_sizes[0]}, random);
    const auto result =
        EvaluateConvolution(op, lhs, lhs_dimensions, rhs, rhs_dimensions, type, out);
    ASSERT_TRUE(result) << result.error().message;
    ForEach(out, [&](const Index& index, int64_t at) {
      const int64_t group = index[1] / (out_features / groups);
      double sum = 0;
      ForEach(WholeBox(rhs_dimensions), [&](const Index& tap, int64_t) {
        if (tap[3] != index[1]) return;
        Index from = {index[0] + (of_batch ? group * 2 : 0), 0, 0,
                      tap[2] + (of_features ? group * features : 0)};
        for (size_t s = 0; s < 2; ++s) {
          const WindowDimension& window = op.window[s];
          const int64_t k = window.reversal ? window.size - 1 - tap[s] : tap[s];
          const int64_t place =
              index[3 - s] * window.stride - window.pad_low + k * window.window_dilation;
          if (place < 0 || place % window.base_dilation != 0) return;
          from[s + 1] = place / window.base_dilation;
          if (from[s + 1] >= sizes[s]) return;
        }
        sum += At(lhs, from) * At(rhs, tap);
      });
      ASSERT_EQ(AsReal(*result, at), sum) << "round " << round;
    });
  }
}

}  // namespace
}  // namespace hone::memory
