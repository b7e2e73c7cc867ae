// Other programs, run and waited for.
#include "jobs/child.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>

namespace hone::jobs {
namespace {

TEST(Child, WhatItPrintsAndHowItEnds) {
  const auto done = RunProgram({"sh", "-c", "echo out; echo err >&2; exit 3"});
  ASSERT_TRUE(done);
  EXPECT_EQ(done->exit_code, 3);
  EXPECT_EQ(done->out, "out\n");
  EXPECT_EQ(done->err, "err");
}

TEST(Child, ReadsWhatItIsGiven) {
  const std::string much(300'000, 'x');
  const auto done = RunProgram({"sh", "-c", "wc -c"}, {.variables = {}, .input = much});
  ASSERT_TRUE(done);
  EXPECT_EQ(done->out, "300000\n");
}

TEST(Child, ThereIsNoSuchProgram) {
  const auto done = RunProgram({"no-such-program-of-hone"});
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("cannot run no-such-program-of-hone"), std::string::npos);
}

TEST(Child, VariablesTakeThePlaceOfOurs) {
  setenv("HONE_TEST_VARIABLE", "ours", 1);
  const auto done =
      RunProgram({"sh", "-c", "echo $HONE_TEST_VARIABLE; env | grep -c HONE_TEST_VARIABLE"},
                 {.variables = {"HONE_TEST_VARIABLE=theirs"}});
  unsetenv("HONE_TEST_VARIABLE");
  ASSERT_TRUE(done);
  EXPECT_EQ(done->out, "theirs\n1\n");
}

TEST(Child, OneThatTakesTooLongIsKilled) {
  const auto start = std::chrono::steady_clock::now();
  const auto done = RunProgram({"sleep", "300"}, {.variables = {}, .seconds = 0.1});
  ASSERT_TRUE(done);
  EXPECT_EQ(done->exit_code, 128 + 9);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(200));
}

}  // namespace
}  // namespace hone::jobs
