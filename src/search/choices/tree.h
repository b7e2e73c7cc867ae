// A regression tree over sparse binary columns: a split asks whether a column is set.
#ifndef HONE_SEARCH_CHOICES_TREE_H_
#define HONE_SEARCH_CHOICES_TREE_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/rng.h"
#include "search/choices/model.h"

namespace hone::choices {

struct TreeOptions {
  int depth = 6;
  size_t least = 1;          // examples in a leaf
  double columns_share = 1;  // of the columns are looked at for a split, drawn anew for each
};

class Tree {
 public:
  struct Node {
    int64_t column = -1;  // none: a leaf
    double value = 0;     // the mean
    size_t set = 0;       // where to go on
    size_t unset = 0;
  };

  Tree() = default;
  // A tree of these nodes.
  explicit Tree(std::vector<Node> nodes) : nodes_(std::move(nodes)) {}
  const std::vector<Node>& nodes() const { return nodes_; }

  // `rows` are indices of examples, some perhaps several times; `values` is by example.
  void Fit(const std::vector<Features>& features, const std::vector<double>& values,
           const std::vector<size_t>& rows, const TreeOptions& options, Rng& rng);
  double Predict(const Features& features) const;

 private:
  std::vector<Node> nodes_;
};

}  // namespace hone::choices

#endif  // HONE_SEARCH_CHOICES_TREE_H_
