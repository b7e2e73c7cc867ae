// Stand-in: see README.md. A member of one of XLA's classes is such a map, so this one lies in memory as
// LLVM's does. It is filled by XLA alone, and here at most taken down.
#ifndef LLVM_ADT_DENSEMAP_H
#define LLVM_ADT_DENSEMAP_H

#include <cstdint>
#include <new>

namespace llvm {

template <typename Key, typename Value>
class DenseMap {
 public:
  DenseMap() = default;
  DenseMap(const DenseMap&) = delete;
  DenseMap& operator=(const DenseMap&) = delete;
  ~DenseMap() { ::operator delete(buckets_); }

 private:
  void* buckets_ = nullptr;
  uint32_t entries_ = 0;
  uint32_t tombstones_ = 0;
  uint32_t size_ = 0;
};

}  // namespace llvm

#endif  // LLVM_ADT_DENSEMAP_H
