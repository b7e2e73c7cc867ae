#include "loops/own_text.h"

#include "core/result.h"
#include "loops/accumulate.h"
#include "loops/attend.h"
#include "loops/depthwise.h"
#include "loops/factor.h"
#include "loops/multiply.h"
#include "loops/sort.h"

namespace hone::loops {

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
