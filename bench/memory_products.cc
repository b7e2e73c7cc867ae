#include "memory_products.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <array>
#include <ctime>
#include <vector>

#include "memory/values/product.h"

namespace hone::memory {

void CompareProducts() {
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto seconds = [](const auto& run, int times) {
    const std::clock_t start = std::clock();
    for (int k = 0; k < times; ++k) run();
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / times;
  };
  using Sizes = std::array<Eigen::Index, 3>;
  for (const auto& [m, k, n] : {Sizes{128, 768, 3072}, {128, 3072, 768}, {128, 64, 128}}) {
    const Matrix a = Matrix::Random(m, k), b = Matrix::Random(k, n);
    Matrix ours(m, n), eigen(m, n);
    const auto multiples = [](Eigen::Index count, Eigen::Index by) {
      std::vector<int64_t> offsets(static_cast<size_t>(count));
      for (size_t i = 0; i < offsets.size(); ++i) offsets[i] = static_cast<int64_t>(i) * by;
      return offsets;
    };
    const std::vector<int64_t> rows = multiples(m, k), along = multiples(k, 1);
    const std::vector<int64_t> across = multiples(k, n), columns = multiples(n, 1);
    const int times = m * k * n > 100'000'000 ? 5 : 500;
    const double own = seconds(
        [&] { Multiply({a.data(), rows, along}, {b.data(), across, columns}, ours.data()); },
        times);
    const double others = seconds([&] { eigen.noalias() = a * b; }, times);
    fmt::print("{} x {} x {}: {:.3f} ms, Eigen {:.3f} ms, ratio {:.2f}, off by {:.1e}\n", m, k, n,
               own * 1e3, others * 1e3, own / others, (ours - eigen).cwiseAbs().maxCoeff());
  }
}

}  // namespace hone::memory
