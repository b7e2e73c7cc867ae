// Seeds of generated inputs that several questions share, so that the inputs are made once.
#ifndef HONE_CORE_INPUT_SEED_H_
#define HONE_CORE_INPUT_SEED_H_

#include <cstdint>

namespace hone {

// Of the first input set that a comparison with this seed generates (verify/compare.cc). Races and
// profiles of programs that are going to be compared are run on it.
inline constexpr uint64_t FirstInputsSeed(uint64_t seed) { return seed * 1000003; }

}  // namespace hone

#endif  // HONE_CORE_INPUT_SEED_H_
