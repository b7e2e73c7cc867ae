#include "memory/values/transform.h"

#include <bit>
#include <cmath>
#include <numbers>

namespace hone::memory {
namespace {

// A prime factor p costs p operations for each number; a convolution as much as about this.
constexpr size_t kLargestFactor = 61;

}  // namespace

Transform::Number Transform::Root(size_t numerator, size_t denominator, int sign) {
  // Within an eighth of the circle, where sine and cosine lose nothing.
  size_t eighths = 8 * (numerator % denominator);
  size_t octant = eighths / denominator;
  size_t rest = eighths % denominator;
  if (octant % 2 == 1) rest = denominator - rest;
  const long double angle = std::numbers::pi_v<long double> / 4 * static_cast<long double>(rest) /
                            static_cast<long double>(denominator);
  long double cosine = std::cos(angle), sine = std::sin(angle);
  if (octant % 4 == 1 || octant % 4 == 2) std::swap(cosine, sine);
  if (octant >= 2 && octant < 6) cosine = -cosine;
  if (octant >= 4) sine = -sine;
  return {cosine, sign < 0 ? -sine : sine};
}

Transform::Transform(size_t size, int sign) : size_(size) {
  size_t rest = size;
  for (size_t factor = 2; factor <= kLargestFactor && rest > 1; ++factor) {
    for (; rest % factor == 0; rest /= factor) factors_.push_back(factor);
  }
  if (rest <= 1) {
    for (size_t k = 0; k < size; ++k) roots_.push_back(Root(k, size, sign));
    return;
  }
  // jk = (j² + k² - (k - j)²) / 2
  const size_t length = std::bit_ceil(2 * size - 1);
  forth_ = std::make_unique<Transform>(length, -1);
  back_ = std::make_unique<Transform>(length, 1);
  std::vector<Number> kernel(length);
  for (size_t k = 0; k < size; ++k) {
    const Number chirp = Root(k * k % (2 * size), 2 * size, sign);
    const Number inverse = {chirp.real, -chirp.imag};
    chirp_.push_back(chirp);
    kernel[k] = inverse;
    if (k > 0) kernel[length - k] = inverse;
  }
  kernel_.resize(length);
  forth_->Run(kernel, kernel_);
}

Transform::~Transform() = default;

void Transform::ByFactors(const Number* in, size_t step, size_t size, size_t factor,
                          Number* out) const {
  if (size == 1) {
    out[0] = in[0];
    return;
  }
  const size_t parts = factors_[factor], each = size / parts;
  for (size_t part = 0; part < parts; ++part) {
    ByFactors(in + part * step, step * parts, each, factor + 1, out + part * each);
  }
  Number turned[kLargestFactor + 1];
  for (size_t k = 0; k < each; ++k) {
    for (size_t part = 0; part < parts; ++part) {
      turned[part] = Times(out[part * each + k], roots_[part * k * step]);
    }
    if (parts == 2) {
      out[k] = {turned[0].real + turned[1].real, turned[0].imag + turned[1].imag};
      out[each + k] = {turned[0].real - turned[1].real, turned[0].imag - turned[1].imag};
      continue;
    }
    for (size_t q = 0; q < parts; ++q) {
      Number sum = turned[0];
      for (size_t part = 1; part < parts; ++part) {
        const Number term = Times(turned[part], roots_[part * q % parts * each * step]);
        sum.real += term.real;
        sum.imag += term.imag;
      }
      out[q * each + k] = sum;
    }
  }
}

void Transform::AsConvolution(const std::vector<Number>& in, std::vector<Number>& out) const {
  std::vector<Number> chirped(kernel_.size()), transformed(kernel_.size());
  for (size_t k = 0; k < size_; ++k) chirped[k] = Times(in[k], chirp_[k]);
  forth_->Run(chirped, transformed);
  for (size_t k = 0; k < kernel_.size(); ++k) transformed[k] = Times(transformed[k], kernel_[k]);
  back_->Run(transformed, chirped);
  const long double scale = 1 / static_cast<long double>(kernel_.size());
  for (size_t k = 0; k < size_; ++k) {
    const Number value = Times(chirped[k], chirp_[k]);
    out[k] = {value.real * scale, value.imag * scale};
  }
}

void Transform::Run(const std::vector<Number>& in, std::vector<Number>& out) const {
  if (forth_) return AsConvolution(in, out);
  if (size_ > 0) ByFactors(in.data(), 1, size_, 0, out.data());
}

void Transform::Run(std::vector<std::complex<double>>& values) const {
  std::vector<Number> in, out(size_);
  for (const std::complex<double>& value : values) in.push_back({value.real(), value.imag()});
  Run(in, out);
  for (size_t k = 0; k < size_; ++k) {
    values[k] = {static_cast<double>(out[k].real), static_cast<double>(out[k].imag)};
  }
}

}  // namespace hone::memory
