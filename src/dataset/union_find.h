// Sets that grow together.
#ifndef HONE_DATASET_UNION_FIND_H_
#define HONE_DATASET_UNION_FIND_H_

#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace hone::dataset {

// The elements 0 … size-1, each alone at first. A set's name is its smallest element, so it does
// not depend on the order of the joins.
class UnionFind {
 public:
  explicit UnionFind(size_t size) : parent_(size) {
    std::iota(parent_.begin(), parent_.end(), size_t{0});
  }

  size_t Find(size_t element) {
    while (parent_[element] != element) {
      parent_[element] = parent_[parent_[element]];
      element = parent_[element];
    }
    return element;
  }

  void Join(size_t a, size_t b) {
    a = Find(a);
    b = Find(b);
    if (b < a) std::swap(a, b);
    parent_[b] = a;
  }

 private:
  std::vector<size_t> parent_;
};

}  // namespace hone::dataset

#endif  // HONE_DATASET_UNION_FIND_H_
