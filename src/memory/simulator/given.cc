#include "memory/simulator/given.h"

#include <cstdint>
#include <string>

namespace hone::memory {
namespace {

const std::string* BytesOfGiven(const Tensor& tensor, const Evaluation& evaluation) {
  if (tensor.parameter != kNone) {
    const auto p = static_cast<size_t>(tensor.parameter);
    return p < evaluation.parameters.size() ? &evaluation.parameters[p] : nullptr;
  }
  if (tensor.constant_computation == kNone) return nullptr;
  for (const LargeConstant& constant : evaluation.constants) {
    if (constant.computation == static_cast<uint32_t>(tensor.constant_computation) &&
        constant.instruction == static_cast<uint32_t>(tensor.constant_instruction)) {
      return &constant.bytes;
    }
  }
  return nullptr;
}

}  // namespace

std::optional<Array> GivenValues(const Tensor& tensor, const Evaluation& evaluation) {
  const std::string* const bytes = BytesOfGiven(tensor, evaluation);
  if (KindOf(tensor.type) == ValueKind::kNone || bytes == nullptr ||
      static_cast<int64_t>(bytes->size()) != tensor.Bytes()) {
    return std::nullopt;
  }
  return Decode(*bytes, tensor.type, tensor.dimensions);
}

}  // namespace hone::memory
