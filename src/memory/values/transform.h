// Discrete Fourier transforms of one dimension.
#ifndef HONE_MEMORY_VALUES_TRANSFORM_H_
#define HONE_MEMORY_VALUES_TRANSFORM_H_

#include <complex>
#include <cstddef>
#include <memory>
#include <vector>

namespace hone::memory {

// Of `size` numbers each: out[k] = Σ_j in[j] · exp(sign · 2πi · jk / size), not scaled. In long
// double, so that what double precision asks of a result is met with room to spare: a program's own
// rounding is what outputs are compared by, not that of the reference. By factors of the size
// (Cooley and Tukey 1965); sizes with a large prime factor as a convolution (Bluestein 1970).
class Transform {
 public:
  Transform(size_t size, int sign);
  ~Transform();
  Transform(const Transform&) = delete;
  Transform& operator=(const Transform&) = delete;

  void Run(std::vector<std::complex<double>>& values) const;

 private:
  struct Number {
    long double real = 0, imag = 0;
  };
  static Number Times(Number a, Number b) {
    return {a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real};
  }
  // exp(sign · 2πi · numerator / denominator)
  static Number Root(size_t numerator, size_t denominator, int sign);

  void Run(const std::vector<Number>& in, std::vector<Number>& out) const;
  // `size` numbers that lie `step` apart, by the factors from `factor` on.
  void ByFactors(const Number* in, size_t step, size_t size, size_t factor, Number* out) const;
  void AsConvolution(const std::vector<Number>& in, std::vector<Number>& out) const;

  size_t size_;
  std::vector<size_t> factors_;
  std::vector<Number> roots_;  // exp(sign · 2πi · k / size)
  // Of a convolution: a larger transform and its inverse, what numbers are multiplied by before and
  // after, and what they are convolved with, transformed.
  std::unique_ptr<Transform> forth_, back_;
  std::vector<Number> chirp_, kernel_;
};

}  // namespace hone::memory

#endif  // HONE_MEMORY_VALUES_TRANSFORM_H_
