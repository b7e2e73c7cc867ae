// Gradient boosted trees for the squared error (Friedman, "Greedy function approximation", 2001).
#include <numeric>

#include "search/choices/model.h"
#include "search/choices/tree.h"

namespace hone::choices {
namespace {

constexpr size_t kTrees = 80;
constexpr double kRate = 0.15;

class Boosting final : public Model {
 public:
  void Fit(const Examples& examples, Rng& rng) override {
    trees_.assign(kTrees, Tree());
    TreeOptions options;
    options.depth = 3;
    options.columns_share = 0.7;
    std::vector<size_t> rows(examples.rows.size());
    std::iota(rows.begin(), rows.end(), size_t{0});
    mean_ = std::accumulate(examples.values.begin(), examples.values.end(), 0.0) /
            static_cast<double>(rows.size());
    std::vector<double> residuals = examples.values;
    for (double& residual : residuals) residual -= mean_;
    for (Tree& tree : trees_) {
      tree.Fit(examples.rows, residuals, rows, options, rng);
      for (size_t row : rows) residuals[row] -= kRate * tree.Predict(examples.rows[row]);
    }
  }

  double Promise(const Features& features) const override {
    double value = mean_;
    for (const Tree& tree : trees_) value += kRate * tree.Predict(features);
    return value;
  }

 private:
  std::vector<Tree> trees_;
  double mean_ = 0;
};

}  // namespace

std::unique_ptr<Chooser> MakeBoosting(const Problem& problem, uint64_t seed) {
  return MakeStrategyChooser(
      problem, seed, MakeModelStrategy(problem, std::make_unique<Boosting>()), FirstAsks::kSingles);
}

}  // namespace hone::choices
