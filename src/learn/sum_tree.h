// Weights that change, and draws in proportion to them, in logarithmic time.
#ifndef HONE_LEARN_SUM_TREE_H_
#define HONE_LEARN_SUM_TREE_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hone::learn {

// Schaul et al. 2016, "Prioritized Experience Replay", appendix B.2.1. A sum is always that of its
// two halves, so that errors do not gather.
class SumTree {
 public:
  explicit SumTree(int64_t size)
      : leaves_(std::bit_ceil(static_cast<size_t>(size))), nodes_(2 * leaves_, 0.0) {}

  double total() const { return nodes_[1]; }
  double weight(int64_t item) const { return nodes_[leaves_ + static_cast<size_t>(item)]; }

  // `weight` >= 0.
  void Set(int64_t item, double weight) {
    size_t node = leaves_ + static_cast<size_t>(item);
    nodes_[node] = weight;
    for (node /= 2; node > 0; node /= 2) nodes_[node] = nodes_[2 * node] + nodes_[2 * node + 1];
  }

  // The item in which a running sum of weights exceeds `prefix`, in [0, total()); total() > 0.
  // Never one of weight 0, whatever the rounding.
  int64_t Find(double prefix) const {
    size_t node = 1;
    while (node < leaves_) {
      node *= 2;
      if (prefix < nodes_[node] || nodes_[node + 1] <= 0) continue;
      prefix -= nodes_[node++];
    }
    return static_cast<int64_t>(node - leaves_);
  }

 private:
  size_t leaves_;
  std::vector<double> nodes_;  // the root is 1, the children of i are 2i and 2i + 1
};

}  // namespace hone::learn

#endif  // HONE_LEARN_SUM_TREE_H_
