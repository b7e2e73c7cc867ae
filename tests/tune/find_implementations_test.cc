// Which implementations a program has a place for, and how they are come to.
#include "tune/find_implementations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/native_kernel.h"
#include "support/programs.h"
#include "tune/promise.h"
#include "wire/pool.h"

namespace hone::tune {
namespace {

constexpr double kPatience = 600;

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

TEST(FindImplementations, ALoopAroundAnotherIsOneKernelOnceSmallThingsAreWrittenOut) {
  const std::shared_ptr<Pool> pool = Pool::Start(PoolOptions()).value();
  std::string text = kProgram;
  text.replace(text.find("body {"), 0, R"(small_body {
  p = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[4] get-tuple-element(p), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  y = f32[4] sine(x)
  ROOT t = (s32[], f32[4]) tuple(next, y)
}
small_goes_on {
  p = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  most = s32[] constant(500)
  ROOT on = pred[] compare(i, most), direction=LT
}
)");
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
  const std::string groups(kByGroupsPass), patches = "implement:convolution_patches_dot";
  EXPECT_EQ(found[groups], std::vector<std::string>{groups});
  EXPECT_EQ(found[patches], (std::vector<std::string>{groups, patches}));
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

TEST(FindImplementations, OfWhatPromisesAsMuchKernelsComeFirst) {
  const auto named = [](const std::string& name, std::vector<std::string> instructions) {
    Alternative one{Stage::kImplementation, name};
    for (std::string& instruction : instructions)
      one.instructions.push_back({std::move(instruction), {}});
    return one;
  };
  const std::string kernels(loops::kKernelPass);
  const auto ordered =
      DearestFirst(KernelShares({}), {named("a", {"x"}), named("b", {"x"}), named(kernels, {"x"})});
  ASSERT_EQ(ordered.size(), 3u);
  EXPECT_EQ(ordered[0].name, kernels);
  EXPECT_EQ(ordered[1].name, "a");
  EXPECT_EQ(ordered[2].name, "b");
}

Alternative Replacing(const std::string& name, std::vector<std::string> instructions,
                      std::vector<std::string> opcodes) {
  Alternative one{Stage::kImplementation, name, {{name, {}}}};
  for (std::string& instruction : instructions)
    one.instructions.push_back({std::move(instruction), {}});
  one.opcodes = std::move(opcodes);
  return one;
}

std::vector<std::string> NamesOf(const std::vector<AlternativeReport>& reports) {
  std::vector<std::string> names;
  for (const AlternativeReport& one : reports) names.push_back(one.name);
  return names;
}

TEST(RacingOrder, WhatGrowsComesLater) {
  std::vector<Alternative> all = {Replacing("unrolled", {}, {}), Replacing("one_kernel", {}, {}),
                                  Replacing("order", {}, {})};
  all[0].before = all[1].before = 500;
  all[0].behind = 877;
  all[1].behind = 504;
  const KernelShares shares;
  EXPECT_EQ(NamesOf(RacingOrder(shares, ChangePolicy(), all)),
            (std::vector<std::string>{"one_kernel", "order", "unrolled"}));
  const ChangePolicy policy({{"p", {"implementation", "order", "order"}, 0.7},
                             {"p", {"implementation", "unrolled", "unrolled"}, 0.7},
                             {"p", {"implementation", "another", "another"}, 0},
                             {"p", {"implementation", "a third", "a third"}, 0}});
  EXPECT_EQ(NamesOf(RacingOrder(shares, policy, all)),
            (std::vector<std::string>{"order", "one_kernel", "unrolled"}));
}

TEST(RacingOrder, WhatGrowsIsNoReasonToWaitWhereRunsTakeLong) {
  std::vector<Alternative> all = {Replacing("shifts", {"x"}, {}), Replacing("other", {}, {})};
  all[0].before = all[1].before = all[1].behind = 20;
  all[0].behind = 200;
  ProgramGraph graph;
  graph.computations.resize(1);
  InstructionInfo x;
  x.name = "x";
  x.opcode = "convolution";
  graph.computations[0].instructions.push_back(x);
  const KernelShares shares({{"x", "convolution", 1, 1}}, graph);
  const ChangePolicy policy({{"p", {"implementation", "another", "another"}, 0.7}});
  EXPECT_EQ(NamesOf(RacingOrder(shares, policy, all, /*compiling=*/1)),
            (std::vector<std::string>{"other", "shifts"}));
  EXPECT_EQ(NamesOf(RacingOrder(shares, policy, all, /*compiling=*/0.01)),
            (std::vector<std::string>{"shifts", "other"}));
}

TEST(RacedFirst, OfWhichMoreIsExpectedThanOfAllTogether) {
  const std::vector<AlternativeReport> ordered = {
      {"one_kernel", 0.7, 1, 2.5}, {"kernels", 0.7, 1, 1.5}, {"formulas", 0.2, 1, 0.5}};
  const std::vector<std::string> names = {"one_kernel", "kernels", "formulas"};
  EXPECT_EQ(RacedFirst(ordered, names, {"kernels", "formulas"}), "one_kernel");
  EXPECT_EQ(RacedFirst(ordered, {"kernels", "formulas"}, {"formulas"}), "kernels");
  EXPECT_EQ(RacedFirst(ordered, names, {"one_kernel", "formulas"}), "") << "it is there already";
  auto less = ordered;
  less[0].expected = 1.9;
  EXPECT_EQ(RacedFirst(less, names, {"kernels", "formulas"}), "");
  EXPECT_EQ(RacedFirst({}, {}, {}), "");
}

TEST(DearestFirst, WhatPreparesForOthersIsAppliedBeforeThem) {
  for (const std::string& before : {std::string(kWriteOutPass), std::string(kByGroupsPass)}) {
    const auto ordered =
        DearestFirst(KernelShares(), {Replacing("one_kernel", {}, {}), Replacing(before, {}, {})});
    EXPECT_EQ(ordered[0].name, before);
  }
}

// XLA names what it inlines anew, and makes a sort of a top-k.
TEST(Promise, WhatHasAnotherNameNowIsKnownByItsOrigin) {
  ProgramGraph graph;
  graph.computations.resize(1);
  InstructionInfo sort;
  sort.name = "sort.1";
  sort.opcode = "sort";
  sort.origin = "top_k@59";
  graph.computations[0].instructions.push_back(sort);
  const KernelShares shares({{"sort.1", "sort", 3, 1}, {"other", "dot", 1, 1}}, graph);
  Alternative one{Stage::kImplementation, "call", {{"call", {}}}};
  one.instructions = {{"top_k.6", "top_k@59"}, {"get.1", "top_k@59"}, {"x.1", ""}};
  EXPECT_DOUBLE_EQ(Promise(shares, one), 0.75) << "once, though two are from there";
  one.instructions = {{"top_k.6", "top_k@60"}};
  EXPECT_DOUBLE_EQ(Promise(shares, one), 0);
}

// XLA makes another convolution of a gradient by groups, and tells nobody of what.
TEST(Promise, WhatXlaMadeAnewIsKnownByItsOpcode) {
  ProgramGraph graph;
  graph.computations.resize(1);
  InstructionInfo anew, known;
  anew.name = "convolution-base-dilated.1";
  anew.opcode = "convolution";
  known.name = "dot.1";
  known.opcode = "dot";
  graph.computations[0].instructions = {anew, known};
  const std::vector<KernelTime> kernels = {{"convolution-base-dilated.1", "convolution", 3, 1},
                                           {"dot.1", "dot", 1, 1}};
  Alternative one{Stage::kImplementation, "dots", {{"dots", {}}}};
  one.instructions = {{"conv.2", "grad/conv@7", "convolution"},
                      {"conv.3", "grad/conv@8", "convolution"}};
  EXPECT_DOUBLE_EQ(Promise(KernelShares(kernels, graph), one), 0.75) << "named by its opcode";
  graph.computations[0].instructions[1].origin = "dot@9";
  EXPECT_DOUBLE_EQ(Promise(KernelShares(kernels, graph), one), 0.75) << "once";
  graph.computations[0].instructions[0].origin = "other@9";
  EXPECT_DOUBLE_EQ(Promise(KernelShares(kernels, graph), one), 0) << "it is from elsewhere";
  one.instructions = {{"reduce.2", "", "reduce"}};
  EXPECT_DOUBLE_EQ(Promise(KernelShares(kernels, graph), one), 0);
}

// Programs without metadata, whose calls are inlined: names are other ones then, or of others.
TEST(Promise, WhereNothingHasAnOriginKindsTell) {
  ProgramGraph graph;
  graph.computations.resize(2);
  const auto instruction = [](const char* name, const char* opcode, std::vector<int64_t> sizes) {
    InstructionInfo one;
    one.name = name;
    one.opcode = opcode;
    one.shape.type = "f32";
    one.shape.dimensions = std::move(sizes);
    return one;
  };
  InstructionInfo fusion = instruction("add_fusion", "fusion", {128, 1});
  fusion.called = {0};
  graph.computations[0].instructions = {instruction("reduce.8", "reduce", {128}),
                                        instruction("multiply.3", "multiply", {128})};
  graph.computations[1].instructions = {fusion, instruction("dot.1", "dot", {8, 4})};
  const KernelShares shares({{"add_fusion", "fusion", 3, 1}, {"dot.1", "dot", 1, 1}}, graph);
  const auto promise = [&](const std::vector<Replaced>& replaced) {
    Alternative one{Stage::kImplementation, "other", {{"other", {}}}};
    one.instructions = replaced;
    return Promise(shares, one);
  };
  const std::string reduce = KindOf(instruction("", "reduce", {1, 128}));
  EXPECT_DOUBLE_EQ(promise({{"reduce.2", "", "reduce", reduce, true}}), 0.75);
  EXPECT_DOUBLE_EQ(promise({{"reduce.2", "", "reduce", reduce, true},
                            {"reduce.3", "", "reduce", reduce, true}}),
                   0.75)
      << "once";
  EXPECT_DOUBLE_EQ(promise({{"reduce.2", "", "reduce", reduce, false}}), 0) << "others are left";
  EXPECT_DOUBLE_EQ(promise({{"reduce.8", "", "reduce", reduce, false}}), 0.75) << "by its name";
  const std::string sum = KindOf(instruction("", "reduce", {64}));
  EXPECT_DOUBLE_EQ(promise({{"reduce.8", "", "reduce", sum, true}}), 0) << "another of that name";
  EXPECT_DOUBLE_EQ(promise({{"dot.9", "", "dot", KindOf(instruction("", "dot", {4, 8})), true}}),
                   0.25)
      << "transposed";
}

TEST(Promise, WhereNothingHasAnOriginALoopIsTakenForTheDearest) {
  ProgramGraph graph;
  graph.computations.resize(1);
  InstructionInfo loop, other;
  loop.name = "while.1";
  loop.opcode = "while";
  other.name = "dot.1";
  other.opcode = "dot";
  graph.computations[0].instructions = {loop, other};
  const KernelShares shares({{"while.1", "while", 3, 1}, {"dot.1", "dot", 1, 1}}, graph);
  Alternative one{Stage::kImplementation, "one_kernel", {{"one_kernel", {}}}};
  one.loops = {{"while.7", ""}, {"while.8", ""}};
  EXPECT_DOUBLE_EQ(Promise(shares, one), 0.75);
}

// What a loop does is still to be done when it is unrolled or becomes one kernel; going round and
// starting kernels is not.
TEST(Promise, LoopsThatStartFewerKernelsPromiseWhatStartingTakes) {
  ProgramGraph graph;
  graph.computations.resize(2);
  InstructionInfo loop, step, other;
  loop.name = "while.1";
  loop.opcode = "while";
  loop.origin = "rounds@7";
  loop.called = {0};
  step.name = "xor.1";
  step.opcode = "xor";
  other.name = "dot.1";
  other.opcode = "dot";
  graph.computations[0].instructions = {step};
  graph.computations[1].instructions = {loop, other};
  const KernelShares shares(
      {{"while.1", "while", 3, 1}, {"xor.1", "xor", 1, 5}, {"dot.1", "dot", 1, 1}}, graph);
  EXPECT_DOUBLE_EQ(shares.OfInstruction("xor.1"), 0.25);
  EXPECT_DOUBLE_EQ(shares.OfLoop("while.1"), 0.75);
  EXPECT_DOUBLE_EQ(shares.OfLoopAlone("rounds@7"), 0.5);
  Alternative one{Stage::kImplementation, "unrolled", {{"unrolled", {}}}};
  EXPECT_DOUBLE_EQ(Promise(shares, one), 0);
  one.loops = {{"while.1", "rounds@7"}};
  EXPECT_DOUBLE_EQ(Promise(shares, one), 0.5 + 0.4 * 0.25);
  one.loops = {{"while.9", "rounds@7"}, {"while.8", "rounds@7"}};
  EXPECT_DOUBLE_EQ(Promise(shares, one), 0.5 + 0.4 * 0.25) << "once, though two are from there";
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
  const std::shared_ptr<Pool> pool = Pool::Start(PoolOptions()).value();
  const std::set<std::string> among = {"implement:loop_one_kernel", "implement:periodic_formulas"};
  const auto found =
      FindImplementations(*pool, pool->Load(text).value(), kPatience, nullptr, &among);
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
  const std::shared_ptr<Pool> pool = Pool::Start(PoolOptions()).value();
  const std::set<std::string> among = {"implement:periodic_formulas"};
  const auto found =
      FindImplementations(*pool, pool->Load(text).value(), kPatience, nullptr, &among);
  ASSERT_EQ(found.size(), 1u);
  ASSERT_EQ(found[0].instructions.size(), 1u);
  EXPECT_EQ(found[0].instructions[0].name, "s");
  EXPECT_NE(found[0].instructions[0].origin, "");
  EXPECT_GT(found[0].behind, found[0].before);
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
  const std::shared_ptr<Pool> pool = Pool::Start(PoolOptions()).value();
  const std::set<std::string> among = {"implement:concatenate_once"};
  const auto found =
      FindImplementations(*pool, pool->Load(text).value(), kPatience, nullptr, &among);
  ASSERT_EQ(found.size(), 1u);
  const auto& instructions = found[0].instructions;
  EXPECT_TRUE(std::any_of(instructions.begin(), instructions.end(), [](const Replaced& one) {
    return one.name == "p" && one.origin == "pad@:0";
  }));
}

TEST(AreLarge, OneOnTopOfAnother) {
  std::vector<Alternative> all = {Replacing("unrolled", {}, {}), Replacing("written_out", {}, {}),
                                  Replacing("swapped", {}, {})};
  all[0].before = all[1].before = all[2].before = 300;
  all[0].behind = 1200;
  all[1].behind = 600;
  all[2].behind = 290;
  EXPECT_FALSE(AreLarge(all, {"unrolled"}));
  EXPECT_FALSE(AreLarge(all, {"written_out", "swapped"}));
  EXPECT_TRUE(AreLarge(all, {"unrolled", "written_out"}));
  EXPECT_FALSE(AreLarge(all, {}));
}

TEST(RacedTogether, KernelsWithWhatIsDearAndNobodyElseReplaces) {
  ProgramGraph graph;
  graph.computations.resize(1);
  std::vector<KernelTime> times;
  for (const auto& [name, opcode, seconds] :
       std::vector<std::tuple<std::string, std::string, double>>{{"conv.1", "convolution", 5},
                                                                 {"sort.1", "sort", 3},
                                                                 {"reduce.1", "reduce", 2},
                                                                 {"convert.1", "convert", 2},
                                                                 {"copy.1", "copy", 0.1}}) {
    InstructionInfo instruction;
    instruction.name = name;
    instruction.opcode = opcode;
    graph.computations[0].instructions.push_back(instruction);
    times.push_back({name, opcode, seconds, 1});
  }
  const KernelShares shares(times, graph);
  const std::string kernels(loops::kKernelPass);
  Alternative inlined = Replacing(kernels, {"conv.1", "sort.1", "reduce.1"}, {"call", "reduce"});
  inlined.passes.insert(inlined.passes.begin(), {"call-inliner:every_call_site", {}});
  const std::vector<Alternative> all = {Replacing("by_dots", {"conv.1"}, {"convolution"}),
                                        Replacing("by_patches", {"conv.1"}, {"convolution"}),
                                        Replacing("packed", {"sort.1"}, {"sort"}),
                                        Replacing("with_ones", {"reduce.1"}, {"reduce"}),
                                        Replacing("copied", {"copy.1"}, {"copy"}),
                                        Replacing("kept_beside", {"convert.1"}, {}),
                                        Replacing(std::string(kBatchPass), {"sort.1"}, {"sort"}),
                                        inlined};
  std::vector<std::string> names;
  for (const Alternative& one : all) names.push_back(one.name);
  using Groups = std::vector<std::vector<std::string>>;
  EXPECT_EQ(RacedTogether(shares, all, names),
            (Groups{{kernels, "by_dots", "packed", "kept_beside"},
                    {kernels},
                    {"by_dots", "packed", "kept_beside"}}));
  EXPECT_EQ(RacedTogether(KernelShares(), all, names), Groups{{kernels}});
  names.erase(std::find(names.begin(), names.end(), kernels));
  EXPECT_EQ(RacedTogether(shares, all, names), (Groups{{"by_dots", "packed", "kept_beside"}, {}}));
}

// Though another of that opcode is, by kernels behind inlining.
TEST(RacedTogether, WhatIsNotReplacedByItsOrigin) {
  ProgramGraph graph;
  graph.computations.resize(1);
  std::vector<KernelTime> times;
  for (const char* name : {"conv.1", "conv.2"}) {
    InstructionInfo instruction;
    instruction.name = name;
    instruction.opcode = "convolution";
    instruction.origin = std::string(name) + "@7";
    graph.computations[0].instructions.push_back(instruction);
    times.push_back({name, "convolution", 1, 1});
  }
  const std::string kernels(loops::kKernelPass);
  Alternative inlined = Replacing(kernels, {"conv.1", "conv.2"}, {"call", "convolution"});
  inlined.passes.insert(inlined.passes.begin(), {"call-inliner:every_call_site", {}});
  inlined.instructions[1].origin = "conv.2@7";
  const std::vector<Alternative> all = {Replacing("by_dots", {"conv.1"}, {"convolution"}),
                                        Replacing("by_shifts", {"conv.2"}, {"convolution"}),
                                        inlined};
  EXPECT_EQ(RacedTogether(KernelShares(times, graph), all, {"by_dots", "by_shifts", kernels})[0],
            (std::vector<std::string>{kernels, "by_dots"}));
}

}  // namespace
}  // namespace hone::tune
