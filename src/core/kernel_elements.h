// Element types of kernels' arrays, a row each. Tasks, the values that they run on, checks, machine
// code, and the compiler's search for kernels read them here; verify::ElementTypes() has how each
// is stored.
#ifndef HONE_CORE_KERNEL_ELEMENTS_H_
#define HONE_CORE_KERNEL_ELEMENTS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hone::loops {

// How f32 is made of what is stored. Types with a widening are narrow: only inputs have them, and
// what reads one computes in f32.
enum class Widening : uint8_t {
  kNone,       // computed in as it is
  kUpperHalf,  // the bits are the upper half of a float's
  kFloat,      // a smaller float
  kSigned,
  kUnsigned,
  kRounds,  // a float's nearest number of bf16
};

// The columns: enumerator; name, XLA's but for the last; bytes; MLIR's type in memory, which is an
// integer where MLIR's arithmetic would not widen well; whether floating-point; widening; for
// matrix units, how many bf16 numbers add up to an element, 0 where it takes too many; of integers,
// the range that inputs are drawn from.
#define HONE_KERNEL_ELEMENTS(ROW)                         \
  ROW(kF32, "f32", 4, "f32", true, kNone, 3, 0, 0)        \
  ROW(kF64, "f64", 8, "f64", true, kNone, 0, 0, 0)        \
  ROW(kI32, "s32", 4, "i32", false, kNone, 0, -8, 8)      \
  ROW(kBF16, "bf16", 2, "i16", true, kUpperHalf, 1, 0, 0) \
  ROW(kF16, "f16", 2, "f16", true, kFloat, 2, 0, 0)       \
  ROW(kPred, "pred", 1, "i8", false, kUnsigned, 1, 0, 1)  \
  ROW(kI8, "s8", 1, "i8", false, kSigned, 1, -127, 127)   \
  ROW(kU8, "u8", 1, "i8", false, kUnsigned, 1, 0, 255)    \
  ROW(kF32AsBF16, "f32_as_bf16", 4, "f32", true, kRounds, 1, 0, 0)

#define HONE_ENUMERATOR(enumerator, ...) enumerator,
enum class Element : uint8_t { HONE_KERNEL_ELEMENTS(HONE_ENUMERATOR) };
#undef HONE_ENUMERATOR

struct ElementInfo {
  Element element;
  const char* name;
  size_t bytes;
  const char* memory;
  bool floating;
  Widening widening;
  int pieces;
  int least;
  int most;

  constexpr bool narrow() const { return widening != Widening::kNone; }
  // XLA's name of what lies in memory.
  constexpr const char* stored() const { return widening == Widening::kRounds ? "f32" : name; }
  // Whether what lies in memory is bits to MLIR.
  constexpr bool bits() const { return memory[0] == 'i'; }
};

#define HONE_INFO(enumerator, name, bytes, memory, floating, widening, pieces, least, most) \
  {Element::enumerator, name, bytes, memory, floating, Widening::widening, pieces, least, most},
inline constexpr ElementInfo kElements[] = {HONE_KERNEL_ELEMENTS(HONE_INFO)};
#undef HONE_INFO

inline constexpr const ElementInfo& InfoOf(Element element) {
  return kElements[static_cast<size_t>(element)];
}

// Null where there is no such name.
inline const ElementInfo* FindElement(std::string_view name) {
  for (const ElementInfo& info : kElements) {
    if (name == info.name) return &info;
  }
  return nullptr;
}

// The type that is computed in: f32 of a narrow one, else the same.
inline constexpr Element WideOf(Element element) {
  return InfoOf(element).narrow() ? Element::kF32 : element;
}

}  // namespace hone::loops

#endif  // HONE_CORE_KERNEL_ELEMENTS_H_
