// Gradient boosted trees for the squared error (Friedman, "Greedy function approximation", 2001).
#ifndef HONE_SEARCH_CHOICES_BOOSTED_TREES_H_
#define HONE_SEARCH_CHOICES_BOOSTED_TREES_H_

#include <cstddef>
#include <vector>

#include "core/rng.h"
#include "search/choices/model.h"
#include "search/choices/tree.h"

namespace hone::choices {

struct BoostingOptions {
  size_t trees = 80;
  double rate = 0.15;  // how much of a tree counts
  TreeOptions tree = {3, 1, 0.7};
};

struct BoostedTrees {
  double mean = 0;
  double rate = 0.15;
  std::vector<Tree> trees;

  double Predict(const Features& features) const;
};

// There is at least one example.
BoostedTrees Boost(const std::vector<Features>& rows, const std::vector<double>& values,
                   const BoostingOptions& options, Rng& rng);

}  // namespace hone::choices

#endif  // HONE_SEARCH_CHOICES_BOOSTED_TREES_H_
