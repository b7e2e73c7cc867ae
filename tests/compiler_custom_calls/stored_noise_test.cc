// Noise on what an optimised program stores: how large, where, and with kernels that are there.
#include "compiler/run/stored_noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "compiler/custom_calls/stored_noise.h"
#include "compiler/kernels/kernels.h"
#include "compiler/run/compare.h"
#include "compiler/run/execute.h"
#include "compiler/run/reference.h"
#include "compiler/run/rounding_noise.h"
#include "support/parse.h"
#include "xla/literal_util.h"

namespace hone::compiler {
namespace {

// A program as it is and with noise; without the latter where nothing is stored.
struct Both {
  std::optional<Program> plain, noisy;
};

Both Compiled(const std::string& text) {
  Both both;
  auto plain = Program::Compile(*Parse(text), CodeQuality::kStock);
  EXPECT_TRUE(plain.ok()) << plain.status();
  both.plain = *std::move(plain);
  const auto optimised = both.plain->Optimised();
  EXPECT_TRUE(optimised.ok());
  const auto noisy = AddStoredNoise(**optimised);
  EXPECT_TRUE(noisy.ok()) << noisy.status();
  if (*noisy == nullptr) return both;
  auto compiled = Program::CompileOptimised(**noisy, CodeQuality::kStock);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  both.noisy = *std::move(compiled);
  return both;
}

template <class T>
std::vector<T> ResultOf(const Program& program, const Arrays& arrays) {
  const auto arguments = program.Place(arrays);
  EXPECT_TRUE(arguments.ok()) << arguments.status();
  const auto outputs = program.Run(*arguments);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  std::vector<T> values(static_cast<size_t>(outputs->arrays[0].elements));
  std::memcpy(values.data(), outputs->arrays[0].data, outputs->arrays[0].bytes());
  return values;
}

xla::Literal Thirds(int64_t rows, int64_t columns) {
  auto array = *xla::Literal::Make(xla::ShapeUtil::MakeShape(xla::F32, {rows, columns}));
  for (int64_t i = 0; i < rows * columns; ++i) {
    array.data<float>()[static_cast<size_t>(i)] = 1 + static_cast<float>(i % 97) / 3;
  }
  return array;
}

// Of all elements, the largest and the mean distance in spacings of f32.
struct Distance {
  double most = 0, mean = 0;
};
Distance Between(const std::vector<float>& a, const std::vector<float>& b) {
  Distance distance;
  for (size_t i = 0; i < a.size(); ++i) {
    const double spacings = std::fabs((double{a[i]} - b[i]) / b[i]) * 0x1p23;
    distance.most = std::max(distance.most, spacings);
    distance.mean += spacings / static_cast<double>(a.size());
  }
  return distance;
}

constexpr char kSum[] = R"(
HloModule m
ENTRY e {
  x = f32[64,128] parameter(0)
  y = f32[64,128] parameter(1)
  ROOT r = f32[64,128] add(x, y)
})";

TEST(StoredNoise, MovesByOneSpacingAsTheSeedSays) {
  const Both both = Compiled(kSum);
  ASSERT_TRUE(both.noisy);
  Arrays arrays;
  arrays.push_back(Thirds(64, 128));
  arrays.push_back(Thirds(64, 128));
  const auto plain = ResultOf<float>(*both.plain, arrays);
  SeedStoredNoise(1);
  const auto first = ResultOf<float>(*both.noisy, arrays);
  EXPECT_EQ(first, ResultOf<float>(*both.noisy, arrays)) << "the same seed";
  const Distance distance = Between(first, plain);
  EXPECT_GT(distance.mean, 0.4);
  EXPECT_LE(distance.most, 2);
  SeedStoredNoise(2);
  EXPECT_NE(first, ResultOf<float>(*both.noisy, arrays));
}

// Products of 4,096 terms: sqrt(4096 / 32) = 11 spacings, of the terms too.
TEST(StoredNoise, SumsAreMovedAsTheirTermsAre) {
  const Both both = Compiled(R"(
HloModule m
ENTRY e {
  x = f32[32,4096] parameter(0)
  y = f32[4096,48] parameter(1)
  ROOT d = f32[32,48] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})");
  ASSERT_TRUE(both.noisy);
  Arrays arrays;
  arrays.push_back(Thirds(32, 4096));
  arrays.push_back(Thirds(4096, 48));
  const auto plain = ResultOf<float>(*both.plain, arrays);
  const Distance distance = Between(ResultOf<float>(*both.noisy, arrays), plain);
  EXPECT_GT(distance.mean, 5);
  EXPECT_LT(distance.most, 40);
}

TEST(StoredNoise, WhatHasFewBitsStays) {
  const Both both = Compiled(kSum);
  ASSERT_TRUE(both.noisy);
  Arrays arrays;
  for (int k = 0; k < 2; ++k) {
    auto whole = *xla::Literal::Make(xla::ShapeUtil::MakeShape(xla::F32, {64, 128}));
    for (size_t i = 0; i < 64 * 128; ++i) whole.data<float>()[i] = static_cast<float>(i % 50);
    arrays.push_back(std::move(whole));
  }
  EXPECT_EQ(ResultOf<float>(*both.noisy, arrays), ResultOf<float>(*both.plain, arrays));
}

TEST(StoredNoise, WhatOnlyMovesValuesHasNone) {
  EXPECT_FALSE(Compiled(R"(
HloModule m
ENTRY e {
  x = f32[64,128] parameter(0)
  t = f32[128,64] transpose(x), dimensions={1,0}
  u = f32[2,64] slice(t), slice={[3:5],[0:64]}
  c = s32[] constant(7)
  ROOT r = f32[128,64] dynamic-update-slice(t, u, c, c)
})")
                   .noisy);
}

// The rows' largest elements, and where they are: the gradient of a maximum asks that.
constexpr char kMaxima[] = R"(
HloModule m
max {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] maximum(a, b)
}
ENTRY e {
  x = f32[64,128] parameter(0)
  z = f32[] constant(-inf)
  m = f32[64] reduce(x, z), dimensions={1}, to_apply=max
  b = f32[64,128] broadcast(m), dimensions={0}
  at = pred[64,128] compare(x, b), direction=EQ
  ROOT r = f32[64,128] convert(at)
})";

TEST(StoredNoise, MaximaHaveNone) { EXPECT_FALSE(Compiled(kMaxima).noisy); }

TEST(RoundingNoise, MaximaHaveNone) {
  const auto module = Parse(kMaxima);
  EXPECT_EQ(AddRoundingNoise(*module)->places, 0);
  std::string sums = kMaxima;
  sums.replace(sums.find("maximum"), 7, "add");
  EXPECT_EQ(AddRoundingNoise(*Parse(sums))->places, 2);
}

// XLA:CPU rounds each of 1,568 partial sums to bf16.
TEST(RoundingNoise, SumsOfNarrowFloatsAreHeldAgainstThoseOfF32Too) {
  const auto program = [](const std::string& type, const std::string& scale) {
    return Parse("HloModule sums\nadd {\n  a = " + type + "[] parameter(0)\n  b = " + type +
                 "[] parameter(1)\n  ROOT c = " + type + "[] add(a, b)\n}\n\nENTRY main {\n" +
                 "  p = bf16[2,28,28,48] parameter(0)\n  q = bf16[2,28,28,48] parameter(1)\n" +
                 "  m = bf16[2,28,28,48] multiply(p, q)\n  x = " + type +
                 "[2,28,28,48] convert(m)\n  z = " + type + "[] constant(0)\n  r = " + type +
                 "[48] reduce(x, z), dimensions={0,1,2}, to_apply=add\n  f = " + type +
                 "[] constant(" + scale + ")\n  s = " + type +
                 "[48] broadcast(f), dimensions={}\n  t = " + type +
                 "[48] multiply(r, s)\n  ROOT y = bf16[48] convert(t)\n}\n");
  };
  const auto narrow = program("bf16", "1");
  const ComparisonReport wide = Compare(*narrow, *program("f32", "1"), {}, {}, {});
  EXPECT_EQ(wide.verdict, Verdict::kEqual) << wide.reason;
  EXPECT_NE(wide.method.find("sums of narrow floats in f32"), std::string::npos) << wide.method;
  EXPECT_EQ(Compare(*narrow, *program("f32", "0.9"), {}, {}, {}).verdict, Verdict::kDifferent);
}

// Of two values each addition rounds the same way, which no noise shows.
TEST(RoundingNoise, LongSumsAreHeldAgainstThoseOfF64Too) {
  const auto program = [](const std::string& sum, const std::string& scale) {
    return Parse(
        "HloModule sums\nadd {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
        "  ROOT c = f32[] add(a, b)\n}\n\nENTRY main {\n  p = f32[20000,4] parameter(0)\n"
        "  z = f32[] constant(0)\n  n = f32[20000,4] broadcast(z), dimensions={}\n"
        "  g = pred[20000,4] compare(p, n), direction=GT\n  h = f32[] constant(0.37)\n"
        "  l = f32[] constant(0.1)\n  y = f32[20000,4] broadcast(h), dimensions={}\n"
        "  w = f32[20000,4] broadcast(l), dimensions={}\n"
        "  x = f32[20000,4] select(g, y, w)\n" +
        sum + "  f = f32[] constant(" + scale +
        ")\n  s = f32[4] broadcast(f), dimensions={}\n"
        "  ROOT t = f32[4] multiply(r, s)\n}\n");
  };
  const auto one_by_one = program("  r = f32[4] reduce(x, z), dimensions={0}, to_apply=add\n", "1");
  std::string in_parts;
  for (int k = 0; k < 8; ++k) {
    const std::string n = std::to_string(k), from = std::to_string(2500 * k),
                      to = std::to_string(2500 * (k + 1));
    in_parts += "  v" + n + " = f32[2500,4] slice(x), slice={[" + from + ":" + to +
                "], [0:4]}\n  q" + n + " = f32[4] reduce(v" + n +
                ", z), dimensions={0}, to_apply=add\n";
  }
  in_parts +=
      "  r01 = f32[4] add(q0, q1)\n  r23 = f32[4] add(q2, q3)\n  r45 = f32[4] add(q4, q5)\n"
      "  r67 = f32[4] add(q6, q7)\n  ra = f32[4] add(r01, r23)\n  rb = f32[4] add(r45, r67)\n"
      "  r = f32[4] add(ra, rb)\n";
  const ComparisonReport parts = Compare(*one_by_one, *program(in_parts, "1"), {}, {}, {});
  EXPECT_EQ(parts.verdict, Verdict::kEqual) << parts.reason;
  EXPECT_NE(parts.method.find("long ones in f64"), std::string::npos) << parts.method;
  EXPECT_EQ(Compare(*one_by_one, *program(in_parts, "1.001"), {}, {}, {}).verdict,
            Verdict::kDifferent);
}

// A product whose rows' maxima are sought agrees with itself made otherwise, and shows something.
TEST(RoundingNoise, GradientsOfMaximaAreCompared) {
  std::string text = kMaxima;
  text.replace(text.find("  x = f32[64,128] parameter(0)\n"), 31, R"(  p = f32[64,96] parameter(0)
  q = f32[96,128] parameter(1)
  x = f32[64,128] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
)");
  CompilePlan plan;
  plan.flags = {{"xla_cpu_experimental_ynn_fusion_type", "none"}};
  const auto module = Parse(text);
  const ComparisonReport report = Compare(*module, *module, {}, {}, plan);
  EXPECT_EQ(report.verdict, Verdict::kEqual) << report.reason;
}

// A loop over values, too many for one kernel, with its condition.
std::string Loop(const std::string& condition) {
  return R"(
HloModule m
body {
  s = (s32[], f32[4096]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = f32[4096] get-tuple-element(s), index=1
  one = s32[] constant(1)
  n = s32[] add(i, one)
  h = f32[] constant(0.7)
  hs = f32[4096] broadcast(h), dimensions={}
  m = f32[4096] multiply(v, hs)
  e = f32[4096] sine(m)
  ROOT t = (s32[], f32[4096]) tuple(n, e)
}
condition {
  s = (s32[], f32[4096]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = f32[4096] get-tuple-element(s), index=1
  )" + condition +
         R"(
}
ENTRY e {
  x = f32[4096] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[4096]) tuple(zero, x)
  w = (s32[], f32[4096]) while(t), condition=condition, body=body
  ROOT r = f32[4096] get-tuple-element(w), index=1
})";
}

TEST(StoredNoise, IsInLoopsThatAreCounted) {
  const Both both =
      Compiled(Loop("c = s32[] constant(20)\n  ROOT p = pred[] compare(i, c), direction=LT"));
  ASSERT_TRUE(both.noisy);
  Arrays arrays;
  arrays.push_back(Thirds(1, 4096).Reshape({4096}).value());
  EXPECT_NE(ResultOf<float>(*both.noisy, arrays), ResultOf<float>(*both.plain, arrays));
}

// Whether it goes on hangs on a value: with noise that the condition does not know of it might for
// ever.
TEST(StoredNoise, IsNotInLoopsThatEndByValues) {
  EXPECT_FALSE(Compiled(Loop(R"(f = f32[1] slice(v), slice={[0:1]}
  g = f32[] reshape(f)
  c = f32[] constant(0.001)
  ROOT p = pred[] compare(g, c), direction=GT)"))
                   .noisy);
}

TEST(StoredNoise, CompilesNoKernelAgain) {
  auto plain = Program::Compile(*Parse(R"(
HloModule m
ENTRY e {
  x = f32[61,83] parameter(0)
  s = f32[61,83] sine(x)
  c = f32[61,83] cosine(s)
  ROOT r = f32[61,83] multiply(c, s)
})"),
                                CodeQuality::kStock);
  ASSERT_TRUE(plain.ok());
  const auto noisy = AddStoredNoise(**plain->Optimised());
  ASSERT_TRUE(noisy.ok());
  const KernelCounts before = CountsOfKernels();
  ASSERT_TRUE(Program::CompileOptimised(**noisy, CodeQuality::kStock).ok());
  EXPECT_EQ(CountsOfKernels().compiled, before.compiled);
  EXPECT_GT(CountsOfKernels().reused, before.reused);
}

// Each type's numbers go to their neighbours and no further, and what is no number stays.
template <class Bits>
void GoToNeighbours(StoredFloat type, Bits infinity, Bits third) {
  SCOPED_TRACE(static_cast<int>(type));
  std::vector<Bits> values(1000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<Bits>(third + 2 * i + 1);
  values[0] = infinity;
  values[1] = 0;
  SeedStoredNoise(5);
  const StoredNoise noise(type, 3, 1);
  EXPECT_EQ(noise.width(), static_cast<int64_t>(sizeof(Bits)));
  std::vector<Bits> moved(values.size());
  noise.Move(values.data(), moved.data(), static_cast<int64_t>(values.size()));
  EXPECT_EQ(moved[0], infinity);
  EXPECT_EQ(moved[1], 0);
  int up = 0, down = 0;
  for (size_t i = 2; i < values.size(); ++i) {
    const auto distance = static_cast<int64_t>(moved[i]) - static_cast<int64_t>(values[i]);
    EXPECT_LE(std::abs(distance), 2) << i;
    up += distance > 0;
    down += distance < 0;
  }
  EXPECT_GT(up, 100);
  EXPECT_GT(down, 100);
  noise.Move(values.data(), values.data(), static_cast<int64_t>(values.size()));
  EXPECT_EQ(values, moved) << "in its place";
}

TEST(StoredNoise, IsThereWhateverWasComparedBefore) {
  const auto module = Parse(R"(HloModule sums
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY main {
  x = f32[8,64] parameter(0)
  zero = f32[] constant(0)
  ROOT s = f32[8] reduce(x, zero), dimensions={1}, to_apply=add
})");
  Reference& reference = Reference::Of(*module, CodeQuality::kStock, {});
  ASSERT_TRUE(reference.Compile().ok());
  const StatusOr<ReferenceRun*> run = reference.On({}, {});
  ASSERT_TRUE(run);
  Arrays moved;
  const auto bytes = [](const StatusOr<std::optional<verify::Outputs>>& sample) {
    EXPECT_TRUE(sample && *sample);
    const verify::ArrayView& array = (*sample)->arrays[0];
    const auto* const data = static_cast<const char*>(array.data);
    return std::string(data, data + array.bytes());
  };
  const std::string before = bytes(reference.MovedSample(*run, 0, &moved));
  ASSERT_TRUE(reference.Sample(*run, 0, &moved));
  EXPECT_EQ(bytes(reference.MovedSample(*run, 0, &moved)), before);
  EXPECT_NE(bytes(reference.MovedSample(*run, 1, &moved)), "");
}

TEST(StoredNoise, GoesToNeighbours) {
  GoToNeighbours<uint16_t>(StoredFloat::kBf16, 0x7f80, 0x3eaa);
  GoToNeighbours<uint16_t>(StoredFloat::kF16, 0x7c00, 0x3555);
  GoToNeighbours<uint32_t>(StoredFloat::kF32, 0x7f800000u, 0x3eaaaaabu);
  GoToNeighbours<uint64_t>(StoredFloat::kF64, 0x7ff0000000000000ull, 0x3fd5555555555555ull);
}

}  // namespace
}  // namespace hone::compiler
