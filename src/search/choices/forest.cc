// A random forest (Breiman 2001); the spread of its trees is its doubt.
#include <cmath>

#include "search/choices/model.h"
#include "search/choices/tree.h"

namespace hone::choices {
namespace {

constexpr size_t kTrees = 40;
constexpr double kDoubt = 0.3;  // standard deviations taken off the mean

class Forest final : public Model {
 public:
  void Fit(const Examples& examples, Rng& rng) override {
    trees_.assign(kTrees, Tree());
    TreeOptions options;
    options.depth = 12;
    options.columns_share = 0.4;
    std::vector<size_t> drawn(examples.rows.size());
    for (Tree& tree : trees_) {
      for (size_t& row : drawn) row = rng.Below(drawn.size());
      tree.Fit(examples.rows, examples.values, drawn, options, rng);
    }
  }

  double Promise(const Features& features) const override {
    double sum = 0;
    double squares = 0;
    for (const Tree& tree : trees_) {
      const double value = tree.Predict(features);
      sum += value;
      squares += value * value;
    }
    const double mean = sum / kTrees;
    return mean - kDoubt * std::sqrt(std::max(0.0, squares / kTrees - mean * mean));
  }

 private:
  std::vector<Tree> trees_;
};

}  // namespace

std::unique_ptr<Chooser> MakeForest(const Problem& problem, uint64_t seed) {
  return MakeStrategyChooser(problem, seed, MakeModelStrategy(problem, std::make_unique<Forest>()),
                             FirstAsks::kSingles);
}

}  // namespace hone::choices
