// The 128-bit name of a program state.
#ifndef HONE_CORE_FINGERPRINT_H_
#define HONE_CORE_FINGERPRINT_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

namespace hone {

// A structural hash: opcodes, shapes with layouts, attributes, constants, operands, called
// computations and the module's aliasing. Names, ids, metadata and the order of the instruction
// list are left out, so two equal fingerprints can still hide another instruction order.
struct Fingerprint {
  uint64_t high = 0;
  uint64_t low = 0;

  friend bool operator==(const Fingerprint& a, const Fingerprint& b) {
    return a.high == b.high && a.low == b.low;
  }
  friend bool operator!=(const Fingerprint& a, const Fingerprint& b) { return !(a == b); }
  friend bool operator<(const Fingerprint& a, const Fingerprint& b) {
    return a.high != b.high ? a.high < b.high : a.low < b.low;
  }

  // 32 lower-case hexadecimal digits.
  std::string ToHex() const {
    char text[33];
    std::snprintf(text, sizeof(text), "%016llx%016llx", static_cast<unsigned long long>(high),
                  static_cast<unsigned long long>(low));
    return text;
  }
};

}  // namespace hone

template <>
struct std::hash<hone::Fingerprint> {
  size_t operator()(const hone::Fingerprint& f) const noexcept {
    return static_cast<size_t>(f.high ^ (f.low * 0x9e3779b97f4a7c15ull));
  }
};

#endif  // HONE_CORE_FINGERPRINT_H_
