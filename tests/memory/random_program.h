// Small random programs of all operations that plans are made of, for tests and measurements.
#ifndef HONE_TESTS_MEMORY_RANDOM_PROGRAM_H_
#define HONE_TESTS_MEMORY_RANDOM_PROGRAM_H_

#include <cstdint>
#include <string>

#include "core/program_graph.h"

namespace hone::memory {

struct RandomProgram {
  ProgramGraph graph;
  std::string text;  // the same as HLO text
};

// Of about a dozen instructions over arrays of at most a few hundred elements, a few parameters,
// and one to three outputs; legal for all inputs, and continuous in those of floating point. The
// same seed makes the same program. `wider`: also with bfloat16, loops that end when their data say
// so and loops within them, branches, random bits, tuples in tuples, sorts of pairs, gathers and
// scatters of columns.
RandomProgram MakeRandomProgram(uint64_t seed, bool wider = false);

}  // namespace hone::memory

#endif  // HONE_TESTS_MEMORY_RANDOM_PROGRAM_H_
