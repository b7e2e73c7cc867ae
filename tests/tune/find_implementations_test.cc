// Which implementations a program has a place for, and how they are come to.
#include "tune/find_implementations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/native_kernel.h"
#include "support/programs.h"
#include "tune/promise.h"
#include "wire/pool.h"

namespace hone::tune {
namespace {

constexpr double kPatience = 600;

// Those of these names alone, of a program's text.
std::vector<Alternative> FindAmong(const std::string& text, const std::set<std::string>& among) {
  const std::shared_ptr<Pool> pool = Pool::Start(PoolOptions()).value();
  return FindImplementations(*pool, pool->Load(text).value(), kPatience, nullptr, &among);
}

// A loop that sorts, within a call.
constexpr char kProgram[] = R"(HloModule small
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT, type=TOTALORDER
}
body {
  p = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[4] get-tuple-element(p), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  y = f32[4] add(x, x)
  s = f32[4] sort(y), dimensions={0}, is_stable=true, to_apply=less
  ROOT t = (s32[], f32[4]) tuple(next, s)
}
goes_on {
  p = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  most = s32[] constant(1000)
  ROOT on = pred[] compare(i, most), direction=LT
}
inner {
  a = f32[4] parameter(0)
  zero = s32[] constant(0)
  start = (s32[], f32[4]) tuple(zero, a)
  loop = (s32[], f32[4]) while(start), condition=goes_on, body=body
  ROOT last = f32[4] get-tuple-element(loop), index=1
}
ENTRY main {
  a = f32[4] parameter(0)
  ROOT r = f32[4] call(a), to_apply=inner
}
)";

TEST(FindImplementations, WhatIsInTheWayIsWrittenOutFirst) {
  const std::shared_ptr<Pool> pool = Pool::Start(PoolOptions()).value();
  const ProgramInfo program = pool->Load(kProgram).value();
  std::vector<std::string> names;
  for (const Alternative& found : FindImplementations(*pool, program, kPatience)) {
    names.push_back(found.name);
    ASSERT_EQ(found.passes.back().pass, found.name);
    if (found.name != "implement:loop_one_kernel") continue;
    ASSERT_GE(found.passes.size(), 2u) << "a sort may not be part of a kernel";
    EXPECT_EQ(found.passes[found.passes.size() - 2].pass, "implement:write_out_small");
  }
  for (const char* one : {"implement:loop_one_kernel", "implement:write_out_small"}) {
    EXPECT_EQ(std::count(names.begin(), names.end(), one), 1) << one;
  }
}

// The body and the condition of a loop whose state is a counter and x of this type.
std::string SmallLoop(const std::string& x) {
  return R"(small_body {
  p = (s32[], )" +
         x + R"() parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = )" +
         x + R"( get-tuple-element(p), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  y = )" +
         x + R"( sine(x)
  ROOT t = (s32[], )" +
         x + R"() tuple(next, y)
}
small_goes_on {
  p = (s32[], )" +
         x + R"() parameter(0)
  i = s32[] get-tuple-element(p), index=0
  most = s32[] constant(500)
  ROOT on = pred[] compare(i, most), direction=LT
}
)";
}

TEST(FindImplementations, ALoopAroundAnotherIsOneKernelOnceSmallThingsAreWrittenOut) {
  const std::shared_ptr<Pool> pool = Pool::Start(PoolOptions()).value();
  std::string text = kProgram;
  text.replace(text.find("body {"), 0, SmallLoop("f32[4]"));
  const std::string step = "  y = f32[4] add(x, x)\n";
  text.replace(text.find(step), step.size(), R"(  zero = s32[] constant(0)
  start = (s32[], f32[4]) tuple(zero, x)
  loop = (s32[], f32[4]) while(start), condition=small_goes_on, body=small_body
  y = f32[4] get-tuple-element(loop), index=1
)");
  const ProgramInfo program = pool->Load(text).value();
  std::map<std::string, size_t> passes;
  for (const Alternative& found : FindImplementations(*pool, program, kPatience)) {
    passes[found.name] = found.passes.size();
  }
  EXPECT_EQ(passes["implement:loop_one_kernel"], 1u) << "the inner one";
  EXPECT_EQ(passes["implement:write_out_small,implement:loop_one_kernel"], 2u) << "the outer one";
}

TEST(FindImplementations, ALoopThatWritesIntoOnePlaceIsOneKernelWithoutTheScatter) {
  const std::shared_ptr<Pool> pool = Pool::Start(PoolOptions()).value();
  const ProgramInfo program = pool->Load(R"(HloModule table
second {
  a = f32[] parameter(0)
  ROOT b = f32[] parameter(1)
}
)" + SmallLoop("f32[]") + R"(
body {
  p = (s32[], f32[400]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[400] get-tuple-element(p), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  zero = s32[] constant(0)
  now = f32[] convert(i)
  start = (s32[], f32[]) tuple(zero, now)
  loop = (s32[], f32[]) while(start), condition=small_goes_on, body=small_body
  y = f32[] get-tuple-element(loop), index=1
  place = s32[1] reshape(i)
  w = f32[400] scatter(x, place, y), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=second
  ROOT t = (s32[], f32[400]) tuple(next, w)
}
goes_on {
  p = (s32[], f32[400]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  most = s32[] constant(400)
  ROOT on = pred[] compare(i, most), direction=LT
}
ENTRY main {
  x = f32[400] parameter(0)
  zero = s32[] constant(0)
  start = (s32[], f32[400]) tuple(zero, x)
  ROOT w = (s32[], f32[400]) while(start), condition=goes_on, body=body
}
)")
                                  .value();
  std::map<std::string, size_t> passes;
  for (const Alternative& found : FindImplementations(*pool, program, kPatience)) {
    passes[found.name] = found.passes.size();
  }
  EXPECT_EQ(passes["implement:loop_one_kernel"], 1u) << "the inner one";
  EXPECT_EQ(passes["implement:one_place,implement:loop_one_kernel"], 2u) << "the outer one";
}

TEST(FindImplementations, ALoopOverAnotherStateIsAnother) {
  const std::shared_ptr<Pool> pool = Pool::Start(PoolOptions()).value();
  const ProgramInfo program = pool->Load(R"(HloModule batch
body {
  p = (s32[], f32[400,3]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[400,3] get-tuple-element(p), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  s = f32[400,3] sine(x)
  ROOT t = (s32[], f32[400,3]) tuple(next, s)
}
goes_on {
  p = (s32[], f32[400,3]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  most = s32[] constant(50)
  ROOT on = pred[] compare(i, most), direction=LT
}
ENTRY main {
  x = f32[400,3] parameter(0)
  zero = s32[] constant(0)
  start = (s32[], f32[400,3]) tuple(zero, x)
  ROOT w = (s32[], f32[400,3]) while(start), condition=goes_on, body=body
}
)")
                                  .value();
  std::map<std::string, size_t> loops;
  for (const Alternative& found : FindImplementations(*pool, program, kPatience)) {
    loops[found.name] = found.loops.size();
  }
  EXPECT_EQ(loops["implement:batch_last"], 1u);
  EXPECT_EQ(loops["implement:periodic_formulas"], 0u) << "the same state";
}

TEST(FindImplementations, WhatInliningRenamesIsNotReplaced) {
  const std::shared_ptr<Pool> pool = Pool::Start(PoolOptions()).value();
  const ProgramInfo program = pool->Load(R"(HloModule called
larger {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT m = f32[] maximum(a, b)
}
step {
  x = f32[40,40] parameter(0)
  low = f32[] constant(-inf)
  y = f32[40,40] sine(x)
  w = f32[40,38] reduce-window(y, low), window={size=1x3}, to_apply=larger
  ROOT t = (f32[40,38], f32[40,40]) tuple(w, y)
}
ENTRY main {
  x = f32[40,40] parameter(0)
  e = f32[40,40] exponential(x)
  s = (f32[40,38], f32[40,40]) call(e), to_apply=step
  ROOT y = f32[40,38] get-tuple-element(s), index=0
}
)")
                                  .value();
  bool found = false;
  for (const Alternative& one : FindImplementations(*pool, program, kPatience)) {
    for (const Replaced& instruction : one.instructions) {
      EXPECT_NE(instruction.opcode, "parameter") << one.name;
      EXPECT_NE(instruction.opcode, "exponential") << one.name;
      EXPECT_NE(instruction.opcode, "call") << one.name;
      found = found || instruction.opcode == "reduce-window";
    }
  }
  EXPECT_TRUE(found);
}

TEST(FindImplementations, WhatIsForNoGroupsIsFoundOnceEachIsConvolvedByItself) {
  const std::shared_ptr<Pool> pool = Pool::Start(PoolOptions()).value();
  const ProgramInfo program =
      pool->Load(
              "HloModule groups\nENTRY main {\n  x = f32[1,6,6,16] parameter(0)\n  k = "
              "f32[3,3,8,16] parameter(1)\n  ROOT y = f32[1,4,4,16] convolution(x, k), "
              "window={size=3x3}, dim_labels=b01f_01io->b01f, feature_group_count=2\n}\n")
          .value();
  std::map<std::string, std::vector<std::string>> found;
  for (const Alternative& one : FindImplementations(*pool, program, kPatience)) {
    for (const PlannedPass& pass : one.passes) found[one.name].push_back(pass.pass);
  }
  const std::string groups("implement:convolution_by_groups"),
      patches = "implement:convolution_patches_dot";
  EXPECT_EQ(found[groups], std::vector<std::string>{groups});
  EXPECT_EQ(found[patches], (std::vector<std::string>{groups, patches}));
}

// Sines of large arguments are computed as before, in a branch.
TEST(FindImplementations, WhatIsFallenBackOnCountsAsReplaced) {
  const std::shared_ptr<Pool> pool = Pool::Start(PoolOptions()).value();
  const ProgramInfo program =
      pool->Load(
              "HloModule sines\nENTRY main {\n  x = f32[1000] parameter(0)\n  ROOT y = f32[1000] "
              "sine(x), metadata={op_name=\"sin\"}\n}\n")
          .value();
  const std::vector<Alternative> found = FindImplementations(*pool, program, kPatience);
  const auto sines = std::find_if(found.begin(), found.end(), [](const Alternative& one) {
    return one.name == "implement:periodic_formulas";
  });
  ASSERT_NE(sines, found.end());
  ASSERT_EQ(sines->instructions.size(), 1u);
  EXPECT_TRUE(sines->instructions[0].all);
  EXPECT_EQ(sines->instructions[0].origin.rfind("sin", 0), 0u) << sines->instructions[0].origin;
}

TEST(FindImplementations, WhatAnImplementationBeginsAtIsKnown) {
  const std::shared_ptr<Pool> pool = Pool::Start(PoolOptions()).value();
  int64_t implementations = 0;
  for (const PassInfo& pass : pool->passes()) {
    if (pass.kind != PassKind::kImplementation) {
      EXPECT_TRUE(pass.roots.empty()) << pass.name;
      continue;
    }
    ++implementations;
    EXPECT_FALSE(pass.roots.empty()) << pass.name;
    for (const std::string& root : pass.roots) {
      EXPECT_EQ(std::count(pool->opcodes().begin(), pool->opcodes().end(), root), 1) << root;
    }
  }
  EXPECT_GT(implementations, 20);
}

TEST(FindImplementations, WhatMakesALargeProgramComesLast) {
  const std::shared_ptr<Pool> pool = Pool::Start(PoolOptions()).value();
  std::string text = kProgram;
  text.replace(text.find("constant(1000)"), 14, "constant(60)");
  const std::string step = "  y = f32[4] add(x, x)\n";
  std::string steps = step;
  for (int k = 0; k < 40; ++k) {
    steps += "  y" + std::to_string(k) + " = f32[4] sine(" +
             (k == 0 ? "y" : "y" + std::to_string(k - 1)) + ")\n";
  }
  text.replace(text.find(step), step.size(), steps);
  text.replace(text.find("sort(y)"), 7, "sort(y39)");
  const ProgramInfo program = pool->Load(text).value();
  const std::vector<Alternative> found = FindImplementations(*pool, program, kPatience);
  const std::vector<Alternative> ordered = DearestFirst(KernelShares({}), found);
  ASSERT_GE(ordered.size(), 2u);
  EXPECT_EQ(ordered.size(), found.size());
  EXPECT_EQ(ordered.back().name, "implement:unroll_short_loop");
  EXPECT_TRUE(ordered.back().large());
  EXPECT_FALSE(ordered.front().large());
}

// Knows of kernels, and makes none.
std::shared_ptr<Pool> PoolWithKernels() {
  PoolOptions options;
  options.kernels = [](const auto&) -> StatusOr<std::vector<loops::NativeKernel>> {
    return MakeError(ErrorCode::kUnsupported, "none are run here");
  };
  return Pool::Start(options).value();
}

// A sum over rows of what a call makes: a kernel that takes it in is found by way of inlining.
TEST(FindImplementations, KernelsLookIntoCalls) {
  constexpr char text[] = R"(HloModule rows
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
square {
  a = f32[64,64] parameter(0)
  b = f32[64,64] multiply(a, a)
  ROOT t = (f32[64,64]) tuple(b)
}
ENTRY main {
  a = f32[64,64] parameter(0)
  c = (f32[64,64]) call(a), to_apply=square
  s = f32[64,64] get-tuple-element(c), index=0
  zero = f32[] constant(0)
  ROOT r = f32[64] reduce(s, zero), dimensions={1}, to_apply=sum
}
)";
  const std::shared_ptr<Pool> without = Pool::Start(PoolOptions()).value();
  const std::shared_ptr<Pool> with = PoolWithKernels();
  const std::set<std::string> among = {std::string(loops::kKernelPass)};
  const auto found =
      FindImplementations(*with, with->Load(text).value(), kPatience, nullptr, &among);
  ASSERT_EQ(found.size(), 1u);
  ASSERT_EQ(found[0].passes.size(), 3u);
  EXPECT_EQ(found[0].passes[0].pass, "call-inliner:every_call_site");
  EXPECT_EQ(found[0].passes[1].pass, "tuple-simplifier");
  EXPECT_EQ(found[0].passes[2].pass, loops::kKernelPass);
  EXPECT_TRUE(FindImplementations(*without, without->Load(text).value(), kPatience, nullptr, &among)
                  .empty());
}

TEST(FindImplementations, KernelsAreLookedForFirst) {
  constexpr char text[] = R"(HloModule rows
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY main {
  a = f32[64,64] parameter(0)
  s = f32[64,64] multiply(a, a)
  zero = f32[] constant(0)
  ROOT r = f32[64] reduce(s, zero), dimensions={1}, to_apply=sum
}
)";
  const std::shared_ptr<Pool> pool = PoolWithKernels();
  const auto found = FindImplementations(*pool, pool->Load(text).value(), kPatience);
  ASSERT_GE(found.size(), 2u);
  EXPECT_EQ(found[0].name, loops::kKernelPass);
  EXPECT_FALSE(loops::MakesKernels(found[1].name));
}

TEST(FindImplementations, EndsWithItsTime) {
  const std::shared_ptr<Pool> pool = Pool::Start(PoolOptions()).value();
  const ProgramInfo program = pool->Load(kProgram).value();
  EXPECT_TRUE(FindImplementations(*pool, program, 0).empty());
  EXPECT_FALSE(FindImplementations(*pool, program, kPatience).empty());
}

TEST(FindImplementations, TellsWhichLoopsStartFewerKernels) {
  constexpr char text[] = R"(HloModule rounds
body {
  s = (s32[], f64[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f64[4] get-tuple-element(s), index=1
  one = s32[] constant(1)
  n = s32[] add(i, one)
  a = f64[4] sine(x)
  r = f64[4] reverse(a), dimensions={0}
  b = f64[4] add(x, r)
  ROOT t = (s32[], f64[4]) tuple(n, b)
}
cond {
  s = (s32[], f64[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  most = s32[] constant(1000)
  ROOT less = pred[] compare(i, most), direction=LT
}
ENTRY main {
  x = f64[4] parameter(0)
  zero = s32[] constant(0)
  s = (s32[], f64[4]) tuple(zero, x)
  w = (s32[], f64[4]) while(s), condition=cond, body=body
  ROOT y = f64[4] get-tuple-element(w), index=1
}
)";
  const auto found = FindAmong(text, {"implement:loop_one_kernel", "implement:periodic_formulas"});
  ASSERT_FALSE(found.empty());
  for (const Alternative& one : found) {
    EXPECT_EQ(one.loops.size(), one.name == "implement:loop_one_kernel" ? 1u : 0u) << one.name;
  }
}

// A formula keeps the function for what it does not hold for.
TEST(FindImplementations, WhatIsKeptForAFewTakesNoOriginAway) {
  constexpr char text[] = R"(HloModule angles
ENTRY main {
  a = f64[512] parameter(0)
  ROOT s = f64[512] sine(a), metadata={op_name="jit(f)/sin"}
}
)";
  const auto found = FindAmong(text, {"implement:periodic_formulas"});
  ASSERT_EQ(found.size(), 1u);
  ASSERT_EQ(found[0].instructions.size(), 1u);
  EXPECT_EQ(found[0].instructions[0].name, "s");
  EXPECT_NE(found[0].instructions[0].origin, "");
  EXPECT_GT(found[0].behind, found[0].before);
}

// Calls are inlined in any case, and a loop is several kernels.
TEST(FindImplementations, ALoopWrittenOutIsNoMoreToCompile) {
  constexpr char text[] = R"(HloModule words
body {
  p = (s32[], u32[64], u32[64]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = u32[64] get-tuple-element(p), index=1
  y = u32[64] get-tuple-element(p), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)
  three = u32[] constant(3)
  by = u32[64] broadcast(three), dimensions={}
  a = u32[64] add(x, y)
  b = u32[64] shift-right-logical(y, by)
  c = u32[64] xor(a, b)
  ROOT t = (s32[], u32[64], u32[64]) tuple(next, a, c)
}
goes_on {
  p = (s32[], u32[64], u32[64]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  most = s32[] constant(5)
  ROOT on = pred[] compare(i, most), direction=LT
}
mix {
  a = u32[64] parameter(0)
  b = u32[64] parameter(1)
  zero = s32[] constant(0)
  start = (s32[], u32[64], u32[64]) tuple(zero, a, b)
  loop = (s32[], u32[64], u32[64]) while(start), condition=goes_on, body=body
  x = u32[64] get-tuple-element(loop), index=1
  y = u32[64] get-tuple-element(loop), index=2
  ROOT r = u32[64] xor(x, y)
}
ENTRY main {
  a = u32[64] parameter(0)
  b = u32[64] parameter(1)
  c = u32[64] call(a, b), to_apply=mix
  ROOT d = u32[64] call(c, b), to_apply=mix
}
)";
  const auto found = FindAmong(text, {"implement:unroll_elementwise_loop"});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_GT(found[0].before, 200) << "both loops";
  EXPECT_LT(found[0].behind, found[0].before);
}

TEST(FindImplementations, AKernelOfManyOperationsTakesLongToCompile) {
  const auto growth = [](int sines) {
    std::string text = "HloModule loop\n" + SmallLoop("f32[4]") +
                       "ENTRY main {\n  a = f32[4] parameter(0)\n  zero = s32[] constant(0)\n"
                       "  start = (s32[], f32[4]) tuple(zero, a)\n  ROOT loop = (s32[], f32[4]) "
                       "while(start), condition=small_goes_on, body=small_body\n}\n";
    std::string more;
    for (int k = 0; k < sines; ++k) {
      more += "  s" + std::to_string(k + 100) + " = f32[4] sine(" +
              (k == 0 ? "x" : "s" + std::to_string(k + 99)) + ")\n";
    }
    const std::string last = "sine(x)\n  ROOT";
    const size_t at = text.find(last);
    text.replace(at, last.size(), "sine(s" + std::to_string(sines + 99) + ")\n  ROOT");
    text.insert(text.find("  y = "), more);
    const auto found = FindAmong(text, {"implement:loop_one_kernel"});
    return found.size() == 1 ? found[0].behind / found[0].before : 0;
  };
  EXPECT_GT(growth(700), 1.5);
  const double little = growth(20);
  EXPECT_GT(little, 0);
  EXPECT_LT(little, 1.1);
}

// It is still there, but where it takes no more of its users' time.
TEST(FindImplementations, WhatIsMovedIntoAKernelIsReplaced) {
  constexpr char text[] = R"(HloModule edges
edge {
  x = f32[100,100] parameter(0)
  zero = f32[] constant(0)
  ROOT p = f32[102,100] pad(x, zero), padding=1_1x0_0, metadata={op_name="pad"}
}
ENTRY main {
  x = f32[100,100] parameter(0)
  c = f32[102,100] call(x), to_apply=edge
  ROOT s = f32[102,100] add(c, c)
}
)";
  const auto found = FindAmong(text, {"implement:concatenate_once"});
  ASSERT_EQ(found.size(), 1u);
  const auto& instructions = found[0].instructions;
  EXPECT_TRUE(std::any_of(instructions.begin(), instructions.end(), [](const Replaced& one) {
    return one.name == "p" && one.origin == "pad@:0";
  }));
}

}  // namespace
}  // namespace hone::tune
