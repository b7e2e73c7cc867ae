#include "blame/flags_text.h"

#include <gtest/gtest.h>

namespace hone::blame {
namespace {

TEST(FlagsText, IsReadAndWritten) {
  const auto flags = FlagsFromText(
      "  --xla_cpu_x=3 xla_y --xla_disable_hlo_passes=fusion,algsimp "
      "--xla_backend_extra_options=xla_cpu_small=1,bare");
  ASSERT_TRUE(flags) << flags.error().message;
  const Flags expected = {{"xla_backend_extra_options.bare", ""},
                          {"xla_backend_extra_options.xla_cpu_small", "1"},
                          {"xla_cpu_x", "3"},
                          {"xla_disable_hlo_passes.algsimp", "true"},
                          {"xla_disable_hlo_passes.fusion", "true"},
                          {"xla_y", "true"}};
  EXPECT_EQ(*flags, expected);
  const std::string text = FlagsToText(*flags);
  EXPECT_EQ(text,
            "--xla_cpu_x=3 --xla_y=true --xla_disable_hlo_passes=algsimp,fusion "
            "--xla_backend_extra_options=bare,xla_cpu_small=1");
  EXPECT_EQ(*FlagsFromText(text), expected);
  EXPECT_TRUE(FlagsFromText("")->empty());
}

TEST(FlagsText, WhatIsNoFlagIsNamed) {
  const auto flags = FlagsFromText("--xla_a=1 -O3");
  ASSERT_FALSE(flags);
  EXPECT_NE(flags.error().message.find("'-O3'"), std::string::npos) << flags.error().message;
}

}  // namespace
}  // namespace hone::blame
