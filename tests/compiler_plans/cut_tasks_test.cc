// A program taken apart: what lies together, equal parts once, and each part a program that runs.
#include "compiler/cut_tasks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "compiler/load.h"
#include "compiler/run/race.h"
#include "support/parse.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_opcode.h"

namespace hone::compiler {
namespace {

int Count(const xla::HloModule& module, xla::HloOpcode opcode) {
  int count = 0;
  for (const auto* computation : module.computations()) {
    for (const auto* instruction : computation->instructions()) {
      count += instruction->opcode() == opcode;
    }
  }
  return count;
}

// Two layers alike: a product, a sum that is added, a softmax over rows.
constexpr const char* kLayers = R"(
HloModule m
max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
ENTRY e {
  x = f32[64,64] parameter(0)
  w1 = f32[64,64] parameter(1)
  w2 = f32[64,64] parameter(2)
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  d1 = f32[64,64] dot(x, w1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  m1 = f32[64] reduce(d1, low), dimensions={1}, to_apply=max
  mb1 = f32[64,64] broadcast(m1), dimensions={0}
  c1 = f32[64,64] subtract(d1, mb1)
  e1 = f32[64,64] exponential(c1)
  t1 = f32[64] reduce(e1, zero), dimensions={1}, to_apply=add
  tb1 = f32[64,64] broadcast(t1), dimensions={0}
  y1 = f32[64,64] divide(e1, tb1)
  d2 = f32[64,64] dot(y1, w2), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  m2 = f32[64] reduce(d2, low), dimensions={1}, to_apply=max
  mb2 = f32[64,64] broadcast(m2), dimensions={0}
  c2 = f32[64,64] subtract(d2, mb2)
  e2 = f32[64,64] exponential(c2)
  t2 = f32[64] reduce(e2, zero), dimensions={1}, to_apply=add
  tb2 = f32[64,64] broadcast(t2), dimensions={0}
  y2 = f32[64,64] divide(e2, tb2)
  ROOT d3 = f32[64,64] dot(y2, w2), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})";

TEST(CutTasks, OneDotEachWithWhatLeadsToItAndEqualOnesOnce) {
  const auto module = Parse(kLayers);
  const std::vector<CutTask> tasks = CutTasks(*module, 100);
  ASSERT_EQ(tasks.size(), 2u);
  EXPECT_EQ(Count(*tasks[0].module, xla::HloOpcode::kDot), 1);
  EXPECT_EQ(Count(*tasks[0].module, xla::HloOpcode::kReduce), 0);
  EXPECT_EQ(tasks[0].what, "d1");
  EXPECT_EQ(tasks[0].places, 1);
  EXPECT_EQ(Count(*tasks[1].module, xla::HloOpcode::kDot), 1);
  EXPECT_EQ(Count(*tasks[1].module, xla::HloOpcode::kReduce), 2);
  EXPECT_EQ(tasks[1].what, "d2");
  EXPECT_EQ(tasks[1].places, 2);
  EXPECT_EQ(tasks[1].runs, 2);
  for (const CutTask& task : tasks) {
    EXPECT_EQ(VerifyModule(*task.module), "");
    const auto racer = Racer::Prepare(*task.module, 1);
    EXPECT_TRUE(racer.has_value()) << racer.error().message;
  }
}

TEST(CutTasks, NoMoreThanAsked) {
  const auto module = Parse(kLayers);
  EXPECT_EQ(CutTasks(*module, 1).size(), 1u);
}

// A loop that is long is taken apart, one of few operations stays whole.
std::string Loop(int operations) {
  std::string text = R"(
HloModule m
body {
  s = (s32[], f32[32,32]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  v0 = f32[32,32] get-tuple-element(s), index=1
)";
  for (int k = 1; k <= operations; ++k) {
    text += "  v" + std::to_string(k) + " = f32[32,32] dot(v" + std::to_string(k - 1) + ", v" +
            std::to_string(k - 1) + "), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n";
  }
  return text + "  ROOT t = (s32[], f32[32,32]) tuple(j, v" + std::to_string(operations) + R"()
}
condition {
  s = (s32[], f32[32,32]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  x = f32[32,32] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[32,32]) tuple(zero, x)
  w = (s32[], f32[32,32]) while(t), condition=condition, body=body
  r = f32[32,32] get-tuple-element(w), index=1
  ROOT n = f32[32,32] negate(r)
})";
}

TEST(CutTasks, LongLoopsAreTakenApart) {
  const auto shorter = Parse(Loop(2));
  const std::vector<CutTask> whole = CutTasks(*shorter, 100);
  EXPECT_TRUE(std::any_of(whole.begin(), whole.end(), [](const CutTask& task) {
    return Count(*task.module, xla::HloOpcode::kWhile) == 1;
  }));
  const auto longer = Parse(Loop(30));
  const std::vector<CutTask> apart = CutTasks(*longer, 100);
  for (const CutTask& task : apart) EXPECT_EQ(Count(*task.module, xla::HloOpcode::kWhile), 0);
  const auto dot = std::find_if(apart.begin(), apart.end(), [](const CutTask& task) {
    return Count(*task.module, xla::HloOpcode::kDot) == 1;
  });
  ASSERT_NE(dot, apart.end());
  EXPECT_EQ(dot->places, 30);
  EXPECT_EQ(dot->runs, 90);  // the loop goes round three times
}

TEST(CutTasks, WhatCannotStandAloneIsLeftOut) {
  const auto module = Parse(R"(
HloModule m
ENTRY e {
  x = f32[32,16] parameter(0)
  start = token[] after-all()
  ROOT out = token[] outfeed(x, start)
})");
  EXPECT_TRUE(CutTasks(*module, 100).empty());
}

TEST(CutTasks, LayoutsAreTakenBack) {
  const auto module = Parse(R"(
HloModule m
ENTRY e {
  x = f32[32,16] parameter(0)
  w = f32[8,16] parameter(1)
  t = f32[16,8]{0,1} transpose(w), dimensions={1,0}
  ROOT d = f32[32,8] dot(x, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})");
  const std::vector<CutTask> tasks = CutTasks(*module, 100);
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].module->ToString().find("{0,1}"), std::string::npos);
}

}  // namespace
}  // namespace hone::compiler
