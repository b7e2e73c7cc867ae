// Does a kernel compute its task? By the one rule (src/verify), against the interpreter.
#ifndef HONE_LOOPS_VERIFY_H_
#define HONE_LOOPS_VERIFY_H_

#include "core/comparison.h"
#include "loops/generator.h"

namespace hone::loops {

// Of tasks that are large some elements are looked at: as many as the interpreter computes in about
// a tenth of a second.
ComparisonReport Verify(Generator& generator, const Kernel& kernel, const CompareOptions& options);

}  // namespace hone::loops

#endif  // HONE_LOOPS_VERIFY_H_
