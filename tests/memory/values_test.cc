// What literals say and single operators compute.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <random>

#include "memory/values/evaluate.h"
#include "memory/values/transform.h"
#include "small_programs.h"

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

TEST(DecodeRun, ReadsWhatDecodeElementDoes) {
  std::mt19937_64 random(2);
  for (int t = 0; t < static_cast<int>(ElementType::kOther); ++t) {
    const auto type = static_cast<ElementType>(t);
    const int64_t size = BytesOf(type), count = 9;
    for (const int64_t step : {size, 3 * size}) {
      std::string bytes(static_cast<size_t>(count * step), 0);
      for (char& byte : bytes) byte = static_cast<char>(random());
      if (KindOf(type) == ValueKind::kReal || KindOf(type) == ValueKind::kComplex) {
        for (char& byte : bytes) byte &= 0x3f;  // no NaNs
      }
      Array run = MakeArray(type, WholeBox({count})), one = run;
      DecodeRun(bytes.data(), step, count, run, 0);
      for (int64_t k = 0; k < count; ++k)
        DecodeElement(&bytes[static_cast<size_t>(k * step)], one, k);
      EXPECT_EQ(run.integers, one.integers) << NameOf(type);
      EXPECT_EQ(run.reals, one.reals) << NameOf(type);
      EXPECT_EQ(run.complexes, one.complexes) << NameOf(type);
      std::string again(bytes.size(), 0), expected = again;
      EncodeRun(run, 0, count, again.data(), step);
      for (int64_t k = 0; k < count; ++k) {
        EncodeElement(one, k, &expected[static_cast<size_t>(k * step)]);
      }
      EXPECT_EQ(again, expected) << NameOf(type);
    }
  }
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

Array Reals(std::vector<double> values) {
  Array array = MakeArray(ElementType::kF32, WholeBox({static_cast<int64_t>(values.size())}));
  array.reals = std::move(values);
  return array;
}

// k of the last dimension: their values and places.
std::vector<Array> TopK(const Array& operand, int64_t k, bool largest) {
  Network network;
  network.tensors.resize(2);
  network.tensors[0].type = operand.type;
  network.tensors[1].type = ElementType::kS32;
  Op op;
  op.opcode = "topk";
  op.lists["k"] = {k};
  op.texts["largest"] = largest ? "true" : "false";
  op.results = {0, 1};
  Box out = operand.box;
  out.high.back() = k;
  const auto results = EvaluateOp(network, op, {operand}, {out, out});
  EXPECT_TRUE(results) << results.error().message;
  return results.value_or(std::vector<Array>(2));
}

TEST(TopK, OfEqualElementsTakesTheFirst) {
  EXPECT_EQ(TopK(Reals({1, 3, 2, 3, 3}), 4, true)[1].integers, (std::vector<int64_t>{1, 3, 4, 2}));
  EXPECT_EQ(TopK(Reals({2, 1, 5, 1}), 2, false)[1].integers, (std::vector<int64_t>{1, 3}));
  Array lines = MakeArray(ElementType::kU64, WholeBox({2, 3}));
  lines.integers = {1, -1, 2, 7, 0, 7};  // -1 is the greatest of all
  EXPECT_EQ(TopK(lines, 2, true)[0].integers, (std::vector<int64_t>{-1, 2, 7, 7}));
  EXPECT_EQ(TopK(lines, 2, true)[1].integers, (std::vector<int64_t>{1, 2, 0, 2}));
}

TEST(TopK, OrdersWhatIsNoNumberAsXlaDoes) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Array all = Reals({-0.0, -kInfinity, std::copysign(nan, -1), 0, nan, kInfinity});
  EXPECT_EQ(TopK(all, 6, true)[1].integers, (std::vector<int64_t>{4, 5, 3, 0, 1, 2}));
}

std::complex<double> OfComplex(const std::string& opcode, std::complex<double> z) {
  Op op;
  op.opcode = opcode;
  Array operand = MakeArray(ElementType::kC128, WholeBox({1}));
  operand.complexes[0] = z;
  const auto result = EvaluateElementwise(op, {operand}, ElementType::kC128, operand.box);
  EXPECT_TRUE(result) << opcode << ": " << result.error().message;
  return result ? result->complexes[0] : 0;
}

TEST(EvaluateElementwise, KnowsFunctionsOfComplexNumbers) {
  const std::complex<double> z(0.3, -0.7), small(1e-12, 2e-13);
  const auto near = [](std::complex<double> a, std::complex<double> b, double most = 1e-15) {
    return std::abs(a - b) <= most * std::abs(b);
  };
  for (const auto& [there, back] :
       {std::pair("cosh", "acosh"), std::pair("sinh", "asinh"), std::pair("tanh", "atanh"),
        std::pair("exponential-minus-one", "log-plus-one"), std::pair("sine", "asin")}) {
    const auto again = OfComplex(back, OfComplex(there, z));
    EXPECT_TRUE(near(again, z, 1e-14) || near(again, -z, 1e-14)) << there << " " << again;
  }
  EXPECT_TRUE(near(OfComplex("tan", z), std::sin(z) / std::cos(z)));
  EXPECT_TRUE(near(OfComplex("exponential-minus-one", small), small + small * small / 2.0));
  EXPECT_TRUE(near(OfComplex("log-plus-one", small), small - small * small / 2.0));
  EXPECT_TRUE(near(OfComplex("sign", z), z / std::abs(z)));
  EXPECT_EQ(OfComplex("sign", 0), 0.0);
}

// What an angle is made of.
TEST(CanEvaluate, KnowsArcTangentsOfTwo) {
  const Network network =
      Built({Parameter(0, {8}), Parameter(1, {8}), Instruction("atan2", {8}, {0, 1})});
  EXPECT_TRUE(CanEvaluate(network));
  EXPECT_TRUE(network.conservative.empty());
  EXPECT_DOUBLE_EQ(EvaluateNetwork(network,
                                   [](TensorId tensor, const Box& box) {
                                     Array one = MakeArray(ElementType::kF32, box);
                                     std::fill(one.reals.begin(), one.reals.end(),
                                               tensor == 0 ? 1.0 : -1.0);
                                     return one;
                                   })
                       .value()[0]
                       .reals[7],
                   static_cast<float>(std::numbers::pi * 3 / 4));
}

TEST(CanEvaluate, SaysWhatCannotBeWithoutComputing) {
  const Network call = Built(
      {Parameter(0, {8}), Instruction("tanh", {8}, {0}), Instruction("custom-call", {8}, {1})});
  const Status said = CanEvaluate(call);
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(said.error().message.find("custom-call"), std::string::npos);
  EXPECT_FALSE(CanEvaluate(Built({Parameter(0, {8}, "f8e5m2"), Instruction("tanh", {8}, {0})})));
}

}  // namespace
}  // namespace hone::memory
