// What literals say and single operators compute.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <random>

#include "memory/values/evaluate.h"
#include "memory/values/transform.h"

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

// As its definition says, in long double: powers of two, other composites, primes up to 61, primes
// above (whose transforms are convolutions), and products of both kinds.
TEST(Transform, IsWhatItsDefinitionSaysToTheLastBits) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> between(-1, 1);
  for (size_t size : {1, 2, 3, 4, 8, 30, 47, 61, 64, 67, 96, 101, 134, 210, 360, 509, 512, 1000}) {
    for (int sign : {-1, 1}) {
      std::vector<std::complex<double>> values(size);
      for (auto& value : values) value = {between(random), between(random)};
      std::vector<std::complex<double>> result = values;
      Transform(size, sign).Run(result);
      for (size_t k = 0; k < size; ++k) {
        long double real = 0, imag = 0;
        for (size_t j = 0; j < size; ++j) {
          const long double angle = sign * 2 * std::numbers::pi_v<long double> *
                                    static_cast<long double>(j * k % size) /
                                    static_cast<long double>(size);
          real += values[j].real() * std::cos(angle) - values[j].imag() * std::sin(angle);
          imag += values[j].real() * std::sin(angle) + values[j].imag() * std::cos(angle);
        }
        // A unit in the last place of doubles, where both are rounded near a tie.
        const auto most = [&](long double value) {
          return 2.3e-16 * static_cast<double>(std::abs(value)) + 1e-18 * static_cast<double>(size);
        };
        ASSERT_NEAR(result[k].real(), static_cast<double>(real), most(real)) << size << " at " << k;
        ASSERT_NEAR(result[k].imag(), static_cast<double>(imag), most(imag)) << size << " at " << k;
      }
    }
  }
}

TEST(EvaluateFft, OfRealNumbersThereAndBack) {
  Network network;
  network.tensors.resize(2);
  Op there, back;
  there.opcode = back.opcode = "fft";
  there.texts["fft_type"] = "RFFT";
  back.texts["fft_type"] = "IRFFT";
  there.lists["fft_length"] = back.lists["fft_length"] = {6, 11};
  there.results = {0};
  back.results = {1};
  network.tensors[0].type = ElementType::kC128;
  network.tensors[1].type = ElementType::kF64;
  Array in = MakeArray(ElementType::kF64, WholeBox({2, 6, 11}));
  for (size_t k = 0; k < in.reals.size(); ++k) in.reals[k] = std::sin(static_cast<double>(k * k));
  const auto half = EvaluateOp(network, there, {in}, {WholeBox({2, 6, 6})});
  ASSERT_TRUE(half) << half.error().message;
  const auto again = EvaluateOp(network, back, *half, {WholeBox({2, 6, 11})});
  ASSERT_TRUE(again) << again.error().message;
  for (size_t k = 0; k < in.reals.size(); ++k) {
    ASSERT_NEAR((*again)[0].reals[k], in.reals[k], 1e-15);
  }
}

}  // namespace
}  // namespace hone::memory
