// Values that tasks are run on: the same from the same seed on both sides of the wire.
#ifndef HONE_LOOPS_INPUTS_H_
#define HONE_LOOPS_INPUTS_H_

#include <cstdint>

#include "loops/task.h"
#include "verify/element_types.h"

namespace hone::loops {

// Of verify's kinds: 0 is uniform in [-1, 1), 1 uniform in [0, 1), 2 of either sign and of several
// sizes; others are as 0 with another seed. Integers are as large as the element's row says. With
// `moved`, which numbers a run, floating-point values are off by one unit in their last place.
void FillInput(Element element, int64_t elements, int kind, uint64_t seed, uint64_t moved,
               void* to);

const verify::ElementType& StoredAs(Element element);

}  // namespace hone::loops

#endif  // HONE_LOOPS_INPUTS_H_
