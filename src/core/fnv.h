// A hash of text that is the same in every process and on every machine.
#ifndef HONE_CORE_FNV_H_
#define HONE_CORE_FNV_H_

#include <cstdint>
#include <string_view>

namespace hone {

inline constexpr uint64_t kFnvStart = 0xcbf29ce484222325ull;

// FNV-1a (Fowler, Noll, Vo), from another start for another hash.
inline uint64_t Fnv1a(std::string_view text, uint64_t hash = kFnvStart) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return hash;
}

}  // namespace hone

#endif  // HONE_CORE_FNV_H_
