#include "compiler/implementations/dot_places.h"

#include "absl/algorithm/container.h"

namespace hone::compiler {

std::vector<DotPlace> ResultPlaces(const xla::HloInstruction& dot) {
  const auto& numbers = dot.dot_dimension_numbers();
  std::vector<DotPlace> places;
  for (int i = 0; i < numbers.lhs_batch_dimensions_size(); ++i) {
    places.push_back({0, numbers.lhs_batch_dimensions(i), numbers.rhs_batch_dimensions(i)});
  }
  const auto rest = [&](int operand, const auto& batches, const auto& contracted) {
    const auto size = static_cast<int64_t>(dot.operand(operand)->shape().dimensions().size());
    for (int64_t d = 0; d < size; ++d) {
      if (absl::c_linear_search(batches, d) || absl::c_linear_search(contracted, d)) continue;
      places.push_back({operand, d});
    }
  };
  rest(0, numbers.lhs_batch_dimensions(), numbers.lhs_contracting_dimensions());
  rest(1, numbers.rhs_batch_dimensions(), numbers.rhs_contracting_dimensions());
  return places;
}

}  // namespace hone::compiler
