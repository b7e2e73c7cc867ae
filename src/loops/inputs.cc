#include "loops/inputs.h"

#include <cmath>
#include <cstddef>

#include "core/rng.h"
#include "verify/compare_output.h"

namespace hone::loops {
namespace {

double Value(Rng& rng, int kind) {
  const double unit = rng.Unit();
  switch (kind) {
    case 1:
      return unit;
    case 2: {
      const double size = std::exp2(-static_cast<double>(rng.Below(8)));
      return (2 * unit - 1) * size;
    }
    default:
      return 2 * unit - 1;
  }
}

}  // namespace

void FillInput(Element element, int64_t elements, int kind, uint64_t seed, uint64_t moved,
               void* to) {
  Rng rng(seed * 0x9e3779b97f4a7c15ull + static_cast<uint64_t>(kind));
  for (int64_t i = 0; i < elements; ++i) {
    switch (element) {
      case Element::kF32:
        static_cast<float*>(to)[i] = static_cast<float>(Value(rng, kind));
        break;
      case Element::kF64:
        static_cast<double*>(to)[i] = Value(rng, kind);
        break;
      case Element::kI32:
        static_cast<int32_t*>(to)[i] = static_cast<int32_t>(rng.Below(17)) - 8;
        break;
    }
  }
  if (moved == 0) return;
  const verify::ElementType* const type = verify::FindElementType(InfoOf(element).name);
  HONE_CHECK(type != nullptr);
  verify::MoveByOneUnit(*type, to, elements, seed * 1000003 + moved);
}

}  // namespace hone::loops
