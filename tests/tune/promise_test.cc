// What alternatives promise, in which order they are raced, and which together.
#include "tune/promise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/native_kernel.h"
#include "core/pass.h"

namespace hone::tune {
namespace {

TEST(DearestFirst, OfWhatPromisesAsMuchKernelsComeFirst) {
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

// Each takes what those before it leave, whatever it promises.
TEST(DearestFirst, DepthwiseLayersComeBeforeOtherConvolutions) {
  std::vector<Alternative> all;
  for (const char* name :
       {"implement:convolutions", "gradient_shifts", "shifts", "implement:depthwise"}) {
    all.push_back(Replacing(name, {}, {}));
    all.back().traits = all.size() > 1 ? kDepthwise : kAnywhere;
  }
  const std::vector<Alternative> ordered = DearestFirst(KernelShares(), all);
  const std::vector<std::string> wanted = {"implement:depthwise", "gradient_shifts", "shifts",
                                           "implement:convolutions"};
  for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(ordered[i].name, wanted[i]);
}

TEST(RacedAtOnce, WhatPromisesLittleAndCostsLittle) {
  std::vector<Alternative> all;
  for (const char* name : {"in_the_group", "small", "grows", "hopeless", "not_wanted"}) {
    all.push_back(Replacing(name, {}, {}));
  }
  all.push_back(Replacing("all_around", {}, {}));
  all.back().traits = kAllAround;
  const std::vector<AlternativeReport> ordered = {
      {"in_the_group", 0.5, 1, 2}, {"small", 0.01, 1, 0.2},      {"grows", 0.01, 3, 0.2},
      {"hopeless", 0, 1, 0.01},    {"not_wanted", 0.01, 1, 0.2}, {"all_around", 0, 1, 1}};
  EXPECT_EQ(RacedAtOnce(ordered, all, {"in_the_group", "small", "grows", "hopeless", "all_around"},
                        {"in_the_group"}),
            std::vector<std::string>{"small"});
}

TEST(DoubtfulOf, WhatMakesNoKernelsAndKernelsThatSaySo) {
  std::vector<Alternative> all = {Replacing(std::string(loops::kProductPass), {}, {}),
                                  Replacing(std::string(loops::kTransposePass), {}, {}),
                                  Replacing("formulas", {}, {}), Replacing("elsewhere", {}, {})};
  all[1].traits = kDoubtful;
  const std::vector<std::string> together = {all[0].name, all[1].name, all[2].name};
  EXPECT_EQ(DoubtfulOf(all, together), (std::vector<std::string>{all[1].name, all[2].name}));
  EXPECT_EQ(HarmfulOf(all, together), std::vector<std::string>{all[1].name});
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
  all[0].behind = 400;
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
  EXPECT_EQ(RacedFirst(ordered, names, {"one_kernel", "formulas"}), "one_kernel")
      << "the other may undo it";
  auto less = ordered;
  less[0].expected = 1.9;
  EXPECT_EQ(RacedFirst(less, names, {"kernels", "formulas"}), "");
  EXPECT_EQ(RacedFirst(less, names, {"one_kernel", "kernels", "formulas"}), "");
  EXPECT_EQ(RacedFirst({}, {}, {}), "");
}

TEST(DearestFirst, WhatPreparesForOthersIsAppliedBeforeThem) {
  for (const uint32_t traits : {kAppliedFirst, kPrepares}) {
    Alternative before = Replacing("before", {}, {});
    before.traits = traits;
    const auto ordered = DearestFirst(KernelShares(), {Replacing("one_kernel", {}, {}), before});
    EXPECT_EQ(ordered[0].name, "before");
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
  one.instructions = {{"topk.2", "", "topk"}};
  InstructionInfo call;
  call.name = "custom-call";
  call.opcode = "custom-call";
  call.attributes = {{"custom_call_target", "\"TopK\""}};
  graph.computations[0].instructions[0] = call;
  EXPECT_DOUBLE_EQ(
      Promise(KernelShares({{"custom-call", "custom-call", 3, 1}, {"dot.1", "dot", 1, 1}}, graph),
              one),
      0.75)
      << "a call for it";
  InstructionInfo sort = anew;
  sort.name = "sort.5";
  sort.opcode = "sort";
  graph.computations[0].instructions = {sort, known};
  EXPECT_DOUBLE_EQ(
      Promise(KernelShares({{"sort.5", "sort", 3, 1}, {"dot.1", "dot", 1, 1}}, graph), one), 0.75)
      << "all of it sorted";
  InstructionInfo sums = anew;
  sums.name = "wrapped_reduce-window.3";
  sums.opcode = "fusion";
  graph.computations[0].instructions = {sums, known};
  one.instructions = {{"sum.2", "", "reduce"}};
  EXPECT_DOUBLE_EQ(
      Promise(KernelShares({{"wrapped_reduce-window.3", "fusion", 3, 1}, {"dot.1", "dot", 1, 1}},
                           graph),
              one),
      0.75)
      << "windows of long rows, summed first";
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
  EXPECT_DOUBLE_EQ(
      promise({{"reduce.2", "", "reduce", reduce, true}, {"reduce.3", "", "reduce", reduce, true}}),
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

TEST(Promise, RandomBitsAreWhereTheirOperationsAre) {
  ProgramGraph graph;
  graph.computations.resize(2);
  InstructionInfo mixed, fused, other;
  mixed.name = "xor.1";
  mixed.opcode = "xor";
  fused.name = "add_fusion";
  fused.opcode = "fusion";
  fused.called = {0};
  other.name = "dot.1";
  other.opcode = "dot";
  graph.computations[0].instructions = {mixed};
  graph.computations[1].instructions = {fused, other};
  const KernelShares shares({{"add_fusion", "fusion", 3, 1}, {"dot.1", "dot", 1, 1}}, graph);
  Alternative one{Stage::kImplementation, "random_bits", {{"random_bits", {}}}};
  one.instructions = {{"bits", "", "rng-bit-generator"}, {"more", "", "rng-bit-generator"}};
  EXPECT_DOUBLE_EQ(Promise(shares, one), 0.75) << "once";
}

TEST(Promise, WhereNothingHasAnOriginLoopsOfOneStateAreTakenTogether) {
  ProgramGraph graph;
  graph.computations.resize(1);
  std::vector<KernelTime> times;
  for (const char* name : {"while.1", "while.2", "while.3", "dot.1"}) {
    InstructionInfo one;
    one.name = name;
    one.opcode = one.name.substr(0, one.name.find('.'));
    one.shape.type = "tuple";
    one.shape.tuple = {{"u32", {one.name == "while.3" ? 7 : 100}, {}, 400, {}}};
    graph.computations[0].instructions.push_back(one);
    times.push_back({one.name, one.opcode, 1, 1});
  }
  Alternative one{Stage::kImplementation, "unrolled", {{"unrolled", {}}}};
  one.loops = {{"while.7", ""}};
  EXPECT_DOUBLE_EQ(Promise(KernelShares(times, graph), one), 0.5) << "called at two places";
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
  // Of kernels that take little more than their start all of that is saved.
  const KernelShares of_short(
      {{"while.1", "while", 3e-6, 1}, {"xor.1", "xor", 1e-6, 5}, {"dot.1", "dot", 1e-6, 1}}, graph);
  EXPECT_DOUBLE_EQ(of_short.OfLoopAlone("while.1"), 0.75);
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
  std::vector<Alternative> all = {Replacing("by_dots", {"conv.1"}, {"convolution"}),
                                  Replacing("by_patches", {"conv.1"}, {"convolution"}),
                                  Replacing("apart", {"sort.1"}, {"sort"}),
                                  Replacing("packed", {"sort.1"}, {"sort"}),
                                  Replacing("with_ones", {"reduce.1"}, {"reduce"}),
                                  Replacing("copied", {"copy.1"}, {"copy"}),
                                  Replacing("kept_beside", {"convert.1"}, {}),
                                  inlined,
                                  Replacing("all_around", {"sort.1"}, {"sort"})};
  all.back().traits = kAllAround;
  all[2].traits = kApart;
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
  std::vector<Alternative> all = {Replacing("by_dots", {"conv.1"}, {"convolution"}),
                                  Replacing("by_shifts", {"conv.2"}, {"convolution"}), inlined};
  EXPECT_EQ(RacedTogether(KernelShares(times, graph), all, {"by_dots", "by_shifts", kernels})[0],
            (std::vector<std::string>{kernels, "by_dots"}));
}

// The same operation of another size is another matter.
TEST(RacedTogether, WhereNothingHasAnOriginWhatIsInlinedIsKnownByItsKind) {
  ProgramGraph graph;
  graph.computations.resize(1);
  std::vector<KernelTime> times;
  std::vector<std::string> kinds;
  for (const int64_t size : {20, 7}) {
    InstructionInfo sum;
    sum.name = "sum." + std::to_string(size);
    sum.opcode = "reduce-window";
    sum.shape = {"f32", {size}, {}, 4 * size, {}};
    graph.computations[0].instructions.push_back(sum);
    times.push_back({sum.name, sum.opcode, 1, 1});
    kinds.push_back(KindOf(sum));
  }
  const std::string kernels(loops::kKernelPass);
  std::vector<Alternative> all = {Replacing(kernels, {"sum.9"}, {"call"}),
                                  Replacing("by_steps", {"sum.20"}, {}),
                                  Replacing("by_dots", {"sum.7"}, {})};
  all[0].passes.insert(all[0].passes.begin(), {"call-inliner:every_call_site", {}});
  all[0].instructions[0].kind = all[1].instructions[0].kind = kinds[0];
  all[2].instructions[0].kind = kinds[1];
  EXPECT_EQ(RacedTogether(KernelShares(times, graph), all, {kernels, "by_steps", "by_dots"})[0],
            (std::vector<std::string>{kernels, "by_dots"}));
}

// By what they change around it: kernels may replace what is done in them all the same.
TEST(RacedTogether, WhatUnrollsLoopsThatNobodyElseDoes) {
  ProgramGraph graph;
  graph.computations.resize(1);
  std::vector<KernelTime> times;
  for (const char* name : {"while.1", "while.2", "dot.1"}) {
    InstructionInfo one;
    one.name = name;
    one.opcode = one.name.substr(0, one.name.find('.'));
    one.origin = std::string(name) + "@7";
    graph.computations[0].instructions.push_back(one);
    times.push_back({one.name, one.opcode, 1, 1});
  }
  const std::string kernels(loops::kKernelPass);
  const auto around = [](const std::string& name, const std::vector<std::string>& loops,
                         uint32_t traits = kAnywhere) {
    Alternative one = Replacing(name, {}, {});
    for (const std::string& loop : loops) one.loops.push_back({loop, loop + "@7"});
    one.traits = traits;
    return one;
  };
  const std::vector<Alternative> all = {
      Replacing(kernels, {"dot.1"}, {"dot"}), around("unrolled", {"while.1"}),
      around("unrolled_otherwise", {"while.1"}), around("one_kernel", {"while.2"}, kHereAlone),
      around("carried", {"while.2"})};
  std::vector<std::string> names;
  for (const Alternative& one : all) names.push_back(one.name);
  EXPECT_EQ(RacedTogether(KernelShares(times, graph), all, names)[0],
            (std::vector<std::string>{kernels, "unrolled", "carried"}));
}

}  // namespace
}  // namespace hone::tune
