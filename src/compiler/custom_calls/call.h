// One call of a custom-call handler: its operands, results and attributes, checked as they are
// asked for.
//
// Matrices lie column by column, one after the other along all leading dimensions: so does JAX lay
// them out for LAPACK. After the first misfit all that is asked for is empty, and error() says what
// it was.
#ifndef HONE_COMPILER_CUSTOM_CALLS_CALL_H_
#define HONE_COMPILER_CUSTOM_CALLS_CALL_H_

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "xla/ffi/api/ffi.h"

namespace hone::compiler {

// Of a batch of matrices, or of vectors as matrices of one column.
template <class T>
struct Matrices {
  T* data = nullptr;
  int64_t batch = 0, rows = 0, columns = 0;

  int64_t size() const { return rows * columns; }
  T* at(int64_t matrix) const { return data + matrix * size(); }
};

class Call {
 public:
  static constexpr int64_t kAny = -1;

  Call(const xla::ffi::RemainingArgs& operands, const xla::ffi::RemainingRets& results,
       const xla::ffi::Dictionary& attributes)
      : operands_(operands), results_(results), attributes_(attributes) {}

  bool ok() const { return error_.success(); }
  const xla::ffi::Error& error() const { return error_; }

  // Keeps the first error.
  void Fail(std::string what) {
    if (ok()) error_ = xla::ffi::Error::InvalidArgument(std::move(what));
  }
  void Require(bool condition, const char* what) {
    if (!condition) Fail(what);
  }

  template <class T>
  Matrices<const T> Operand(size_t index, int64_t rows = kAny, int64_t columns = kAny) {
    const Matrices<T> found =
        Taken<T>(operands_.get<xla::ffi::AnyBuffer>(index), "operand", index, 2, rows, columns);
    return {found.data, found.batch, found.rows, found.columns};
  }
  template <class T>
  Matrices<const T> VectorOperand(size_t index, int64_t length = kAny) {
    const Matrices<T> found =
        Taken<T>(operands_.get<xla::ffi::AnyBuffer>(index), "operand", index, 1, length, 1);
    return {found.data, found.batch, found.rows, found.columns};
  }
  template <class T>
  Matrices<T> Result(size_t index, int64_t rows, int64_t columns) {
    return Taken<T>(ResultBuffer(index), "result", index, 2, rows, columns);
  }
  template <class T>
  Matrices<T> VectorResult(size_t index, int64_t length) {
    return Taken<T>(ResultBuffer(index), "result", index, 1, length, 1);
  }
  // One number for each matrix.
  Matrices<int32_t> IntegerResult(size_t index) {
    return Taken<int32_t>(ResultBuffer(index), "result", index, 0, 1, 1);
  }

  // One of `allowed`, which JAX passes as a number of eight bits.
  char Letter(const char* name, const std::string& allowed) {
    const auto value = attributes_.get<uint8_t>(name);
    if (!value.has_value()) {
      Fail(std::string("attribute ") + name + " is missing or not a u8");
      return allowed[0];
    }
    const char letter = static_cast<char>(*value);
    if (allowed.find(letter) != std::string::npos) return letter;
    Fail(std::string("attribute ") + name + " is " + std::to_string(*value) +
         ", not one of the letters " + allowed);
    return allowed[0];
  }
  template <class T>
  T Attribute(const char* name) {
    const auto value = attributes_.get<T>(name);
    if (value.has_value()) return *value;
    Fail(std::string("attribute ") + name + " is missing or of another type");
    return T{};
  }

  // A result that starts as a copy of an operand, as XLA may have them in one place or in two.
  template <class T>
  static void Copy(const Matrices<const T>& from, const Matrices<T>& to) {
    if (from.data == to.data) return;
    for (int64_t i = 0; i < from.batch * from.size(); ++i) to.data[i] = from.data[i];
  }

 private:
  xla::ffi::ErrorOr<xla::ffi::AnyBuffer> ResultBuffer(size_t index) {
    auto result = results_.get<xla::ffi::AnyBuffer>(index);
    if (!result.has_value()) return xla::ffi::Unexpected(result.error());
    return **result;
  }

  template <class T>
  Matrices<T> Taken(const xla::ffi::ErrorOr<xla::ffi::AnyBuffer>& buffer, const char* kind,
                    size_t index, int64_t own_dimensions, int64_t rows, int64_t columns) {
    if (!ok()) return {};
    const std::string which = std::string(kind) + " " + std::to_string(index);
    if (!buffer.has_value()) {
      Fail(which + " is missing");
      return {};
    }
    if (buffer->element_type() != TypeOf<T>()) {
      Fail(which + " has another element type than the call's name says");
      return {};
    }
    const auto dimensions = buffer->dimensions();
    const int64_t rank = static_cast<int64_t>(dimensions.size());
    if (rank < own_dimensions) {
      Fail(which + " has too few dimensions");
      return {};
    }
    Matrices<T> found{static_cast<T*>(buffer->untyped_data()), 1, 1, 1};
    for (int64_t d = 0; d < rank - own_dimensions; ++d) found.batch *= dimensions[d];
    if (own_dimensions >= 1) found.rows = dimensions[rank - own_dimensions];
    if (own_dimensions == 2) found.columns = dimensions[rank - 1];
    if (batch_ < 0) batch_ = found.batch;
    constexpr int64_t kMost = 0x7fffffff;  // LAPACK's integers have 32 bits
    if (found.batch != batch_ || (rows != kAny && found.rows != rows) ||
        (columns != kAny && found.columns != columns) || found.rows > kMost ||
        found.columns > kMost) {
      Fail(which + " has a shape that does not fit the others'");
      return {};
    }
    return found;
  }

  template <class T>
  static constexpr xla::ffi::DataType TypeOf() {
    using xla::ffi::DataType;
    if constexpr (std::is_same_v<T, float>) return DataType::F32;
    if constexpr (std::is_same_v<T, double>) return DataType::F64;
    if constexpr (std::is_same_v<T, std::complex<float>>) return DataType::C64;
    if constexpr (std::is_same_v<T, std::complex<double>>) return DataType::C128;
    if constexpr (std::is_same_v<T, int32_t>) return DataType::S32;
    if constexpr (std::is_same_v<T, int64_t>) return DataType::S64;
  }

  const xla::ffi::RemainingArgs& operands_;
  const xla::ffi::RemainingRets& results_;
  const xla::ffi::Dictionary& attributes_;
  xla::ffi::Error error_;
  int64_t batch_ = -1;  // once known
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_CUSTOM_CALLS_CALL_H_
