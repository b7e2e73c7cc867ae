// A program's inputs: parameters and large constants.
#ifndef HONE_MEMORY_SIMULATOR_GIVEN_H_
#define HONE_MEMORY_SIMULATOR_GIVEN_H_

#include <optional>

#include "core/evaluation.h"
#include "memory/network.h"
#include "memory/values/array.h"

namespace hone::memory {

// A tensor that no operator makes, as XLA had it; none where the evaluation has none of its size.
std::optional<Array> GivenValues(const Tensor& tensor, const Evaluation& evaluation);

}  // namespace hone::memory

#endif  // HONE_MEMORY_SIMULATOR_GIVEN_H_
