// The same network at another size is near; another network is not.
#include "dataset/similarity.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/programs.h"

namespace hone::dataset {
namespace {

using hone::testing::MustLoad;
using hone::testing::PassNamed;
using hone::testing::ReadData;
using hone::testing::SharedPool;

// A perceptron: layers of dot, broadcast bias, add and a nonlinearity.
std::string Perceptron(int layers, int batch, int width, const std::string& type = "f32",
                       const std::string& nonlinearity = "tanh", bool reversed = false) {
  const std::string x = fmt::format("{}[{},{}]", type, batch, width);
  std::string text =
      fmt::format("HloModule perceptron\n\nENTRY main {{\n  x0 = {} parameter(0)\n", x);
  std::vector<std::string> weights;
  for (int i = 0; i < layers; ++i) {
    weights.push_back(
        fmt::format("  w{} = {}[{},{}] parameter({})\n", i, type, width, width, i + 1));
    weights.push_back(fmt::format("  c{} = {}[] constant({})\n", i, type, i));
  }
  if (reversed) std::reverse(weights.begin(), weights.end());
  for (const std::string& line : weights) text += line;
  for (int i = 0; i < layers; ++i) {
    text += fmt::format(
        "  d{0} = {1} dot(x{0}, w{0}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n"
        "  b{0} = {1} broadcast(c{0}), dimensions={{}}\n"
        "  a{0} = {1} add(d{0}, b{0})\n"
        "  {2}x{3} = {1} {4}(a{0})\n",
        i, x, i + 1 == layers ? "ROOT " : "", i + 1, nonlinearity);
  }
  return text + "}\n";
}

Sketch SketchOfState(const StateName& state) {
  const StatusOr<ProgramGraph> graph = SharedPool().Describe(state);
  EXPECT_TRUE(graph) << graph.error().message;
  return graph ? SketchOf(*graph) : Sketch{};
}

Sketch SketchOfText(const std::string& text) {
  return SketchOfState({MustLoad(SharedPool(), text).id, {}});
}

TEST(Similarity, OtherSizesAreNear) {
  const Sketch one = SketchOfText(Perceptron(4, 8, 16));
  EXPECT_EQ(Similarity(one, SketchOfText(Perceptron(4, 8, 16))), 1);
  EXPECT_EQ(Similarity(one, SketchOfText(Perceptron(4, 3, 512))), 1);
}

TEST(Similarity, TheOrderOfInstructionsDoesNotMatter) {
  EXPECT_EQ(SketchOfText(Perceptron(4, 8, 16)),
            SketchOfText(Perceptron(4, 8, 16, "f32", "tanh", /*reversed=*/true)));
}

TEST(Similarity, OtherProgramsAreFar) {
  const Sketch one = SketchOfText(Perceptron(4, 8, 16));
  EXPECT_LT(Similarity(one, SketchOfText(Perceptron(4, 8, 16, "bf16"))), 0.1);
  EXPECT_LT(Similarity(one, SketchOfText(Perceptron(4, 8, 16, "f32", "exponential"))), 0.9);
  EXPECT_LT(Similarity(one, SketchOfText(Perceptron(8, 8, 16))), 0.7);
  EXPECT_LT(Similarity(one, SketchOfText(ReadData("resnet/hf_fwd_r18_64.hlo"))), 0.1);
}

// Repeats count: were the neighbourhoods a plain set, all depths past three would look the same.
// At 8 and 9 layers of 6 instructions and the first parameter, each the repeat of one before it,
// 49 of 55 neighbourhoods are shared.
TEST(Similarity, EstimatesTheJaccardIndex) {
  const double estimate =
      Similarity(SketchOfText(Perceptron(8, 8, 16)), SketchOfText(Perceptron(9, 8, 16)));
  EXPECT_NEAR(estimate, 49.0 / 55, 3.5 * 0.0276);
}

TEST(Similarity, WhatIsReducedWithMatters) {
  const auto reduction = [](const char* with) {
    return SketchOfText(fmt::format(
        "HloModule m\n\nr {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] "
        "{}(a, b)\n}}\n\nENTRY main {{\n  x = f32[9] parameter(0)\n  z = f32[] constant(0)\n  ROOT "
        "s = f32[] reduce(x, z), dimensions={{0}}, to_apply=r\n}}\n",
        with));
  };
  EXPECT_EQ(Similarity(reduction("add"), reduction("add")), 1);
  // Three parameters and the constant are the same; the reducer and the reduce are not: 4 of 8.
  EXPECT_NEAR(Similarity(reduction("add"), reduction("maximum")), 0.5, 3.5 * 0.045);
}

// Both chains have the same instructions on the same operands; only who is two steps before whom
// tells them apart: four neighbourhoods are shared, of eight.
TEST(Similarity, TheWiringMattersTwoStepsFar) {
  const auto chain = [](const std::vector<std::string>& opcodes) {
    std::string text = "HloModule chain\n\nENTRY main {\n  x0 = f32[9] parameter(0)\n";
    for (size_t i = 0; i < opcodes.size(); ++i) {
      text += fmt::format("  {}x{} = f32[9] {}(x{})\n", i + 1 == opcodes.size() ? "ROOT " : "",
                          i + 1, opcodes[i], i);
    }
    return SketchOfText(text + "}\n");
  };
  EXPECT_NEAR(Similarity(chain({"tanh", "cosine", "tanh", "negate", "tanh"}),
                         chain({"tanh", "negate", "tanh", "cosine", "tanh"})),
              0.5, 3.5 * 0.045);
}

TEST(Similarity, APassThatRemovesDeadCodeLeavesItNear) {
  Pool& pool = SharedPool();
  for (const char* file : {"kmeans/jax010_kmeans_while.hlo", "moe/jax010_moe_sorted_scan_fwd.hlo",
                           "sim/jax010_nbody_leapfrog_scan.hlo"}) {
    SCOPED_TRACE(file);
    const ProgramInfo program = MustLoad(pool, ReadData(file));
    ApplyRequest request;
    request.from.program = program.id;
    request.passes = {PassNamed(pool, "dce")};
    const StatusOr<Applied> applied = pool.Apply(request);
    ASSERT_TRUE(applied) << applied.error().message;
    ASSERT_TRUE(applied->steps[0].changed);
    const StateName after{program.id, {{request.passes[0], applied->steps[0].state}}};
    const double similarity = Similarity(SketchOfState({program.id, {}}), SketchOfState(after));
    EXPECT_GE(similarity, kNearDuplicate);
    EXPECT_LT(similarity, 1);
  }
}

TEST(Groups, AreNamedByTheSmallestFingerprintAndJoinedByChains) {
  // b is like a in all but 8 of the minima, and c like b; a and c differ in 16 of 128.
  Sketched a{"cc", {}};
  for (size_t i = 0; i < kSketchSize; ++i) a.sketch[i] = i;
  Sketched b{"bb", a.sketch};
  for (size_t i = 0; i < 8; ++i) b.sketch[i] = 1000 + i;
  Sketched c{"aa", b.sketch};
  for (size_t i = 8; i < 16; ++i) c.sketch[i] = 2000 + i;
  Sketched other{"dd", {}};
  EXPECT_LT(Similarity(a.sketch, c.sketch), kNearDuplicate);
  EXPECT_EQ(NearDuplicateGroups({a, other, c, b}),
            (std::vector<std::string>{"aa", "dd", "aa", "aa"}));
  EXPECT_EQ(NearDuplicateGroups({a, other, c}), (std::vector<std::string>{"cc", "dd", "aa"}));
  EXPECT_EQ(NearDuplicateGroups({a, b}, 0.95), (std::vector<std::string>{"cc", "bb"}));
}

}  // namespace
}  // namespace hone::dataset
