// Stand-in: see README.md. Members of XLA's structs are such vectors, so this one lies in memory as
// LLVM's does (a pointer, two 32-bit counts, room for N elements inside): for types that are copied as
// their bytes are, and no smaller than 4 bytes.
#ifndef LLVM_ADT_SMALLVECTOR_H
#define LLVM_ADT_SMALLVECTOR_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace llvm {

template <typename T, unsigned N>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) >= 4);

 public:
  SmallVector() = default;
  SmallVector(const SmallVector& other) { *this = other; }
  SmallVector& operator=(const SmallVector& other) {
    if (this == &other) return *this;
    if (other.size_ > capacity_) {
      Free();
      begin_ = static_cast<T*>(std::malloc(other.size_ * sizeof(T)));
      capacity_ = other.size_;
    }
    std::memcpy(begin_, other.begin_, other.size_ * sizeof(T));
    size_ = other.size_;
    return *this;
  }
  ~SmallVector() { Free(); }

  size_t size() const { return size_; }
  const T& operator[](size_t i) const { return begin_[i]; }
  const T& back() const { return begin_[size_ - 1]; }
  const T* begin() const { return begin_; }
  const T* end() const { return begin_ + size_; }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return a.size_ == b.size_ && std::memcmp(a.begin_, b.begin_, a.size_ * sizeof(T)) == 0;
  }

 private:
  T* inside() { return reinterpret_cast<T*>(inside_); }
  void Free() {
    if (begin_ != inside()) std::free(begin_);
  }

  T* begin_ = inside();
  uint32_t size_ = 0;
  uint32_t capacity_ = N;
  alignas(T) char inside_[N * sizeof(T)];
};

}  // namespace llvm

#endif  // LLVM_ADT_SMALLVECTOR_H
