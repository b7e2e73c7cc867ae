// What was compiled is not compiled again, and what differs is not taken for it.
#include "compiler/run/executables.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "compiler/fingerprint.h"
#include "compiler/run/compare.h"
#include "compiler/run/compile.h"
#include "compiler/run/execute.h"
#include "compiler/run/optimised.h"
#include "compiler/run/race.h"
#include "compiler/run/shared_inputs.h"
#include "xla/hlo/parser/hlo_parser.h"

namespace hone::compiler {
namespace {

std::unique_ptr<xla::HloModule> Program(const std::string& constant) {
  auto module = xla::ParseAndReturnUnverifiedModule(R"(
HloModule m
ENTRY e {
  x = f32[128,64] parameter(0)
  y = f32[64,96] parameter(1)
  d = f32[128,96] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  c = f32[] constant()" + constant + R"()
  b = f32[128,96] broadcast(c), dimensions={}
  ROOT r = f32[128,96] add(d, b)
})");
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

CompilePlan WithFlag() {
  CompilePlan plan;
  plan.flags = {{"xla_cpu_prefer_vector_width", "128"}};
  return plan;
}

TEST(Executables, AreKnownByProgramAndPlan) {
  const auto module = Program("1.25");
  EXPECT_FALSE(compiler::Program::IsCompiled(*module, {}));
  ASSERT_TRUE(Racer::Prepare(*module, 1).has_value());
  EXPECT_TRUE(compiler::Program::IsCompiled(*module, {}));
  EXPECT_TRUE(compiler::Program::IsCompiled(*module->Clone(""), {}));
  EXPECT_FALSE(compiler::Program::IsCompiled(*module, WithFlag()));
  EXPECT_FALSE(compiler::Program::IsCompiled(*Program("1.5"), {}));
  // What sites are listed of is going to be raced.
  const auto other = Program("1.75");
  ASSERT_TRUE(CompileUnderPlan(*other, {}, {}).has_value());
  EXPECT_TRUE(compiler::Program::IsCompiled(*other, {}));
}

// As Program::Compile names it: the module is flat, and aliases nothing.
Fingerprint KeyOf(const xla::HloModule& module) {
  xla::HloModuleProto proto = module.Clone("")->ToProto();
  proto.clear_id();
  proto.clear_schedule();
  proto.clear_buffer_donor();
  proto.clear_input_output_alias();
  return ExecutableKey(proto, static_cast<uint64_t>(CodeQuality::kStock), WithFlag()).value();
}

TEST(Executables, ACompilationThatWasEndedBeforeCodeGoesOnFromThere) {
  const auto module = Program("4.25");
  CompileOptions look;
  look.sites = false;
  look.code = false;
  const auto compiled = CompileUnderPlan(*module, WithFlag(), look);
  ASSERT_TRUE(compiled.has_value());
  OptimisedModule optimised = TakeOptimised(KeyOf(*module));
  ASSERT_NE(optimised.module, nullptr);
  EXPECT_EQ(TakeOptimised(KeyOf(*module)).module, nullptr);
  // Something is added that shows whether it is taken.
  xla::HloInstruction* const root = optimised.module->entry_computation()->root_instruction();
  root->set_metadata_op_name("looked at");
  KeepOptimised(KeyOf(*module), std::move(optimised), 1);
  const auto program =
      compiler::Program::Compile(*module, CodeQuality::kStock, nullptr, WithFlag());
  ASSERT_TRUE(program.ok()) << program.status();
  const auto made = program->Optimised();
  ASSERT_TRUE(made.ok());
  EXPECT_EQ((*made)->entry_computation()->root_instruction()->metadata().op_name(), "looked at");
  EXPECT_EQ(TakeOptimised(KeyOf(*module)).module, nullptr);
  // It is as one that is made in one go.
  SetExecutableMemory(0);
  const auto whole = compiler::Program::Compile(*module, CodeQuality::kStock, nullptr, WithFlag());
  SetExecutableMemory(size_t{1} << 29);
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(DigestModule(**made).fingerprint, DigestModule(**whole->Optimised()).fingerprint);
}

TEST(Executables, WhatIsFoundAgainHasTheNameThatItHad) {
  CompileOptions look;
  look.sites = false;
  look.code = false;
  const auto name = [&](const xla::HloModule& module, const CompilePlan& plan) {
    const auto compiled = CompileUnderPlan(module, plan, look);
    EXPECT_TRUE(compiled.has_value());
    return compiled ? compiled->fingerprint.ToHex() : "";
  };
  const auto a = Program("6.25"), b = Program("6.5");
  const std::string of_a = name(*a, {}), of_b = name(*b, {}), under_plan = name(*a, WithFlag());
  EXPECT_NE(of_a, of_b);
  EXPECT_NE(of_a, under_plan);
  ASSERT_TRUE(Racer::Prepare(*a, 1).has_value());
  ASSERT_TRUE(Racer::Prepare(*b, 1).has_value());
  ASSERT_TRUE(Racer::Prepare(*a, 1, WithFlag()).has_value());
  ASSERT_TRUE(compiler::Program::IsCompiled(*a, {}));
  EXPECT_EQ(name(*a, {}), of_a);
  EXPECT_EQ(name(*b, {}), of_b);
  EXPECT_EQ(name(*a, WithFlag()), under_plan);
}

TEST(Executables, OnlyTheLastCompilationsThatWereEndedAreKept) {
  const auto module = Program("5.25");
  const auto keep = [&](uint64_t number, size_t bytes) {
    KeepOptimised({number, 0}, {module->Clone(""), number, 0}, bytes);
  };
  for (uint64_t number = 1; number <= 9; ++number) keep(number, 1);
  EXPECT_EQ(TakeOptimised({1, 0}).module, nullptr);
  EXPECT_EQ(TakeOptimised({2, 0}).applied, 2u);
  keep(10, size_t{1} << 40);
  keep(11, 1);
  EXPECT_EQ(TakeOptimised({10, 0}).module, nullptr);
  EXPECT_EQ(TakeOptimised({11, 0}).applied, 11u);
}

TEST(Executables, NoneAreKeptWhereThereIsNoMemory) {
  const auto module = Program("2.25");
  SetExecutableMemory(0);
  ASSERT_TRUE(Racer::Prepare(*module, 1).has_value());
  EXPECT_FALSE(compiler::Program::IsCompiled(*module, {}));
  SetExecutableMemory(size_t{1} << 29);
}

TEST(Executables, ThoseThatWereRacedAreCompared) {
  const auto a = Program("3.25");
  const auto b = Program("3.5");
  RaceOptions racing;
  racing.budget_seconds = 0.01;
  ASSERT_TRUE(Race(*a, *b, racing).has_value());
  CompareOptions comparing;
  comparing.inputs = 1;
  EXPECT_EQ(Compare(*a, *b, comparing).verdict, Verdict::kDifferent);
  EXPECT_EQ(Compare(*a, *a->Clone(""), comparing, {}, WithFlag()).verdict, Verdict::kEqual);
}

TEST(Executables, AreToldApartWithoutCode) {
  const auto module = Program("4.25");
  CompileOptions options;
  options.sites = false;
  for (const CompilePlan& plan : {CompilePlan{}, WithFlag()}) {
    options.code = true;
    const auto full = CompileUnderPlan(*module, plan, options);
    options.code = false;
    const auto quick = CompileUnderPlan(*module, plan, options);
    ASSERT_TRUE(full && quick);
    EXPECT_EQ(quick->fingerprint, full->fingerprint);
  }
}

TEST(SharedInputs, AreMadeOnce) {
  const auto roles = FindInputRoles(*Program("1"));
  const auto first = SharedInputs(roles, InputKind::kSigned, 5);
  const auto second = SharedInputs(roles, InputKind::kSigned, 5);
  const auto other = SharedInputs(roles, InputKind::kSigned, 6);
  const auto made = MakeInputs(roles, InputKind::kSigned, 5);
  ASSERT_TRUE(first.ok() && second.ok() && other.ok() && made.ok());
  EXPECT_EQ(first->get(), second->get());
  EXPECT_NE(first->get(), other->get());
  EXPECT_EQ((**first)[0], (*made)[0]);
}

// Both branches are taken, and places are also counted from the end.
TEST(Inputs, GoWhereProgramsBranchAndCount) {
  const auto module = xla::ParseAndReturnUnverifiedModule(R"(HloModule m
twice {
  x = f32[] parameter(0)
  ROOT y = f32[] add(x, x)
}
none {
  x = f32[] parameter(0)
  ROOT y = f32[] subtract(x, x)
}
ENTRY e {
  which = pred[] parameter(0)
  table = f32[50] parameter(1)
  places = s32[400,1] parameter(2)
  taken = f32[400] gather(table, places), offset_dims={}, collapsed_slice_dims={0},
    start_index_map={0}, index_vector_dim=1, slice_sizes={1}
  one = f32[] constant(1)
  branch = f32[] conditional(which, one, one), true_computation=twice, false_computation=none
  spread = f32[400] broadcast(branch), dimensions={}
  ROOT r = f32[400] multiply(taken, spread)
})");
  ASSERT_TRUE(module.ok()) << module.status();
  const auto roles = FindInputRoles(**module);
  const auto wide = MakeInputs(roles, InputKind::kWide, 1);
  const auto positive = MakeInputs(roles, InputKind::kPositive, 1);
  ASSERT_TRUE(wide.ok() && positive.ok());
  EXPECT_NE((*wide)[0].data<bool>()[0], (*positive)[0].data<bool>()[0]);
  int negative = 0;
  for (const int32_t place : (*wide)[2].data<int32_t>()) {
    EXPECT_TRUE(-50 <= place && place < 50) << place;
    negative += place < 0;
  }
  EXPECT_GT(negative, 20);
  EXPECT_LT(negative, 100);
  for (const int32_t place : (*positive)[2].data<int32_t>()) EXPECT_GE(place, 0);
}

// An energy that is more than what moves; corners in order; a covariance.
TEST(SearchedInputs, HaveTheHabitsOfPhysicsOnceInAWhile) {
  const auto module = xla::ParseAndReturnUnverifiedModule(R"(HloModule m
ENTRY e {
  state = f32[3,100] parameter(0)
  boxes = f32[50,4] parameter(1)
  covariance = f32[6,6] parameter(2)
  ROOT all = (f32[3,100], f32[50,4], f32[6,6]) tuple(state, boxes, covariance)
})");
  ASSERT_TRUE(module.ok());
  const auto roles = FindInputRoles(**module);
  int moving = 0, ordered = 0, definite = 0;
  for (uint64_t seed = 1; seed < 101; ++seed) {
    const auto made = MakeInputs(roles, InputKind::kSearched, seed);
    ASSERT_TRUE(made.ok());
    EXPECT_EQ((*made)[0], (*MakeInputs(roles, InputKind::kSearched, seed))[0]);
    const auto state = (*made)[0].data<float>(), boxes = (*made)[1].data<float>(),
               covariance = (*made)[2].data<float>();
    bool all_move = true, all_ordered = true, dominant = true;
    for (int i = 0; i < 100; ++i) {
      const float density = state[i], momentum = state[100 + i], energy = state[200 + i];
      all_move = all_move && density > 0 && energy * density > momentum * momentum / 2;
    }
    for (int i = 0; i < 50; ++i) {
      all_ordered =
          all_ordered && boxes[4 * i] < boxes[4 * i + 2] && boxes[4 * i + 1] < boxes[4 * i + 3];
    }
    for (int i = 0; i < 6; ++i) {
      float others = 0;
      for (int k = 0; k < 6; ++k) others += k == i ? 0 : std::fabs(covariance[6 * i + k]);
      dominant = dominant && covariance[7 * i] > others;
    }
    moving += all_move;
    ordered += all_ordered;
    definite += dominant;
  }
  EXPECT_GT(moving, 5);
  EXPECT_GT(ordered, 10);
  EXPECT_GT(definite, 15);
}

}  // namespace
}  // namespace hone::compiler
