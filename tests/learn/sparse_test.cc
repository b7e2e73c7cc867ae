#include "learn/sparse.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "core/rng.h"

namespace hone::learn {
namespace {

TEST(Sparse, MultipliesAsTheDenseMatrixDoes) {
  torch::manual_seed(1);
  Rng rng(1);
  Sparse::Rows rows;
  torch::Tensor whole = torch::zeros({30, 20});
  for (int r = 0; r < 30; ++r) {
    for (int c = 0; c < 20; ++c) {
      if (r % 7 == 3 || rng.Below(4) != 0) continue;  // some rows are empty
      rows.column.push_back(c);
      rows.value.push_back(static_cast<float>(rng.Unit()));
      whole[r][c] = rows.value.back();
    }
    rows.start.push_back(static_cast<int32_t>(rows.column.size()));
  }
  const auto matrix = c10::make_intrusive<Sparse>(rows, 20);
  torch::Tensor x = torch::randn({20, 5}, torch::requires_grad());
  torch::Tensor y = x.detach().clone().requires_grad_();
  const torch::Tensor weight = torch::randn({30, 5});
  const torch::Tensor found = Multiply(matrix, x);
  const torch::Tensor expected = whole.mm(y);
  EXPECT_TRUE(torch::allclose(found, expected, 1e-5, 1e-6));
  (found * weight).sum().backward();
  (expected * weight).sum().backward();
  EXPECT_TRUE(torch::allclose(x.grad(), y.grad(), 1e-5, 1e-6));
}

TEST(Sparse, NoRowsGiveNoneAndAGradientOfZero) {
  const auto matrix = c10::make_intrusive<Sparse>(Sparse::Rows{}, 4);
  const torch::Tensor x = torch::randn({4, 3}, torch::requires_grad());
  const torch::Tensor y = Multiply(matrix, x);
  EXPECT_EQ(y.size(0), 0);
  y.sum().backward();
  EXPECT_TRUE(torch::equal(x.grad(), torch::zeros({4, 3})));
}

TEST(SegmentMax, TakesMaximaAndSendsTheGradientThere) {
  torch::Tensor x =
      torch::tensor({{-1.f, 5.f}, {-3.f, 5.f}, {-2.f, 7.f}, {4.f, 1.f}}, torch::requires_grad());
  const torch::Tensor found = SegmentMax({0, 2, 2, 4}, x);
  EXPECT_TRUE(torch::equal(found.detach(), torch::tensor({{-1.f, 5.f}, {0.f, 0.f}, {4.f, 7.f}})));
  (found * torch::tensor({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}})).sum().backward();
  EXPECT_TRUE(
      torch::equal(x.grad(), torch::tensor({{1.f, 2.f}, {0.f, 0.f}, {0.f, 6.f}, {5.f, 0.f}})));
}

}  // namespace
}  // namespace hone::learn
