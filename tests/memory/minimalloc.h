// The hard instances of google/minimalloc: minimalloc/*.csv.
#ifndef HONE_TESTS_MEMORY_MINIMALLOC_H_
#define HONE_TESTS_MEMORY_MINIMALLOC_H_

#include <istream>

#include "memory/allocation/allocation.h"

namespace hone::memory {

// Lines of id,lower,upper,size behind a heading; the capacity is that of all of them.
AllocationProblem ReadMinimalloc(std::istream& file);

}  // namespace hone::memory

#endif  // HONE_TESTS_MEMORY_MINIMALLOC_H_
