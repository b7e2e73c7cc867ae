// A few small neural networks, each from other first weights and another draw of the examples;
// their spread is the doubt (Lakshminarayanan et al., "Simple and scalable predictive uncertainty
// estimation using deep ensembles", 2017).
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "search/choices/model.h"

namespace hone::choices {
namespace {

constexpr size_t kNetworks = 5;
constexpr Eigen::Index kHidden = 16;
constexpr int kUpdates = 1500;  // of one example each
constexpr double kRate = 0.02;
constexpr double kDoubt = 0.3;  // standard deviations taken off the mean

double Normal(Rng& rng) {
  return std::sqrt(-2 * std::log(1 - rng.Unit())) * std::cos(6.283185307179586 * rng.Unit());
}

// One hidden layer of tanh. Sparse inputs: a column's weights are added where it is set.
class Network {
 public:
  Network(size_t columns, Rng& rng)
      : in_(Eigen::MatrixXd::Zero(kHidden, static_cast<Eigen::Index>(columns))),
        bias_(kHidden),
        out_(kHidden) {
    for (Eigen::Index i = 0; i < in_.size(); ++i) in_.data()[i] = 0.3 * Normal(rng);
    for (Eigen::Index i = 0; i < kHidden; ++i) {
      bias_(i) = 0.3 * Normal(rng);
      out_(i) = Normal(rng) / std::sqrt(static_cast<double>(kHidden));
    }
  }

  double Value(const Features& features) const { return out_.dot(Hidden(features)) + shift_; }

  void Update(const Features& features, double target, double rate) {
    const Eigen::VectorXd hidden = Hidden(features);
    const double error = std::clamp(out_.dot(hidden) + shift_ - target, -2.0, 2.0);
    const Eigen::VectorXd inner = (error * out_.array() * (1 - hidden.array().square())).matrix();
    out_ -= rate * error * hidden;
    shift_ -= rate * error;
    bias_ -= rate * inner;
    for (uint32_t column : features) in_.col(column) -= rate * inner;
  }

 private:
  Eigen::VectorXd Hidden(const Features& features) const {
    Eigen::VectorXd sum = bias_;
    for (uint32_t column : features) sum += in_.col(column);
    return sum.array().tanh();
  }

  Eigen::MatrixXd in_;
  Eigen::VectorXd bias_;
  Eigen::VectorXd out_;
  double shift_ = 0;
};

class Ensemble final : public Model {
 public:
  void Fit(const Examples& examples, Rng& rng) override {
    const Eigen::Map<const Eigen::ArrayXd> values(
        examples.values.data(), static_cast<Eigen::Index>(examples.values.size()));
    mean_ = values.mean();
    scale_ = std::max(1e-6, std::sqrt((values - mean_).square().mean()));
    networks_.clear();
    for (size_t i = 0; i < kNetworks; ++i) {
      Network& network = networks_.emplace_back(examples.columns, rng);
      std::vector<size_t> drawn(examples.rows.size());
      for (size_t& row : drawn) row = rng.Below(drawn.size());
      for (int update = 0; update < kUpdates; ++update) {
        const size_t row = rng.Pick(drawn);
        const double rate = kRate * (1 - static_cast<double>(update) / kUpdates);
        network.Update(examples.rows[row], (examples.values[row] - mean_) / scale_, rate);
      }
    }
  }

  double Promise(const Features& features) const override {
    Eigen::ArrayXd values(kNetworks);
    for (size_t i = 0; i < kNetworks; ++i) {
      values(static_cast<Eigen::Index>(i)) = networks_[i].Value(features);
    }
    const double mean = values.mean();
    const double doubt = std::sqrt((values - mean).square().mean());
    return mean_ + scale_ * (mean - kDoubt * doubt);
  }

 private:
  std::vector<Network> networks_;
  double mean_ = 0;
  double scale_ = 1;
};

}  // namespace

std::unique_ptr<Chooser> MakeEnsemble(const Problem& problem, uint64_t seed) {
  return MakeStrategyChooser(
      problem, seed, MakeModelStrategy(problem, std::make_unique<Ensemble>()), FirstAsks::kSingles);
}

}  // namespace hone::choices
