#include "loops/inputs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "core/rng.h"
#include "verify/move_values.h"

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

const verify::ElementType& StoredAs(Element element) {
  const verify::ElementType* const type = verify::FindElementType(InfoOf(element).stored());
  HONE_CHECK(type != nullptr);
  return *type;
}

void FillInput(Element element, int64_t elements, int kind, uint64_t seed, uint64_t moved,
               void* to) {
  Rng rng(seed * 0x9e3779b97f4a7c15ull + static_cast<uint64_t>(kind));
  const ElementInfo& info = InfoOf(element);
  const verify::ElementType& type = StoredAs(element);
  const auto draw = [&]() -> double {
    if (info.floating) return Value(rng, kind);
    return static_cast<int>(rng.Below(static_cast<size_t>(info.most - info.least + 1))) +
           info.least;
  };
  double values[256];
  char* at = static_cast<char*>(to);
  for (int64_t left = elements; left > 0;) {
    const size_t count = std::min<size_t>(static_cast<size_t>(left), std::size(values));
    for (size_t i = 0; i < count; ++i) values[i] = draw();
    verify::WriteValues(type, values, count, at);
    at += count * type.bytes;
    left -= static_cast<int64_t>(count);
  }
  if (moved != 0) verify::MoveByOneUnit(type, to, elements, seed * 1000003 + moved);
}

}  // namespace hone::loops
