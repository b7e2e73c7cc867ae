#include "loops/nest.h"

#include <gtest/gtest.h>

#include <string>

namespace hone::loops {
namespace {

Program Of(const std::string& text) {
  const auto task = ParseTask(text);
  EXPECT_TRUE(task) << task.error().message;
  return Expand(*task);
}

std::vector<Loop> L(std::initializer_list<Loop> loops) { return loops; }

TEST(Nest, OfAMatrixProductHasThreeLoops) {
  const Program program =
      Of("task t\ninput a f32[8,16]\ninput b f32[16,4]\nc = matmul a b\noutput c\n");
  ASSERT_EQ(program.nests.size(), 1u);
  const Nest& nest = program.nests[0];
  EXPECT_EQ(nest.site, "c");
  EXPECT_EQ(nest.loops, L({{8, false}, {4, false}, {16, true}}));
  EXPECT_EQ(nest.reads[0].rows, (std::vector<Row>{{1, 0, 0}, {0, 0, 1}}));
  EXPECT_EQ(nest.reads[1].rows, (std::vector<Row>{{0, 0, 1}, {0, 1, 0}}));
}

TEST(Nest, ElementwiseOverRowMajorMemoryIsOneLoop) {
  const Program program = Of("task t\ninput a f32[8,16,4]\nc = relu a\noutput c\n");
  EXPECT_EQ(program.nests[0].loops, L({{8 * 16 * 4, false}}));
}

TEST(Nest, AnOneByOneConvolutionIsAProductForEachImage) {
  const Program program =
      Of("task t\ninput x f32[2,3,4,5]\ninput w f32[7,3,1,1]\ny = conv2d x w\noutput y\n");
  EXPECT_EQ(program.nests[0].loops, L({{2, false}, {7, false}, {20, false}, {3, true}}));
  EXPECT_EQ(program.nests[0].reads[1].view, (std::vector<int64_t>{7, 3}));
}

// Positions run through memory as the rows of a matrix: of the images, the result, and what is
// computed with it.
// The loop that is done in parts need not be the first one; what has few elements, but long sums,
// is done so for their exactness.
TEST(Nest, LongSumsOfRowsAreSumsOfParts) {
  const auto sites = [](const std::string& sizes, const std::string& axes) {
    const Program program =
        Of("task t\ninput x f32[" + sizes + "]\ny = reduce_sum x axes=" + axes + "\noutput y\n");
    std::vector<std::string> names;
    for (const Nest& nest : program.nests) {
      names.push_back(nest.site + " " + std::to_string(nest.loops[0].extent));
    }
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(sites("2,28,28,240", "0,1,2"), (Names{"y.part 14", "y 14"}));
  EXPECT_EQ(sites("600,16", "0"), (Names{"y.part 15", "y 15"}));
  EXPECT_EQ(sites("60,16", "0"), (Names{"y 60"}));
  EXPECT_EQ(sites("2,2,16000", "0,1"), (Names{"y 4"}));
  EXPECT_EQ(sites("8,784,240", "1"), (Names{"y.part 8", "y 8"})) << "within what is kept";
  EXPECT_EQ(sites("8,784", "1"), (Names{"y 8"})) << "along a row";
}

TEST(Nest, AConvolutionAtAPointIsAProductOfTwoMatrices) {
  const std::string inputs =
      "task t\ninput x f32[2,7,9,16]\ninput w f32[24,16,1,1]\ninput r f32[2,7,9,24]\n"
      "t := transpose w permutation=2,3,1,0\n";
  const std::string end = "y = add p r\noutput y\n";
  const Program product = Of(inputs + "p := convolve x t sizes=7,9\n" + end);
  const Nest& nest = product.nests[0];
  EXPECT_EQ(nest.loops, (std::vector<Loop>{{126, false}, {24, false}, {16, true}}));
  EXPECT_EQ(nest.row_loops, 1);
  EXPECT_EQ(nest.term_loops, 1);
  EXPECT_EQ(nest.reads[0].view, (std::vector<int64_t>{126, 16}));
  EXPECT_TRUE(nest.reads[0].low.empty());
  EXPECT_EQ(nest.reads[2].view, nest.write.view);
  // Where something is outside, or positions are left out, they do not.
  for (const char* how : {"sizes=7,9 pads=1,0", "sizes=4,5 strides=2,2"}) {
    const Program other =
        Of("task t\ninput x f32[2,7,9,16]\ninput w f32[1,1,16,24]\n"
           "y = convolve x w " +
           std::string(how) + "\noutput y\n");
    EXPECT_EQ(other.nests[0].row_loops, 3) << how;
  }
}

TEST(Nest, AWindowIsReadAtSumsOfLoops) {
  const Program program =
      Of("task t\ninput x f32[2,3,9,9]\ny = pool_max x window=3,3 strides=2,2\noutput y\n");
  // Batches and channels run through memory as one.
  EXPECT_EQ(program.nests[0].loops, L({{6, false}, {4, false}, {4, false}, {3, true}, {3, true}}));
  EXPECT_EQ(program.nests[0].reads[0].rows[1], (Row{0, 2, 0, 1, 0}));
}

TEST(Nest, ASoftmaxIsFour) {
  const Program program = Of("task t\ninput x f32[4,8]\ny = softmax x\noutput y\n");
  std::vector<std::string> sites;
  for (const Nest& nest : program.nests) sites.push_back(nest.site);
  EXPECT_EQ(sites, (std::vector<std::string>{"y.max", "y.exp", "y.sum", "y"}));
}

TEST(Nest, LoopsAreMergedOnlyWhereAllNestsCan) {
  const Program program =
      Of("task t\ninput a f32[8,16]\ninput b f32[16,4]\nc = matmul a b\nd = relu c\noutput d\n");
  EXPECT_EQ(program.nests[1].loops, L({{8, false}, {4, false}}));
}

TEST(Pack, LaysOperandsOutInTheOrderOfTheNewLoops) {
  Program program = Of("task t\ninput a f32[8,16]\ninput b f32[16,6]\nc = matmul a b\noutput c\n");
  Pack(program, 0, {4, 3, 0});
  ASSERT_EQ(program.nests.size(), 3u);
  EXPECT_EQ(program.nests[0].site, "c.pack0");
  EXPECT_EQ(program.nests[0].write.view, (std::vector<int64_t>{2, 16, 4}));
  EXPECT_EQ(program.nests[1].write.view, (std::vector<int64_t>{2, 16, 3}));
  const Nest& nest = program.nests[2];
  EXPECT_EQ(nest.loops, L({{2, false}, {2, false}, {16, true}, {4, false}, {3, false}}));
  EXPECT_EQ(nest.write.view, (std::vector<int64_t>{2, 4, 2, 3}));  // where it was
}

}  // namespace
}  // namespace hone::loops
