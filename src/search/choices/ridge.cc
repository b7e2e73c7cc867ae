// Ridge regression in its dual form: there are fewer examples than columns. Its doubt is that of
// Bayesian linear regression (Bishop, Pattern Recognition and Machine Learning, 3.3).
#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "search/choices/model.h"

namespace hone::choices {
namespace {

constexpr double kPenalty = 0.3;
constexpr double kDoubt = 0.3;  // standard deviations taken off the mean

// How many columns two rows share.
double Shared(const Features& a, const Features& b) {
  double shared = 0;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) {
      ++shared;
      ++i;
      ++j;
    } else if (a[i] < b[j]) {
      ++i;
    } else {
      ++j;
    }
  }
  return shared;
}

class Ridge final : public Model {
 public:
  void Fit(const Examples& examples, Rng&) override {
    rows_ = examples.rows;
    const Eigen::Index n = static_cast<Eigen::Index>(rows_.size());
    const Eigen::Map<const Eigen::VectorXd> values(examples.values.data(), n);
    mean_ = values.mean();
    const Eigen::VectorXd centred = values.array() - mean_;
    Eigen::MatrixXd kernel(n, n);
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index j = i; j < n; ++j) {
        kernel(i, j) = kernel(j, i) =
            Kernel(rows_[static_cast<size_t>(i)], rows_[static_cast<size_t>(j)]);
      }
    }
    kernel.diagonal().array() += kPenalty;
    solver_.compute(kernel);
    dual_ = solver_.solve(centred);
    const double residual = kPenalty * std::sqrt(dual_.squaredNorm() / static_cast<double>(n));
    scale_ = std::max(residual, 1e-4);
  }

  double Promise(const Features& features) const override {
    Eigen::VectorXd near(dual_.size());
    for (Eigen::Index i = 0; i < near.size(); ++i) {
      near(i) = Kernel(rows_[static_cast<size_t>(i)], features);
    }
    const double doubt = Kernel(features, features) - near.dot(solver_.solve(near));
    return mean_ + near.dot(dual_) - kDoubt * scale_ * std::sqrt(std::max(0.0, doubt) / kPenalty);
  }

 private:
  // Linear, with a constant.
  static double Kernel(const Features& a, const Features& b) { return 1 + Shared(a, b); }

  std::vector<Features> rows_;
  double mean_ = 0;
  double scale_ = 0;
  Eigen::LDLT<Eigen::MatrixXd> solver_;
  Eigen::VectorXd dual_;
};

}  // namespace

std::unique_ptr<Chooser> MakeRidge(const Problem& problem, uint64_t seed) {
  return MakeStrategyChooser(problem, seed, MakeModelStrategy(problem, std::make_unique<Ridge>()),
                             FirstAsks::kSingles);
}

}  // namespace hone::choices
