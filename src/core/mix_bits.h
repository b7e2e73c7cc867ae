// A number whose every bit depends on every bit of another.
#ifndef HONE_CORE_MIX_BITS_H_
#define HONE_CORE_MIX_BITS_H_

#include <cstdint>

namespace hone {

// SplitMix64's last steps, and what it adds before each (Steele, Lea, Flood: "Fast splittable
// pseudorandom number generators", 2014).
inline constexpr uint64_t kSplitMixStep = 0x9e3779b97f4a7c15ull;
inline uint64_t MixBits(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace hone

#endif  // HONE_CORE_MIX_BITS_H_
