#include "blame/kernels.h"

#include <gtest/gtest.h>

#include "support/programs.h"

namespace hone::blame {
namespace {

ProgramGraph GraphOf(const std::string& text) {
  Pool& pool = testing::SharedPool();
  const ProgramInfo program = testing::MustLoad(pool, text);
  const auto graph = pool.Describe({program.id, {}});
  EXPECT_TRUE(graph);
  return graph ? *graph : ProgramGraph();
}

TEST(Kernels, AreMatchedByWhatTheyCompute) {
  const ProgramGraph a = GraphOf(R"(HloModule a
    f { p = f32[8] parameter(0)
        t = f32[8] tanh(p)
        ROOT e = f32[8] add(t, t) }
    ENTRY main { x = f32[8] parameter(0)
                 one = f32[8] fusion(x), kind=kLoop, calls=f
                 two = f32[8] negate(one)
                 ROOT three = f32[4] slice(two), slice={[0:4]} })");
  // The same under other names, and the negation done within.
  const ProgramGraph b = GraphOf(R"(HloModule b
    g { r = f32[8] parameter(0)
        s = f32[8] tanh(r)
        ROOT d = f32[8] add(s, s) }
    h { r = f32[8] parameter(0)
        n = f32[8] negate(r)
        ROOT d = f32[4] slice(n), slice={[0:4]} }
    ENTRY main { y = f32[8] parameter(0)
                 two = f32[8] fusion(y), kind=kLoop, calls=g
                 ROOT out = f32[4] fusion(two), kind=kLoop, calls=h })");
  const auto changes = MatchKernels({{"one", "fusion", 0.5, 1},
                                     {"two", "negate", 0.125, 1},
                                     {"three", "slice", 0.0625, 1},
                                     {"elsewhere", "copy", 9, 1}},
                                    a, {{"two", "fusion", 1.5, 1}, {"out", "fusion", 0.25, 1}}, b);
  ASSERT_EQ(changes.size(), 4u);
  EXPECT_EQ(changes[0].name_a, "one");
  EXPECT_EQ(changes[0].name_b, "two");
  EXPECT_EQ(changes[0].seconds_a, 0.5);
  EXPECT_EQ(changes[0].seconds_b, 1.5);
  EXPECT_EQ(changes[0].what, "tanh, add of f32[8]");
  EXPECT_EQ(changes[0].parts, (std::vector<std::string>{"t", "e", "one"}));
  EXPECT_EQ(changes[1].name_b, "out");
  EXPECT_EQ(changes[1].name_a, "");
  EXPECT_EQ(changes[2].name_a, "two");
  EXPECT_EQ(changes[2].kernels_b, 0);
}

}  // namespace
}  // namespace hone::blame
