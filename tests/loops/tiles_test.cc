// Products and convolutions by units for bf16: the tiles of a matrix unit, and pairs in vectors.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel_cases.h"
#include "loops/default_schedule.h"
#include "loops/generator.h"

namespace hone::loops {
namespace {

using testing::HasSubstr;

constexpr Machine kWith{2, 64, 32, /*tiles=*/true};
constexpr Machine kWithPairs{2, 64, 32, /*tiles=*/false, /*pairs=*/true};
constexpr Machine kWithout{2, 64, 32};

const KernelCase kCases[] = {
    {"whole", "input a bf16[64,96]\ninput b bf16[96,128]\ny = product a b\noutput y\n",
     "y tile 64,64,96\ny tile 32,32,0\n"},
    {"odd_sizes", "input a bf16[61,83]\ninput b bf16[83,97]\ny = product a b\noutput y\n",
     "y parallel 32,64,0\ny tile 32,64,64\ny tile 32,32,0\n"},
    {"small", "input a bf16[3,5]\ninput b bf16[5,7]\ny = product a b\noutput y\n",
     "y tile 3,7,5\ny tile 32,32,0\n"},
    {"blocks_of_terms", "input a bf16[70,200]\ninput b bf16[200,40]\ny = product a b\noutput y\n",
     "y tile 32,32,40\ny tile 32,32,0\n"},
    {"transposed",
     "input a bf16[83,61]\ninput b bf16[97,83]\nl := transpose a permutation=1,0\n"
     "r := transpose b permutation=1,0\ny = product l r\noutput y\n",
     "y tile 61,97,64\ny tile 32,32,0\n"},
    {"neither_way",
     "input a bf16[3,61,83]\ninput b bf16[83,47,3]\nl := transpose a permutation=0,1,2\n"
     "r := transpose b permutation=2,0,1\ny = product l r\noutput y\n",
     "y parallel 1,0,0,0\ny tile 0,61,47,83\ny tile 0,32,32,0\n"},
    {"batches_and_permutation",
     "input a bf16[3,61,40]\ninput b bf16[3,40,80]\n"
     "y = product a b permutation=1,0,2\noutput y\n",
     "y parallel 1,0,0,0\ny tile 0,61,80,40\ny tile 0,32,32,0\n"},
    {"few_rows", "input a bf16[5,83]\ninput b bf16[83,97]\ny = product a b\noutput y\n",
     "y tile 5,64,64\ny tile 32,32,0\n"},
    {"with_what_follows",
     "input a bf16[61,80]\ninput b bf16[80,97]\ninput c bf16[97]\ninput d f32[61,97]\n"
     "p := product a b\nt := broadcast c sizes=61,97 dimensions=1\ny := add p t\nu := tanh y\n"
     "z = multiply u d\noutput z\n",
     "z tile 61,64,32\nz tile 32,32,0\n"},
    {"rounded",
     "input a bf16[61,80]\ninput b bf16[80,97]\np := product a b\ny = to_bf16 p\noutput y\n",
     "y parallel 40,64,0\ny tile 40,32,32\ny tile 32,32,0\n"},
    {"rounded_with_what_follows",
     "input a bf16[61,80]\ninput b f32[80,97]\ninput c bf16[61,97]\np := product a b\n"
     "s := add p c\nr := relu s\ny = to_bf16 r\noutput y\n",
     "y tile 61,64,64\ny tile 32,32,0\n"},
    {"bytes", "input a s8[61,80]\ninput b u8[80,97]\ny = product a b\noutput y\n",
     "y tile 61,64,80\ny tile 32,32,0\n"},
    {"bytes_transposed",
     "input a u8[80,61]\ninput b pred[97,80]\nl := transpose a permutation=1,0\n"
     "r := transpose b permutation=1,0\ny = product l r\noutput y\n",
     "y tile 61,64,80\ny tile 32,32,0\n"},
    {"halves", "input a f16[61,80]\ninput b f16[80,97]\ny = product a b\noutput y\n",
     "y tile 61,64,80\ny tile 32,32,0\n"},
    {"f32", "input a f32[61,200]\ninput b f32[200,97]\ny = product a b\noutput y\n",
     "y tile 61,64,64\ny tile 32,32,0\n"},
    {"rounded_as_they_are_read",
     "input a f32_as_bf16[61,200]\ninput b f32_as_bf16[97,200]\n"
     "r := transpose b permutation=1,0\ny = product a r\noutput y\n",
     "y tile 61,64,64\ny tile 32,32,0\n"},
    {"rounded_as_they_are_read_other_way",
     "input a f32_as_bf16[200,61]\ninput b f32_as_bf16[200,97]\n"
     "l := transpose a permutation=1,0\ny = product l b\noutput y\n",
     "y tile 61,64,96\ny tile 32,32,0\n"},
    {"taps_rounded_as_they_are_read",
     "input x bf16[2,9,9,40]\ninput w f32_as_bf16[48,40,3,3]\n"
     "r := transpose w permutation=2,3,1,0\n"
     "y = convolve x r sizes=9,9 pads=1,1\noutput y\n",
     ""},
    // Infinite ones, times others whose further pieces are 0.
    {"infinite_f32",
     "input x f32[40,64]\ninput u u8[64,48]\nk := constant x value=100\nm := multiply x k\n"
     "e = exp m\no := constant u value=1\nb = add u o\ny = product e b\noutput y\n",
     "y tile 40,48,32\ny tile 32,32,0\n"},
    {"f32_transposed",
     "input a f32[200,61]\ninput b f32[97,200]\nl := transpose a permutation=1,0\n"
     "r := transpose b permutation=1,0\ny = product l r\noutput y\n",
     "y tile 61,64,96\ny tile 32,32,0\n"},
    {"f32_neither_way",
     "input a f32[3,61,83]\ninput b f32[83,47,3]\nr := transpose b permutation=2,0,1\n"
     "y = product a r\noutput y\n",
     "y tile 0,61,47,83\ny tile 0,32,32,0\n"},
    {"f32_and_bf16", "input a bf16[61,200]\ninput b f32[200,97]\ny = product a b\noutput y\n",
     "y tile 61,64,64\ny tile 32,32,0\n"},
    {"convolution",
     "input x bf16[2,9,8,20]\ninput w bf16[3,3,20,40]\n"
     "y = convolve x w sizes=9,8 pads=1,1\noutput y\n",
     "y tile 0,0,144,40,0,0,180\ny tile 0,0,32,32,0,0,0\n"},
    {"strided_convolution",
     "input x bf16[2,19,18,3]\ninput w bf16[3,3,3,40]\n"
     "y = convolve x w sizes=9,8 strides=2,2\noutput y\n",
     "y tile 0,0,40,40,0,0,9\ny tile 0,0,32,32,0,0,0\n"},
    {"convolution_of_f32",
     "input x f32[2,9,8,64]\ninput w f32[3,3,64,40]\n"
     "y = convolve x w sizes=9,8 pads=1,1\nz = relu y\noutput z\n",
     "y tile 0,0,144,40,0,0,64\ny tile 0,0,32,32,0,0,0\n"},
    {"convolution_with_taps_last",
     "input x f32[1,9,8,96]\ninput w f32[40,96,3,3]\nt := transpose w permutation=2,3,1,0\n"
     "y = convolve x t sizes=9,8 pads=1,1\noutput y\n",
     "y tile 0,0,72,40,0,0,300\ny tile 0,0,32,32,0,0,0\n"},
    {"convolution_of_bf16_with_taps_last",
     "input x bf16[2,9,8,64]\ninput w bf16[72,64,3,2]\nt := transpose w permutation=2,3,1,0\n"
     "y = convolve x t sizes=7,7\noutput y\n",
     "y parallel 0,0,0,40,0,0,0\ny tile 0,0,40,40,0,0,384\ny tile 0,0,32,32,0,0,0\n"},
    // Memory is asked for what is packed next: behind the last terms, other columns; by taps; along
    // terms; of more blocks of rows than there are lines to ask for.
    {"much_memory", "input a f32[130,300]\ninput b f32[300,900]\ny = product a b\noutput y\n",
     "y parallel 0,480,0\ny tile 64,288,64\ny tile 32,32,0\n"},
    {"much_memory_transposed",
     "input a f32[1100,300]\ninput b f32[900,300]\nt := transpose b permutation=1,0\n"
     "y = product a t\noutput y\n",
     "y tile 1100,288,64\ny tile 32,32,0\n"},
    {"much_memory_by_taps",
     "input x f32[1,14,12,128]\ninput w f32[3,3,128,250]\n"
     "y = convolve x w sizes=12,10\noutput y\n",
     "y tile 0,0,120,128,0,0,64\ny tile 0,0,32,32,0,0,0\n"},
    {"weights_gradient",
     "input x bf16[2,10,9,16]\ninput d bf16[2,10,9,40]\n"
     "t := transpose x permutation=3,1,2,0\nu := transpose d permutation=1,2,0,3\n"
     "y = convolve t u sizes=3,3 pads=1,1 permutation=1,2,0,3\noutput y\n",
     "y tile 0,0,64,40,0,0,18\ny tile 0,0,32,32,0,0,0\n"},
};

class TilesTest : public testing::TestWithParam<KernelCase> {};

// The same blocks, two terms at once.
Schedule OfPairs(Schedule schedule) {
  if (!schedule.empty()) schedule.back().numbers.back() = 2;
  return schedule;
}

TEST_P(TilesTest, ComputeTheTask) {
  const auto task = ParseTask("task t\n" + std::string(GetParam().task));
  ASSERT_TRUE(task) << task.error().message;
  const auto given = ParseSchedule(GetParam().schedule);
  ASSERT_TRUE(given) << given.error().message;
  const auto generator = StartGenerator();
  ASSERT_TRUE(generator);
  std::vector<Schedule> schedules = {DefaultSchedule(Expand(*task), kWith),
                                     DefaultSchedule(Expand(*task), kWithPairs), *given};
  if (MakeKernel(*task, OfPairs(*given))) schedules.push_back(OfPairs(*given));
  for (const Schedule& schedule : schedules) {
    const auto kernel = MakeKernel(*task, schedule);
    ASSERT_TRUE(kernel) << kernel.error().message << "\n" << ScheduleText(schedule);
    if (ThisMachine().Has(kernel->payload.unit)) ExpectComputed(*generator, *task, schedule);
  }
  EXPECT_EQ(generator->restarts(), 0);
}

INSTANTIATE_TEST_SUITE_P(Each, TilesTest, testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

Task Product(const char* element) {
  return *ParseTask(
      fmt::format("task t\ninput a {0}[256,256]\ninput b {0}[256,256]\n"
                  "y = product a b\noutput y\n",
                  element));
}

Unit UnitFor(const Task& task, const Machine& machine) {
  const auto kernel = MakeKernel(task, DefaultSchedule(Expand(task), machine));
  EXPECT_TRUE(kernel) << kernel.error().message;
  return kernel->payload.unit;
}

TEST(Tiles, AreForWhatIsFewNumbersOfBF16WhereThereAreSome) {
  for (const char* element : {"bf16", "s8", "f16", "f32"}) {
    EXPECT_EQ(UnitFor(Product(element), kWith), Unit::kTiles) << element;
    EXPECT_EQ(UnitFor(Product(element), kWithout), Unit::kVectors) << element;
  }
  EXPECT_EQ(UnitFor(Product("f64"), kWith), Unit::kVectors);
}

TEST(Pairs, AreForWhatIsOneNumberOfBF16) {
  for (const char* element : {"bf16", "s8", "u8", "f32_as_bf16"}) {
    EXPECT_EQ(UnitFor(Product(element), kWithPairs), Unit::kPairs) << element;
  }
  for (const char* element : {"f16", "f32", "f64"}) {
    EXPECT_EQ(UnitFor(Product(element), kWithPairs), Unit::kVectors) << element;
    EXPECT_FALSE(MakeKernel(Product(element), *ParseSchedule("y tile 64,64,64\ny tile 32,32,2\n")));
  }
  const auto alone =
      MakeKernel(Product("bf16"), *ParseSchedule("y tile 64,64,64\ny tile 8,32,2\n"));
  ASSERT_FALSE(alone);
  EXPECT_THAT(alone.error().message, HasSubstr("two by two for 32 rows"));
}

bool Asks(int64_t rows, int64_t terms, int64_t columns) {
  const Task task = *ParseTask(
      fmt::format("task t\ninput a f32[{0},{1}]\ninput b f32[{1},{2}]\ny = product a b\noutput y\n",
                  rows, terms, columns));
  const auto kernel = MakeKernel(task, *ParseSchedule("y tile 64,256,256\ny tile 32,32,0\n"));
  return kernel && kernel->payload.module.find("memref.prefetch") != std::string::npos;
}

TEST(Tiles, AskMemoryForWhatIsNextWhereEnoughIsMultipliedMeanwhile) {
  EXPECT_TRUE(Asks(128, 1024, 1024));
  EXPECT_FALSE(Asks(64, 1024, 1024)) << "too few rows pass by";
  EXPECT_FALSE(Asks(128, 256, 512)) << "it stays in a cache";
  EXPECT_FALSE(Asks(1024, 256, 256)) << "nothing is next";
}

// Of three channels a tile would be filled to a tenth.
TEST(Tiles, AreNotForSumsOfVeryFewTerms) {
  const Task task = *ParseTask(
      "task t\ninput x bf16[1,64,64,3]\ninput w bf16[7,7,3,64]\n"
      "y = convolve x w sizes=58,58\noutput y\n");
  EXPECT_EQ(UnitFor(task, kWith), Unit::kVectors);
}

TEST(Tiles, HaveAsManyRowsAsColumns) {
  const Task task = Product("bf16");
  const auto wrong = MakeKernel(task, *ParseSchedule("y tile 64,64,64\ny tile 32,16,0\n"));
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("of 32 rows there are 32 columns"));
  EXPECT_FALSE(MakeKernel(Product("f64"), *ParseSchedule("y tile 64,64,64\ny tile 32,32,0\n")));
}

class UnitsTest : public testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(UnitsTest, AreRefusedWhereThereAreNone) {
  const auto [schedule, unit] = GetParam();
  const auto kernel = MakeKernel(Product("bf16"), *ParseSchedule(schedule));
  ASSERT_TRUE(kernel) << kernel.error().message;
  if (ThisMachine().Has(kernel->payload.unit)) GTEST_SKIP() << "there are some here";
  const auto compiled = StartGenerator()->Compile(*kernel);
  ASSERT_FALSE(compiled);
  EXPECT_THAT(compiled.error().message, HasSubstr(unit));
}

INSTANTIATE_TEST_SUITE_P(
    Each, UnitsTest,
    testing::Values(
        std::pair<std::string, std::string>("y tile 64,64,64\ny tile 32,32,0\n", "matrix unit"),
        std::pair<std::string, std::string>("y tile 64,64,64\ny tile 32,32,2\n", "pairs of bf16")));

}  // namespace
}  // namespace hone::loops
