// Values as they are stored.
#include "verify/element_types.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace hone::verify {
namespace {

// The bits of a value as it is stored.
uint64_t Bits(const char* type, double value) {
  uint64_t bits = 0;
  WriteValues(*FindElementType(type), &value, 1, &bits);
  return bits;
}

TEST(WriteValues, GoesToTheNearestOfTwoAndToTheEvenOneBetween) {
  EXPECT_EQ(Bits("f16", 1), 0x3c00);
  EXPECT_EQ(Bits("f16", -2.5), 0xc100);
  EXPECT_EQ(Bits("f16", 65504), 0x7bff);
  EXPECT_EQ(Bits("f16", 0x1p-24), 0x0001);      // denormal
  EXPECT_EQ(Bits("f16", 0x1.ffcp-15), 0x0400);  // rounded up to the first normal one
  EXPECT_EQ(Bits("f16", 1 + 0x1p-11), 0x3c00);  // between 0x3c00 and 0x3c01
  EXPECT_EQ(Bits("f16", 1 + 3 * 0x1p-11), 0x3c02);
  EXPECT_EQ(Bits("f16", 2 - 0x1p-12), 0x4000);  // rounding carries
  EXPECT_EQ(Bits("bf16", 1 + 0x1p-8), 0x3f80);
  EXPECT_EQ(Bits("bf16", -(1 + 3 * 0x1p-8)), 0xbf82);
  EXPECT_EQ(Bits("f8e5m2", 1.25), 0x3d);
  EXPECT_EQ(Bits("f32", 1.5), 0x3fc00000);
  EXPECT_EQ(Bits("f64", 1.5), 0x3ff8000000000000);
  for (const char* type : {"f16", "bf16", "f8e5m2", "f32", "f64"}) {
    EXPECT_EQ(Bits(type, 0), 0) << type;
    EXPECT_EQ(Bits(type, -0.0), uint64_t{1} << (8 * FindElementType(type)->bytes - 1)) << type;
  }
}

TEST(WriteValues, KnowsWhatIsTooLargeAndNoNumber) {
  EXPECT_EQ(Bits("f16", 65519), 0x7bff);
  EXPECT_EQ(Bits("f16", 65520), 0x7c00);  // rounded up to infinity
  EXPECT_EQ(Bits("f16", -1e300), 0xfc00);
  EXPECT_EQ(Bits("bf16", 1e39), 0x7f80);
  EXPECT_EQ(Bits("f8e5m2", HUGE_VAL), 0x7c);
  EXPECT_EQ(Bits("bf16", -HUGE_VAL), 0xff80);
  for (const char* type : {"f16", "bf16", "f8e5m2", "f32", "f64"}) {
    const ElementType& of = *FindElementType(type);
    const uint64_t bits = Bits(type, std::nan(""));
    EXPECT_TRUE(std::isnan(Values(of, &bits, 0, 1)[0])) << type;
  }
}

TEST(WriteValues, KeepsIntegersAsTheyAre) {
  EXPECT_EQ(Bits("s8", -3), 0xfd);
  EXPECT_EQ(Bits("u16", 65535), 0xffff);
  EXPECT_EQ(Bits("pred", 1), 1);
  EXPECT_EQ(Bits("s32", -1), 0xffffffff);
}

// Of real types of at most 16 bits, every finite value.
TEST(ReadValues, ReadsWhatWasWritten) {
  for (const ElementType& type : ElementTypes()) {
    if (type.kind == NumberKind::kComplex) continue;
    std::vector<double> values = {0, 1};
    if (type.name.front() == 's') values.push_back(-100);
    if (type.kind == NumberKind::kReal) values.insert(values.end(), {-0.5, 0.0078125, -1.75});
    std::vector<char> bytes(type.bytes * values.size());
    WriteValues(type, values.data(), values.size(), bytes.data());
    EXPECT_EQ(Values(type, bytes.data(), 0, values.size()), values) << type.name;
    if (type.kind != NumberKind::kReal || type.bytes > 2) continue;
    const uint32_t infinity = ((1u << type.exponent_bits) - 1) << type.mantissa_bits;
    for (uint32_t bits = 0; bits < infinity; ++bits) {
      const double value = Values(type, &bits, 0, 1)[0];
      uint32_t again = 0;
      WriteValues(type, &value, 1, &again);
      ASSERT_EQ(again, bits) << type.name;
    }
  }
}

TEST(ReadInteger, CarriesTheSignUp) {
  const uint8_t byte = 0xfd;
  EXPECT_EQ(ReadInteger(*FindElementType("s8"), &byte), -3);
  EXPECT_EQ(ReadInteger(*FindElementType("u8"), &byte), 0xfd);
}

}  // namespace
}  // namespace hone::verify
