// What literals say and single operators compute.
#include <gtest/gtest.h>

#include <limits>

#include "memory/values/evaluate.h"

namespace hone::memory {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ParseLiteral, ReadsTheCommentsOfHighRanks) {
  const char* text =
      "{ { /*i0=0*/\n{ /*i1=0*/ { 0, -1e+09 } }, { /*i1=1*/ { 2.5, inf } } }, { /*i0=1*/ "
      "{ /*i1=0*/ { 4, 5 } }, { /*i1=1*/ { 6, 7 } } } }";
  const auto array = ParseLiteral(text, ElementType::kF32, {2, 2, 1, 2});
  ASSERT_TRUE(array) << array.error().message;
  EXPECT_EQ(array->reals, (std::vector<double>{0, -1e9, 2.5, kInfinity, 4, 5, 6, 7}));
  const auto small = ParseLiteral("{ { /*i0=0*/ {1, 0}, {0, 1} } }", ElementType::kPred, {1, 2, 2});
  ASSERT_TRUE(small) << small.error().message;
  EXPECT_EQ(small->integers, (std::vector<int64_t>{1, 0, 0, 1}));
}

TEST(ParseLiteral, SaysInShortWhatItCannotRead) {
  std::string text = "{ ";
  for (int k = 0; k < 1000; ++k) text += k == 500 ? "what, " : "1, ";
  const auto array = ParseLiteral(text + "}", ElementType::kF32, {1000});
  ASSERT_FALSE(array);
  EXPECT_NE(array.error().message.find("element 500 of a constant of type f32, at 'what, 1"),
            std::string::npos)
      << array.error().message;
  EXPECT_LT(array.error().message.size(), 120u);
  EXPECT_FALSE(ParseLiteral("{ /* 1", ElementType::kS32, {1}));
}

}  // namespace
}  // namespace hone::memory
