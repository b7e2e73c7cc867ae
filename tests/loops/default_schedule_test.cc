#include "loops/default_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loops/tasks.h"

namespace hone::loops {
namespace {

const Machine kMachines[] = {{1, 16, 16}, {2, 32, 16}, {2, 64, 32}, {64, 64, 32}};

TEST(DefaultSchedule, IsLegalForEachTaskThatComesWithHone) {
  for (const KnownTask& known : KnownTasks()) {
    const auto task = ParseTask(known.text);
    ASSERT_TRUE(task);
    for (const Machine& machine : kMachines) {
      const Schedule schedule = DefaultSchedule(Expand(*task), machine);
      const auto scheduled = Apply(Expand(*task), schedule);
      EXPECT_TRUE(scheduled) << known.name << ": " << scheduled.error().message;
      EXPECT_EQ(ScheduleText(DefaultSchedule(Expand(*task), machine)), ScheduleText(schedule));
    }
  }
}

TEST(DefaultSchedule, VectorisesProducts) {
  const auto task = ParseTask(FindKnownTask("matmul_512_512_512")->text);
  const auto scheduled = Apply(Expand(*task), DefaultSchedule(Expand(*task), kMachines[1]));
  ASSERT_TRUE(scheduled);
  EXPECT_TRUE(
      scheduled->states()[static_cast<size_t>(scheduled->program().FindSite("c"))].vectorized);
}

TEST(DefaultSchedule, ComputesASoftmaxRowByRow) {
  const auto task = ParseTask(FindKnownTask("softmax_64_128")->text);
  const auto scheduled = Apply(Expand(*task), DefaultSchedule(Expand(*task), kMachines[1]));
  ASSERT_TRUE(scheduled);
  for (const char* site : {"y.max", "y.exp", "y.sum"}) {
    const auto nest = static_cast<size_t>(scheduled->program().FindSite(site));
    EXPECT_EQ(scheduled->states()[nest].fused_into, scheduled->program().FindSite("y")) << site;
  }
}

Schedule Default(const char* text, const Machine& machine) {
  const auto task = ParseTask(text);
  EXPECT_TRUE(task) << task.error().message;
  const Schedule schedule = DefaultSchedule(Expand(*task), machine);
  EXPECT_TRUE(Apply(Expand(*task), schedule));
  return schedule;
}

// What is reduced over rows is read row by row: no processor takes a few columns of each.
TEST(DefaultSchedule, SharesRowsOfWhatReducesColumns) {
  EXPECT_EQ(ScheduleText(Default("task t\ninput x f32[4096,1024]\ny = reduce_max x axes=0\n"
                                 "output y\n",
                                 kMachines[2])),
            "y.part parallel 1,0,0\n");
  EXPECT_EQ(ScheduleText(Default("task t\ninput x f32[64,8192]\ny = reduce_max x axes=0\n"
                                 "output y\n",
                                 kMachines[2])),
            "y parallel 0,2048\n");
  EXPECT_EQ(ScheduleText(Default("task t\ninput x f32[64,64]\ny = reduce_max x axes=0\n"
                                 "output y\n",
                                 kMachines[2])),
            "");
}

// What reduces comes behind the blocks, so that MLIR makes outer products of them.
TEST(DefaultSchedule, FillsVectorsOfConvolutionsAsFarAsTheirSizesGo) {
  const auto of = [](int height, const Machine& machine) {
    const std::string text = "task t\ninput x f32[2,64," + std::to_string(height) + "," +
                             std::to_string(height) +
                             "]\ninput w f32[64,64,3,3]\ny = conv2d x w\noutput y\n";
    return ScheduleText(Default(text.c_str(), machine));
  };
  const Machine one{1, 64, 32};
  EXPECT_THAT(of(34, one), testing::StartsWith("y pack 0,8,0,0,0,0,0\n"
                                               "y interchange 0,3,1,2,7,4,5,6\n"
                                               "y tile 1,32,1,1,0,0,0,0\n"
                                               "y tile 0,0,0,0,0,8,1,1\ny vectorize\n"));
  EXPECT_THAT(of(30, one), testing::HasSubstr("y tile 1,14,1,1,0,0,0,0\n"));  // of 28
  EXPECT_THAT(of(33, one), testing::HasSubstr("y tile 1,31,1,1,0,0,0,0\n"));  // of 31
}

// No block of them fills a vector.
TEST(DefaultSchedule, LeavesContractionsOfOddSizesToLlvmsVectors) {
  EXPECT_EQ(ScheduleText(Default("task t\ninput a f32[97,101]\ninput b f32[101,103]\n"
                                 "c = matmul a b\noutput c\n",
                                 {1, 64, 32})),
            "c interchange 0,2,1\n");
  EXPECT_EQ(ScheduleText(Default("task t\ninput x f32[4,24,43,43]\ninput w f32[96,24,1,1]\n"
                                 "y = conv2d x w\noutput y\n",
                                 kMachines[2])),
            "y interchange 0,1,3,2\ny parallel 1,24,0,0\n");
  EXPECT_EQ(ScheduleText(Default("task t\ninput a f32[100,512]\ninput b f32[512,1]\n"
                                 "c = matmul a b\noutput c\n",
                                 {1, 64, 32})),
            "");
}

// So many rows that none of their loops is short, and as many as divide what there is.
TEST(DefaultSchedule, TakesRowsOfASoftmaxAFewAtATime) {
  const auto of = [](const char* shape, const Machine& machine) {
    const std::string text =
        std::string("task t\ninput x f32[") + shape + "]\ny = softmax x\noutput y\n";
    return ScheduleText(Default(text.c_str(), machine));
  };
  const std::string fused = "y fuse y.sum\ny fuse y.exp\ny fuse y.max\n";
  const Machine one{1, 64, 32};
  EXPECT_EQ(of("512,32", one), "y parallel 16,0\n" + fused);
  EXPECT_EQ(of("500,100", one), "y parallel 20,0\n" + fused);
  EXPECT_EQ(of("250,100", one), "y parallel 25,0\n" + fused);
  EXPECT_EQ(of("2048,16384", one), "y parallel 2,0\n" + fused);
  EXPECT_EQ(of("6,8,77", one), "y parallel 16,0\n" + fused);
  EXPECT_EQ(of("3110,100", one), "y parallel 10,0\n" + fused);
  EXPECT_EQ(of("262144,5", one), "y parallel 64,0\n" + fused);  // of short ones more
  // No number but 1 divides it: not a row at a time, where all is near; but where it is not.
  EXPECT_EQ(of("509,33", one), "");
  EXPECT_EQ(of("4093,333", one), "");
  EXPECT_EQ(of("4093,1024", one), "y parallel 1,0\n" + fused);
  // What processors share is a whole number of those.
  EXPECT_EQ(of("4096,1024", kMachines[2]), "y parallel 256,0\ny tile 16,0\n" + fused);
}

// Small or crooked squares are slower than what LLVM makes of plain loops.
TEST(DefaultSchedule, MovesSquaresOfTranspositionsWhereTheyFillVectors) {
  const auto of = [](const char* input) {
    const std::string text =
        std::string("task t\ninput x ") + input + "\ny = transpose x permutation=1,0\noutput y\n";
    return ScheduleText(Default(text.c_str(), {1, 64, 32}));
  };
  EXPECT_EQ(of("f32[512,256]"), "y tile 8,8\ny vectorize\n");
  EXPECT_EQ(of("f32[10,366]"), "y tile 6,5\ny vectorize\n");
  EXPECT_EQ(of("f32[257,578]"), "");
  EXPECT_EQ(of("f32[366,5]"), "");
  EXPECT_EQ(of("f16[6,183]"), "");
  EXPECT_EQ(of("f16[97,512]"), "y tile 8,1\ny vectorize\n");
}

// Of few columns vectors have no more lanes than they need.
TEST(DefaultSchedule, TakesAsManyColumnsOfAProductAsThereAre) {
  EXPECT_THAT(ScheduleText(Default("task t\ninput x f32[1,20,3]\ninput w f32[5,3,4]\n"
                                   "y = convolve x w sizes=20 pads=2 dilations=-1\noutput y\n",
                                   {1, 64, 32})),
              testing::HasSubstr("y tile 0,7,4,0,0\n"));
}

// Of keys that are seen up to the query only, small blocks have fewer beyond.
TEST(DefaultSchedule, TakesSmallerBlocksOfAttentionToWhatLiesBefore) {
  const auto of = [](const char* until) {
    const std::string text = std::string(
                                 "task t\ninput q f32[2,100,32]\ninput k f32[2,130,32]\n"
                                 "input v f32[2,130,16]\ns := scores q k\n"
                                 "y = attend s v") +
                             until + "\noutput y\n";
    return ScheduleText(Default(text.c_str(), {1, 64, 32}));
  };
  EXPECT_EQ(of(" until=0"), "y tile 0,16,0,32,0\ny unroll 8\n");
  EXPECT_EQ(of(""), "y tile 0,32,0,64,0\ny unroll 8\n");
}

// Sums that lead to it on any way count, and rows are of what is computed.
TEST(DefaultSchedule, TakesRowsOfWhatIsRoundedBehindASoftmax) {
  const auto of = [](const char* shape) {
    const std::string text =
        std::string("task t\ninput x f16[") + shape + "]\ny = softmax x\nz = to_f16 y\noutput z\n";
    return ScheduleText(Default(text.c_str(), {1, 64, 32}));
  };
  EXPECT_EQ(of("512,64"), "z parallel 16,0\nz fuse y\nz fuse y.sum\nz fuse y.exp\nz fuse y.max\n");
  EXPECT_EQ(of("129,65"), "");
}

// Whatever number of rows there is, processors share rows: parts of one would each sum up all of it.
TEST(DefaultSchedule, SharesWholeRowsBehindSums) {
  const Machine two{2, 64, 32};
  const auto of = [&](const std::string& shape) {
    const std::string text = "task t\ninput x f32[" + shape + "]\ny = softmax x\noutput y\n";
    return ScheduleText(Default(text.c_str(), two));
  };
  const std::string fused = "y fuse y.sum\ny fuse y.exp\ny fuse y.max\n";
  EXPECT_EQ(of("1041,192"), "y parallel 3,0\n" + fused);
  EXPECT_EQ(of("195,1024"), "y parallel 15,0\n" + fused);
  EXPECT_EQ(of("9523,21"), "y parallel 107,0\ny tile 1,0\n" + fused);
  EXPECT_EQ(of("2597,77"), "y parallel 49,0\ny tile 7,0\n" + fused);
  // A prime number of short rows is not worth sharing; of long ones it is.
  EXPECT_EQ(of("9973,21"), "");
  EXPECT_EQ(of("997,1000"), "y parallel 1,0\n" + fused);
}

TEST(DefaultSchedule, TakesAFewRowsOfWhatIsElementwiseWhereItIsNotNear) {
  const auto of = [](const std::string& rows, const std::string& columns, const Machine& machine) {
    const std::string text = "task t\ninput x f32[" + rows + "," + columns + "]\ninput b f32[" +
                             columns + "]\nz = add x b\nv = exp z\ny = multiply v v\noutput y\n";
    return ScheduleText(Default(text.c_str(), machine)).substr(0, 15);
  };
  const Machine one{1, 64, 32};
  EXPECT_EQ(of("65536", "512", one), "y parallel 1,0\n");
  EXPECT_EQ(of("65536", "32", one), "y parallel 8,0\n");
  EXPECT_EQ(of("1048576", "3", one), "");  // no vectors in such rows
  EXPECT_EQ(of("256", "32", one), "");     // all is near
  EXPECT_EQ(of("256", "32", kMachines[2]), "");
}

TEST(DefaultSchedule, MakesVectorsOfPoolsThatMoveByOne) {
  EXPECT_EQ(ScheduleText(Default("task t\ninput x f32[2,32,16,16]\n"
                                 "y = pool_max x strides=1,1 window=3,3\noutput y\n",
                                 {1, 64, 32})),
            "y tile 1,2,14,0,0\ny tile 0,0,0,1,1\ny vectorize\n");
  // Wide rows are taken in parts.
  EXPECT_EQ(ScheduleText(Default("task t\ninput x f64[8,64,66,130]\n"
                                 "y = pool_max x strides=1,1 window=3,3\noutput y\n",
                                 kMachines[2])),
            "y parallel 32,0,0,0,0\ny tile 1,1,64,0,0\ny tile 0,0,0,1,1\ny vectorize\n");
  // Rows of no good size stay loops.
  EXPECT_EQ(ScheduleText(Default("task t\ninput x f32[1,1,8,259]\n"
                                 "y = pool_max x strides=1,1 window=3,3\noutput y\n",
                                 {1, 64, 32}))
                .find("vectorize"),
            std::string::npos);
}

TEST(DefaultSchedule, ReadsWindowsThatLeapWholeWhereRowsAreShort) {
  const auto of = [](int height, int window, const Machine& machine) {
    const std::string text = "task t\ninput x f32[2,8," + std::to_string(height) + "," +
                             std::to_string(height) +
                             "]\ny = pool_max x strides=2,2 window=" + std::to_string(window) +
                             "," + std::to_string(window) + "\noutput y\n";
    return ScheduleText(Default(text.c_str(), machine));
  };
  const Machine one{1, 64, 32};
  EXPECT_EQ(of(29, 3, one), "");  // 14 results in a row
  EXPECT_EQ(of(57, 3, one), "y interchange 0,1,3,4,2\n");
  EXPECT_EQ(of(40, 2, one), "");
  EXPECT_EQ(of(64, 2, one), "");
  EXPECT_EQ(of(58, 2, one), "y interchange 0,1,3,4,2\n");
}

TEST(DefaultSchedule, SharesHeadsAndThenQueriesOfAttention) {
  const char* const many = "task t\ninput q f32[2,8,256,64]\ny = attention q q q\noutput y\n";
  EXPECT_EQ(ScheduleText(Default(many, kMachines[2])),
            "y parallel 1,1,0,0,0,0\ny tile 0,0,32,0,64,0\ny unroll 8\n");
  EXPECT_EQ(ScheduleText(Default(many, kMachines[0])), "y tile 0,0,8,0,64,0\ny unroll 4\n");
  const char* const one = "task t\ninput q f32[1,1,999,64]\ny = attention q q q\noutput y\n";
  EXPECT_EQ(ScheduleText(Default(one, kMachines[2])),
            "y parallel 0,0,64,0,0,0\ny tile 0,0,32,0,64,0\ny unroll 8\n");
}

// Blocks that fit the registers, parts that processors share, and what is packed is near.
TEST(DefaultSchedule, BlocksProductsForRegistersAndCaches) {
  const char* const square = "task t\ninput a f32[512,512]\ny = product a a\noutput y\n";
  EXPECT_EQ(ScheduleText(Default(square, kMachines[2])),
            "y parallel 256,128,0\ny tile 136,128,256\ny tile 8,32,0\n");
  EXPECT_EQ(ScheduleText(Default(square, kMachines[0])), "y tile 102,280,256\ny tile 6,8,0\n");
  // No row of the last block is left over where a smaller block leaves none.
  EXPECT_EQ(ScheduleText(Default("task t\ninput a f32[49,64]\ninput b f32[64,64]\n"
                                 "y = product a b\noutput y\n",
                                 kMachines[2])),
            "y tile 49,64,64\ny tile 7,32,0\n");
  EXPECT_EQ(ScheduleText(Default("task t\ninput a f64[6,2,100,100]\ny = product a a\noutput y\n",
                                 kMachines[2])),
            "y parallel 1,1,0,0,0\ny tile 0,0,100,100,100\ny tile 0,0,8,16,0\n");
}

// Tiles read whole pages of what lies on many, some terms at a time.
TEST(DefaultSchedule, ReadsWholePagesOfWhatLiesOnMany) {
  const Machine machine{2, 64, 32, /*tiles=*/true};
  const auto of = [&](const std::string& rows, const std::string& terms) {
    return ScheduleText(Default(("task t\ninput a f32[" + rows + "," + terms + "]\ninput b f32[" +
                                 terms + ",4096]\ny = product a b\noutput y\n")
                                    .c_str(),
                                machine));
  };
  EXPECT_EQ(of("64", "4096"), "y parallel 0,1024,0\ny tile 64,1024,96\ny tile 32,32,0\n");
  EXPECT_EQ(of("128", "1024"), "y parallel 0,1024,0\ny tile 96,224,512\ny tile 32,32,0\n");
}

// What would be too much for tiles, which fill up each short last loop of a sum, may be packed for
// vectors.
TEST(DefaultSchedule, PacksForVectorsWhatIsTooMuchForTiles) {
  const char* const gradient =
      "task t\ninput x f32[8,14,14,256]\ninput d f32[8,14,14,256]\n"
      "u := transpose x permutation=3,1,2,0\nv := transpose d permutation=1,2,0,3\n"
      "y = convolve u v sizes=3,3 pads=1,1 permutation=1,2,0,3\noutput y\n";
  const std::string text = ScheduleText(Default(gradient, {2, 64, 32, /*tiles=*/true}));
  EXPECT_NE(text.find("y tile 0,0,136,256,0,0,252\ny tile 0,0,8,32,0,0,0\n"), std::string::npos)
      << text;
}

// What is soon over is shared, too, by columns where rows that lie are not packed for them; and
// nothing that is over before another thread begins.
TEST(DefaultSchedule, SharesSmallConvolutionsAtAPoint) {
  const auto of = [](int size, int in, int out, const Machine& machine) {
    const std::string s = std::to_string(size), i = std::to_string(in), o = std::to_string(out);
    return ScheduleText(
        Default(("task t\ninput x f32[1," + s + "," + s + "," + i + "]\ninput w f32[1,1," + i +
                 "," + o + "]\ny = convolve x w sizes=" + s + "," + s + "\noutput y\n")
                    .c_str(),
                machine));
  };
  EXPECT_EQ(of(14, 384, 64, kMachines[2]), "y parallel 98,32,0\ny tile 98,32,256\ny tile 7,32,0\n");
  EXPECT_EQ(of(7, 960, 160, kMachines[2]), "y parallel 0,32,0\ny tile 49,32,256\ny tile 7,32,0\n");
  EXPECT_EQ(of(112, 16, 96, kMachines[2]),
            "y parallel 1568,0,0\ny tile 1192,96,16\ny tile 8,32,0\n");
  EXPECT_EQ(of(7, 32, 48, kMachines[2]), "y tile 49,48,32\ny tile 7,32,0\n");
}

TEST(DefaultSchedule, TakesWholeTapsOfAConvolution) {
  EXPECT_EQ(ScheduleText(Default("task t\ninput x f32[8,56,56,64]\ninput w f32[3,3,64,64]\n"
                                 "y = convolve x w sizes=56,56 pads=1,1\noutput y\n",
                                 kMachines[2])),
            "y parallel 0,0,6272,0,0,0,0\ny tile 0,0,136,64,0,0,256\ny tile 0,0,8,32,0,0,0\n");
  // Rows run through the images' memory, 48 at a time: no block of 8 ends within.
  EXPECT_EQ(ScheduleText(Default("task t\ninput x f32[2,9,9,48]\ninput d f32[2,9,9,32]\n"
                                 "t := transpose x permutation=3,1,2,0\n"
                                 "u := transpose d permutation=1,2,0,3\n"
                                 "y = convolve t u sizes=3,3 pads=1,1 permutation=1,2,0,3\n"
                                 "output y\n",
                                 kMachines[0])),
            "y tile 0,0,144,32,0,0,162\ny tile 0,0,6,8,0,0,0\n");
}

TEST(DefaultSchedule, SharesRowsOfADepthwiseConvolutionOrItsFeatures) {
  EXPECT_EQ(ScheduleText(Default("task t\ninput x f32[1,56,56,144]\ninput w f32[3,3,144]\n"
                                 "y = depthwise x w sizes=56,56 pads=1,1\noutput y\n",
                                 kMachines[2])),
            "y parallel 0,14,0,0,0,0\ny tile 0,0,12,16,0,0\n");
  // Of few rows one processor would have more than the other.
  EXPECT_EQ(ScheduleText(Default("task t\ninput x f32[1,7,7,6144]\ninput w f32[3,3,6144]\n"
                                 "y = depthwise x w sizes=7,7 pads=1,1\noutput y\n",
                                 kMachines[2])),
            "y parallel 0,0,0,1536,0,0\ny tile 0,0,7,16,0,0\n");
  EXPECT_EQ(ScheduleText(Default("task t\ninput x f32[1,2048,1536]\ninput w f32[4,1536]\n"
                                 "y = depthwise x w sizes=2048 pads=3\noutput y\n",
                                 kMachines[2])),
            "y parallel 0,516,0,0\ny tile 0,12,16,0\n");
  EXPECT_EQ(ScheduleText(Default("task t\ninput x f32[1,9,9,5]\ninput w f32[3,3,5]\n"
                                 "y = depthwise x w sizes=9,9 pads=1,1\noutput y\n",
                                 kMachines[1])),
            "y tile 0,0,5,8,0,0\n");
}

}  // namespace
}  // namespace hone::loops
