#include "dataset/programs.h"

#include <gtest/gtest.h>

namespace hone::dataset {
namespace {

TEST(Programs, ByName) {
  for (const char* name : {"a.hlo", "d/a.txt", "a.PB.gz", "a.b.before_optimizations.txt"}) {
    EXPECT_TRUE(LooksLikeProgram(name)) << name;
  }
  for (const char* name :
       {"a.md", "README.txt", "d/index.txt", "d/.a.hlo", "hlo", "a.hlo.zst", ""}) {
    EXPECT_FALSE(LooksLikeProgram(name)) << name;
  }
}

TEST(Programs, WithoutExtension) {
  EXPECT_EQ(WithoutExtension("gpt2/a.hlo"), "gpt2/a");
  EXPECT_EQ(WithoutExtension("a.v2.pb.gz"), "a.v2");
  EXPECT_EQ(WithoutExtension("a.v2"), "a.v2");
}

TEST(Programs, WhatNamesTell) {
  EXPECT_EQ(GuessFamily("gpt2/train.hlo"), "gpt2");
  EXPECT_EQ(GuessFamily("models/bert/fwd.hlo"), "bert");
  EXPECT_EQ(GuessFamily("Mixer_fwd_1.hlo"), "mixer");
  EXPECT_EQ(GuessFamily("0001.hlo"), "0001");
  EXPECT_EQ(GuessPhase("gpt2/hf_train_l4.hlo"), "train");
  EXPECT_EQ(GuessPhase("train/hf_fwd_r18.hlo"), "fwd");
  EXPECT_EQ(GuessPhase("jit_update.12.txt"), "train");
  EXPECT_EQ(GuessPhase("constrained_search.hlo"), "other");
  EXPECT_EQ(GuessPhase("1234"), "other");
}

}  // namespace
}  // namespace hone::dataset
