#include "loops/own_text.h"

#include <fmt/format.h>

#include "core/result.h"
#include "loops/accumulate.h"
#include "loops/attend.h"
#include "loops/depthwise.h"
#include "loops/factor.h"
#include "loops/multiply.h"
#include "loops/sort.h"

namespace hone::loops {

std::string WhyNeitherSharedNorTiled(std::string_view what, const SiteState& state,
                                     const Step& step) {
  if (step.kind == StepKind::kParallel) return "";
  if (step.kind != StepKind::kTile) {
    return fmt::format("of what {} there is parallel and tile to decide", what);
  }
  return state.tiles > 0 ? "it is tiled already" : "";
}

const OwnText& OwnTextOf(const Nest& nest) {
  switch (nest.kind) {
    case NestKind::kAttends:
      return kAttending;
    case NestKind::kMultiplies:
      return kMultiplying;
    case NestKind::kAccumulates:
      return kAccumulating;
    case NestKind::kSlides:
      return kSliding;
    case NestKind::kSorts:
      return kSorting;
    case NestKind::kFactors:
      return kFactoring;
    case NestKind::kLoops:
      break;
  }
  HONE_CHECK(false);
}

}  // namespace hone::loops
