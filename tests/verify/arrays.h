// Small arrays to compare.
#ifndef HONE_TESTS_VERIFY_ARRAYS_H_
#define HONE_TESTS_VERIFY_ARRAYS_H_

#include <memory>
#include <utility>
#include <vector>

#include "verify/compare.h"

namespace hone::verify {

template <class T>
ArrayView ViewOf(const char* type, const std::vector<T>& values) {
  return {*FindElementType(type), {static_cast<int64_t>(values.size())}, values.data(),
          static_cast<int64_t>(values.size())};
}

// One array that owns its values.
template <class T>
Outputs OutputsOf(const char* type, std::vector<T> values) {
  auto owned = std::make_shared<std::vector<T>>(std::move(values));
  Outputs outputs;
  outputs.arrays.push_back(ViewOf(type, *owned));
  outputs.owner = std::move(owned);
  return outputs;
}

}  // namespace hone::verify

#endif  // HONE_TESTS_VERIFY_ARRAYS_H_
