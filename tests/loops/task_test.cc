#include "loops/task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loops/tasks.h"

namespace hone::loops {
namespace {

using testing::HasSubstr;

constexpr char kLinear[] =
    "task linear\ninput x f32[8,16]\ninput w f32[16,4]\ninput b f32[4]\n"
    "y = matmul x w\nz = add y b\noutput z\n";

TEST(Task, IsWrittenAsItIsRead) {
  const auto task = ParseTask(kLinear);
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(TaskText(*task), kLinear);
  EXPECT_EQ(task->tensors[3].shape, (std::vector<int64_t>{8, 4}));
  EXPECT_EQ(Flops(*task), 2 * 8 * 4 * 16 + 8 * 4);
  EXPECT_EQ(Bytes(*task), 4 * (8 * 16 + 16 * 4 + 4 + 8 * 4));
}

TEST(Task, HasAFingerprintOfWhatItComputesNotOfNames) {
  const auto task = ParseTask(kLinear);
  const auto renamed = ParseTask(
      "task other\n# a comment\ninput a f32[8,16]\ninput b f32[16,4]\ninput c f32[4]\n"
      "d = matmul a b\ne = add d c\noutput e\n");
  const auto wider = ParseTask(
      "task linear\ninput x f32[8,16]\ninput w f32[16,8]\ninput b f32[8]\n"
      "y = matmul x w\nz = add y b\noutput z\n");
  ASSERT_TRUE(task && renamed && wider);
  EXPECT_EQ(FingerprintOf(*task), FingerprintOf(*renamed));
  EXPECT_NE(FingerprintOf(*task), FingerprintOf(*wider));
}

TEST(Task, DefaultsAreLeftOut) {
  const auto task = ParseTask(
      "task c\ninput x f32[1,2,5,5]\ninput w f32[3,2,3,3]\n"
      "y = conv2d x w strides=1,1 dilations=2,2\noutput y\n");
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_THAT(TaskText(*task), HasSubstr("y = conv2d x w dilations=2,2\n"));
  EXPECT_EQ(task->tensors[2].shape, (std::vector<int64_t>{1, 3, 1, 1}));
}

TEST(Task, HasDefinitions) {
  const char* const text =
      "task d\ninput x f32[8,16]\ninput s f32[1]\nt := broadcast s sizes=8,16\n"
      "k := constant x value=0.1\ny := multiply x k\nz := add y t\n"
      "r = reduce_sum z axes=1\nb := broadcast r dimensions=0 sizes=8,16\n"
      "o = subtract x b\noutput o\n";
  const auto task = ParseTask(text);
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(TaskText(*task), text);
  EXPECT_TRUE(task->operations[2].definition);
  EXPECT_EQ(task->operations[1].value, 0.1);
  EXPECT_NE(FingerprintOf(*task), FingerprintOf(*ParseTask(std::string(text).replace(
                                      std::string(text).find("y :="), 4, "y ="))));
}

struct Wrong {
  const char* text;
  const char* message;
};

class WrongTask : public testing::TestWithParam<Wrong> {};

TEST_P(WrongTask, IsAnErrorThatSaysWhatAndWhere) {
  const auto task = ParseTask(GetParam().text);
  ASSERT_FALSE(task);
  EXPECT_EQ(task.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(task.error().message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Each, WrongTask,
    testing::Values(
        Wrong{"", "task NAME"}, Wrong{"input x f32[2]\n", "line 1"},
        Wrong{"task t\ninput x f32[2]\n", "no operations"},
        Wrong{"task t\ninput x f32[2]\ny = exp x\n", "no outputs"},
        Wrong{"task t\ninput x f8[2]\n", "no element type f8; there are f32, f64, s32, bf16"},
        Wrong{"task t\ninput x f32[2,]\n", "no type with a shape"},
        Wrong{"task t\ninput x f32[0]\n", "positive"},
        Wrong{"task t\ninput x f32[99999999999,99999999999]\n", "at most 2^32"},
        Wrong{"task t\ninput x f32[99999999999999999999]\n", "no type with a shape"},
        Wrong{"task t\ninput x f32[2]\ninput x f32[2]\n", "defined twice"},
        Wrong{"task t\ninput x f32[2]\ny = frob x\n", "no operation frob"},
        Wrong{"task t\ninput x f32[2]\ny = exp z\n", "line 3: there is no z"},
        Wrong{"task t\ninput x f32[2]\ny = add x\n", "takes 2 operands"},
        Wrong{"task t\ninput x f32[2]\ninput z f64[2]\ny = add x z\n", "types differ"},
        Wrong{"task t\ninput x f32[2,3]\ninput z f32[2]\ny = add x z\n", "the end of"},
        Wrong{"task t\ninput x f32[2,3]\ninput z f32[2,3]\ny = matmul x z\n", "[M,K]"},
        Wrong{"task t\ninput x s32[4]\ny = exp x\n", "floating-point"},
        Wrong{"task t\ninput x bf16[2]\ninput z f64[2]\ny = add x z\n", "types differ"},
        Wrong{"task t\ninput x f32[4]\ny := exp x\noutput y\n", "an output is stored"},
        Wrong{"task t\ninput x f32[4,4]\ny := matmul x x\n", "matmul is stored"},
        Wrong{"task t\ninput x f32[4,4]\ny := exp x\nz = matmul y y\n", "takes what is stored"},
        Wrong{"task t\ninput x f32[4]\ny = constant x value=1\n", "never stored"},
        Wrong{"task t\ninput x f32[4]\ny := constant x\n", "value=V is missing"},
        Wrong{"task t\ninput x f32[4]\ny := constant x value=nan\n", "no number"},
        Wrong{"task t\ninput x s32[4]\ny := constant x value=0.5\n", "is an integer"},
        Wrong{"task t\ninput x f32[4]\ny := broadcast x sizes=4,4 dimensions=2\n", "in order"},
        Wrong{"task t\ninput x f32[4]\ny := broadcast x sizes=5,4 dimensions=0\n", "in order"},
        Wrong{"task t\ninput x f32[4]\ny := broadcast x sizes=0 dimensions=0\n", "in order"},
        Wrong{"task t\ninput x f32[4]\ny = exp x strides=1,1\n", "no attribute"},
        Wrong{"task t\ninput x f32[4,4]\ny = reduce_sum x axes=2\n", "axes"},
        Wrong{"task t\ninput x f32[4,4]\ny = transpose x permutation=0,0\n", "no permutation"},
        Wrong{"task t\ninput x f32[4]\ny = running_sum x\n", "[A,N] or [A,N,B]"},
        Wrong{"task t\ninput x f32[4,4]\ny = running_max x reverse=2\n", "0 or 1"},
        Wrong{"task t\ninput x f32[4,4]\ny := slice x starts=1,1 sizes=4,2\n", "lie within"},
        Wrong{"task t\ninput x f32[4,4]\ny := slice x sizes=2,2\n", "lie within"},
        Wrong{"task t\ninput x f32[4]\ny = slice x starts=1 sizes=2\n", "never stored"},
        Wrong{"task t\ninput x f32[4]\ne = exp x\ny := slice e starts=1 sizes=2\n", "of an input"},
        Wrong{"task t\ninput x f32[1,1,4,4]\ny = pool_max x window=5,5\n", "larger than"},
        Wrong{"task t\ninput x f32[1,1,4,4]\ny = pool_max x\n", "window=KH,KW"},
        Wrong{"task t\ninput x f32[4,4]\ny = scores x x\n", "never stored"},
        Wrong{"task t\ninput x f32[4,4]\ninput z f32[4,5]\ny := scores x z\n", "[...,S,D]"},
        Wrong{"task t\ninput x f32[4,4]\ns := scores x x\ny = exp s\n", "scores are for"},
        Wrong{"task t\ninput x f32[4,4]\ns := scores x x\ny = reduce_sum s axes=0\n",
              "scores are for"},
        Wrong{"task t\ninput x f32[4,4]\ns := scores x x\nt := transpose s permutation=1,0\n",
              "scores are for"},
        Wrong{"task t\ninput x f32[4,4]\ns := scores x x\nt := scores x x\nu := add s t\n",
              "of two scores"},
        Wrong{"task t\ninput x f32[4,4]\ny = attend x x\n", "takes no scores"},
        Wrong{"task t\ninput x f32[4,4]\ns := scores x x\ny = attend s x until=-1\n", "from 0 to"},
        Wrong{"task t\ninput x f32[4,4]\ne := exp x\ns := scores e x\n", "takes what is stored"},
        Wrong{"task t\ninput x f32[4,5]\ny = product x x\n", "[...,M,K] and [...,K,N]"},
        Wrong{"task t\ninput x s32[4,4]\ny = product x x\n", "for floating-point numbers"},
        Wrong{"task t\ninput x f32[4,4]\ny = product x x permutation=1,0\n", "dimension is N"},
        Wrong{"task t\ninput x f32[4,4]\ny = product x x permutation=1,1\n", "no permutation"},
        Wrong{"task t\ninput x f32[4,4]\ne := exp x\ny = product e x\n", "takes what is stored"},
        Wrong{"task t\ninput x f32[4,4]\np := product x x\ny = transpose p permutation=1,0\n",
              "a product that is not stored is for elementwise"},
        Wrong{"task t\ninput x f32[4,4]\np := product x x\ny = reduce_sum p axes=0\n",
              "a product that is not stored is for elementwise"},
        Wrong{"task t\ninput x f32[4,4]\np := product x x\nq := product x x\ny = add p q\n",
              "of two that are not stored"},
        Wrong{"task t\ninput x f32[4,4]\np := product x x\ny = product p x\n",
              "takes what is stored"},
        Wrong{"task t\ninput x f32[4,4]\np := product x x\noutput p\n", "an output is stored"},
        Wrong{"task t\ninput x f32[4,4]\np := product x x\ny = attend p x\n",
              "a product that is not stored is for elementwise"},
        Wrong{"task t\ninput x f32[4,4]\ny = convolve x x sizes=4,4\n", "[N,S...,C] and"},
        Wrong{"task t\ninput x f32[4,4,4]\ny = convolve x x\n", "sizes=, the result's, is missing"},
        Wrong{"task t\ninput x f32[4,4,4]\ny = convolve x x sizes=4,4\n", "each of 1 spatial"},
        Wrong{"task t\ninput x f32[4,4,4]\ny = convolve x x sizes=4 strides=0\n",
              "strides= is a number from 1"},
        Wrong{"task t\ninput x f32[4,4,4]\ny = convolve x x sizes=4 dilations=0\n", "is not 0"},
        Wrong{"task t\ninput x f32[4,4,4]\ny = convolve x x sizes=4 pads=-2000000\n",
              "pads= is a number from -1000000"},
        Wrong{"task t\ninput x f32[4,4,4]\ny = convolve x x sizes=4 permutation=2,1,0\n",
              "dimension is F"},
        Wrong{"task t\ninput x f32[4]\nb := broadcast x sizes=4,4,4 dimensions=2\n"
              "y = convolve b b sizes=4\n",
              "takes what is stored"},
        Wrong{"task t\ninput x f32[4,4,4]\ny = depthwise x x sizes=4\n",
              "[N,S...,C] and [K...,C],"},
        Wrong{"task t\ninput x f32[4,4,4]\ninput w f32[2,3]\ny = depthwise x w sizes=4\n",
              "[N,S...,C] and [K...,C],"},
        Wrong{"task t\ninput x f32[4,4,4]\ninput w f32[2,4]\ny = depthwise x w\n",
              "depthwise: sizes=, the result's, is missing"},
        Wrong{"task t\ninput x f32[4,4,4]\ninput w f32[2,4]\nt := transpose x permutation=0,2,1\n"
              "y = depthwise t w sizes=4\n",
              "takes what is stored"},
        Wrong{
            "task t\ninput x f32[4,4,4]\ninput w f32[4]\nb := broadcast w sizes=2,4 dimensions=1\n"
            "y = depthwise x b sizes=4\n",
            "takes what is stored"},
        Wrong{"task t\ninput x s32[4,4,4]\ninput w s32[2,4]\ny = depthwise x w sizes=4\n",
              "floating-point"},
        Wrong{"task t\ninput x f32[4]\ninput z f32[5]\ny = select x x z\n", "alike in shape"},
        Wrong{"task t\ninput x f32[4]\ny = exp x\noutput x\n", "operation's result"}));

TEST(KnownTasks, CanAllBeReadAndHaveNamesOfTheirOwn) {
  std::set<std::string> names;
  std::set<std::string> prints;
  for (const KnownTask& known : KnownTasks()) {
    const auto task = ParseTask(known.text);
    ASSERT_TRUE(task) << known.name << ": " << task.error().message;
    EXPECT_EQ(task->name, known.name);
    EXPECT_TRUE(names.insert(known.name).second) << known.name;
    EXPECT_TRUE(prints.insert(FingerprintOf(*task).ToHex()).second) << known.name;
  }
}

}  // namespace
}  // namespace hone::loops
