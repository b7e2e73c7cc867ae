#include "compiler/implementations/dot_places.h"

#include "absl/algorithm/container.h"
#include "compiler/implementations/dimensions.h"

namespace hone::compiler {

std::vector<DotPlace> ResultPlaces(const xla::HloInstruction& dot) {
  const DotSide sides[] = {DotSideOf(dot, 0), DotSideOf(dot, 1)};
  std::vector<DotPlace> places;
  for (size_t k = 0; k < sides[0].batch.size(); ++k) {
    places.push_back({0, sides[0].batch[k], sides[1].batch[k]});
  }
  for (const int operand : {0, 1}) {
    for (const int64_t d : sides[operand].free) places.push_back({operand, d});
  }
  return places;
}

int64_t ResultPlaceOf(const xla::HloInstruction& dot, int operand, int64_t dimension) {
  const std::vector<DotPlace> places = ResultPlaces(dot);
  return absl::c_find_if(places,
                         [&](const DotPlace& one) {
                           return one.operand == operand && one.dimension == dimension;
                         }) -
         places.begin();
}

}  // namespace hone::compiler
