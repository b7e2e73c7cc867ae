#include "search/choices/boosted_trees.h"

#include <numeric>

namespace hone::choices {

double BoostedTrees::Predict(const Features& features) const {
  double value = mean;
  for (const Tree& tree : trees) value += rate * tree.Predict(features);
  return value;
}

BoostedTrees Boost(const std::vector<Features>& rows, const std::vector<double>& values,
                   const BoostingOptions& options, Rng& rng) {
  BoostedTrees boosted;
  boosted.rate = options.rate;
  boosted.mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  boosted.trees.assign(options.trees, Tree());
  std::vector<size_t> all(rows.size());
  std::iota(all.begin(), all.end(), size_t{0});
  std::vector<double> residuals = values;
  for (double& residual : residuals) residual -= boosted.mean;
  for (Tree& tree : boosted.trees) {
    tree.Fit(rows, residuals, all, options.tree, rng);
    for (const size_t row : all) residuals[row] -= options.rate * tree.Predict(rows[row]);
  }
  return boosted;
}

}  // namespace hone::choices
