#include "device/pjrt_types.h"

#include <utility>

namespace hone::device {
namespace {

constexpr std::pair<std::string_view, int> kNumbers[] = {
    {"pred", 1}, {"s8", 2},   {"s16", 3},  {"s32", 4},  {"s64", 5},   {"u8", 6},
    {"u16", 7},  {"u32", 8},  {"u64", 9},  {"f16", 10}, {"f32", 11},  {"f64", 12},
    {"bf16", 13}, {"c64", 14}, {"c128", 15}, {"f8e5m2", 16}};

}  // namespace

int PjrtNumber(std::string_view type) {
  for (const auto& [name, number] : kNumbers) {
    if (name == type) return number;
  }
  return -1;
}

const verify::ElementType* ElementTypeOfPjrt(int number) {
  for (const auto& [name, known] : kNumbers) {
    if (known == number) return verify::FindElementType(name);
  }
  return nullptr;
}

}  // namespace hone::device
