#include <gtest/gtest.h>

#include <cmath>

#include "core/nearest.h"
#include "jobs/quantities.h"
#include "report/words.h"

namespace hone::jobs {
namespace {

using report::Grouped;
using report::HumanBytes;
using report::HumanCount;
using report::Printable;

TEST(Parse, Durations) {
  EXPECT_DOUBLE_EQ(*ParseDuration("30s"), 30);
  EXPECT_DOUBLE_EQ(*ParseDuration("30"), 30);
  EXPECT_DOUBLE_EQ(*ParseDuration("2m"), 120);
  EXPECT_DOUBLE_EQ(*ParseDuration("1.5h"), 5400);
  EXPECT_DOUBLE_EQ(*ParseDuration("500ms"), 0.5);
  EXPECT_DOUBLE_EQ(*ParseDuration(" 2 min "), 120);
  for (const char* bad :
       {"", "s", "-1s", "0", "nan", "inf", "1y", "1e99s", "30s!", "1s2", "0x1s"}) {
    EXPECT_FALSE(ParseDuration(bad)) << bad;
  }
}

TEST(Parse, Sizes) {
  EXPECT_EQ(*ParseSize("1GiB"), size_t{1} << 30);
  EXPECT_EQ(*ParseSize("512MiB"), size_t{512} << 20);
  EXPECT_EQ(*ParseSize("2GB"), 2'000'000'000u);
  EXPECT_EQ(*ParseSize("64k"), 65536u);
  EXPECT_EQ(*ParseSize("17"), 17u);
  for (const char* bad : {"", "GiB", "-1", "0", "1XB", "1e30", "nan"}) {
    EXPECT_FALSE(ParseSize(bad)) << bad;
  }
}

TEST(Parse, Budgets) {
  EXPECT_DOUBLE_EQ(ParseBudget("30s")->seconds, 30);
  EXPECT_EQ(ParseBudget("30s")->steps, std::numeric_limits<int64_t>::max());
  EXPECT_EQ(ParseBudget("2000steps")->steps, 2000);
  EXPECT_TRUE(std::isinf(ParseBudget("2000steps")->seconds));
  EXPECT_EQ(ParseBudget("1m,5steps")->steps, 5);
  EXPECT_DOUBLE_EQ(ParseBudget("1m,5steps")->seconds, 60);
  for (const char* bad : {"", "steps", "0steps", "1.5steps", "-3steps", "30s,", "30 parsecs"}) {
    EXPECT_FALSE(ParseBudget(bad)) << bad;
  }
}

TEST(Parse, NumbersForPeople) {
  EXPECT_EQ(Grouped(0), "0");
  EXPECT_EQ(Grouped(999), "999");
  EXPECT_EQ(Grouped(1234567), "1,234,567");
  EXPECT_EQ(Grouped(-123456), "-123,456");
  EXPECT_EQ(HumanBytes(1536), "1.50 KiB");
  EXPECT_EQ(HumanBytes(100), "100 B");
  EXPECT_EQ(HumanCount(2.5e9), "2.50 G");
}

TEST(Parse, MessagesCannotHarmATerminal) {
  EXPECT_EQ(Printable("a\nb\n"), "a\n  b");
  EXPECT_EQ(Printable(std::string("a\x1b[2Jb\0c\xff", 9)).find('\x1b'), std::string::npos);
}

TEST(Nearest, Distances) {
  EXPECT_EQ(EditDistance("", "abc"), 3u);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(EditDistance("algsmip", "algsimp"), 1u);  // two letters swapped
  EXPECT_EQ(Nearest("dec", {"cse", "dce", "fusion"}), "dce");
  EXPECT_EQ(Nearest("simplify-", {"simplify-fp-conversions"}), "simplify-fp-conversions");
  EXPECT_EQ(Nearest("zzzz", {"cse", "dce"}), "");
}

}  // namespace
}  // namespace hone::jobs
