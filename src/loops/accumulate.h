// Running sums, maxima and products along one dimension: their decisions and their text.
//
// Where others lie behind the dimension, [A,N,B], vectors of those are combined one after another.
// Where it is the last, [A,N], a vector is of neighbours along it: they are combined with those 1,
// 2, 4, ... places before them (Hillis and Steele, "Data parallel algorithms", CACM 1986) and then
// with what came before the vector, so that only one operation waits for the vector before.
#ifndef HONE_LOOPS_ACCUMULATE_H_
#define HONE_LOOPS_ACCUMULATE_H_

#include <string>
#include <vector>

#include "loops/own_text.h"

namespace hone::loops {

// What a schedule says of a nest that accumulates.
//   y parallel 4,0,64    which processors share; the dimension itself stays whole
//   y tile 0,0,16        elements in a vector: of the last loop
struct AccumulateSizes {
  std::vector<int64_t> parallel;  // 0: not shared
  int64_t lanes = 8;
};
AccumulateSizes AccumulateSizesOf(const Schedule& schedule, const Nest& nest);

std::string AccumulateText(const Schedule& schedule, const Nest& nest,
                           const std::vector<std::string>& buffers);

extern const OwnText kAccumulating;

}  // namespace hone::loops

#endif  // HONE_LOOPS_ACCUMULATE_H_
