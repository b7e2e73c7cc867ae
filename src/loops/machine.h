// The processor that kernels are made for.
#ifndef HONE_LOOPS_MACHINE_H_
#define HONE_LOOPS_MACHINE_H_

#include <algorithm>
#include <cstdint>

#include "loops/task.h"

namespace hone::loops {

// What multiplies beside a processor's vectors of f32.
enum class Unit : uint8_t {
  kVectors,
  kPairs,  // vectors of bf16, the products of two neighbours at once (AVX512_BF16's vdpbf16ps)
  kTiles,  // a matrix unit for bf16 (Intel's AMX)
};

struct Machine {
  int threads = 1;
  int64_t vector_bytes = 32;
  int vector_registers = 16;
  bool tiles = false;
  bool pairs = false;
  // That the products of a vector of pairs take: AMD's as long as those of a vector of f32, Intel's
  // four times as long, so that two of f32 are sooner done.
  double pair_cycles = 0.5;

  bool Has(Unit unit) const {
    return unit == Unit::kTiles ? tiles : unit == Unit::kPairs ? pairs : true;
  }
  int64_t Lanes(Element element) const {
    return vector_bytes / static_cast<int64_t>(InfoOf(element).bytes);
  }
  // Into how many parts what is worth so many is shared, `each` for a processor at most.
  int64_t Parts(int64_t worth, int64_t each) const {
    return threads == 1 ? 1 : std::clamp<int64_t>(worth, 1, each * threads);
  }
};
// `threads`: how many of its threads share the work; all where that is 0.
Machine ThisMachine(int threads = 0);

// Points of a nest that are worth another processor: some 20 microseconds of work.
inline constexpr int64_t kLeastShared = 32768;
inline constexpr int64_t kLeastSharedOfContractions = 1 << 20;

}  // namespace hone::loops

#endif  // HONE_LOOPS_MACHINE_H_
