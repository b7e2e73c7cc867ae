// Programs raced against each other.
#include "compiler/run/race.h"

#include <gtest/gtest.h>

#include "same_value.h"

namespace hone::compiler {
namespace {

TEST(Race, AProgramAgainstItselfIsNotMeasured) {
  const auto module = Parsed(
      "HloModule test\nENTRY main {\n  p = f32[64] parameter(0)\n  ROOT r = f32[64] "
      "cosine(p)\n}\n");
  const auto report = Race(*module, *module, RaceOptions{});
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_TRUE(report->same_executable);
  EXPECT_EQ(report->speedup, 1);
}

TEST(Race, MoreWorkIsSlower) {
  const auto little = Parsed(
      "HloModule test\nENTRY main {\n  p = f32[256,256] parameter(0)\n"
      "  ROOT r = f32[256,256] cosine(p)\n}\n");
  const auto much = Parsed(
      "HloModule test\nENTRY main {\n  p = f32[256,256] parameter(0)\n"
      "  d = f32[256,256] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "  e = f32[256,256] dot(d, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "  f = f32[256,256] dot(e, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "  c = f32[256,256] cosine(p)\n  ROOT r = f32[256,256] add(c, f)\n}\n");
  const auto report = Race(*much, *little, RaceOptions{});
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_GT(report->low, 1);
  EXPECT_LE(report->low, report->speedup);
  EXPECT_LE(report->speedup, report->high);
}

}  // namespace
}  // namespace hone::compiler
