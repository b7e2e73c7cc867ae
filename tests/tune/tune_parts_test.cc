// The pieces of the autotuner, one by one.
#include <gtest/gtest.h>

#include "tune/candidates.h"
#include "tune/lessons.h"
#include "tune/ranking.h"
#include "tune/space.h"
#include "tune/tune_plan.h"

namespace hone::tune {
namespace {

TunePlan MakePlan() {
  TunePlan plan;
  plan.passes.push_back({"implement:one", {}});
  Decisions decisions;
  decisions.otherwise = Otherwise::kDecline;
  decisions.seed = 3;
  decisions.choices = {{5, true}, {9, false}};
  plan.passes.push_back({"algsimp", decisions});
  plan.compile.choices = {{1, "keep"}, {0xfedcba9876543210, "0,1"}};
  plan.compile.flags = {{"xla_a", "true"}, {"xla_b", "2"}};
  return plan;
}

TEST(TunePlanTest, ThereAndBack) {
  for (const TunePlan& plan : {TunePlan(), MakePlan()}) {
    const std::string text = TunePlanToJson(plan);
    const auto again = TunePlanFromJson(text);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, plan) << text;
    EXPECT_EQ(HashText(*again), HashText(plan));
  }
  EXPECT_NE(HashText(MakePlan()), HashText(TunePlan()));
}

TEST(TunePlanTest, SaysWhichFieldIsWrong) {
  const std::string head = "{\"format\": \"hone tuned plan\", ";
  const std::pair<std::string, std::string> cases[] = {
      {"", "format"},
      {"[]", "format"},
      {"{\"format\": \"hone plan\"}", "format"},
      {head + "\"passes\": 3}", "'passes'"},
      {head + "\"passes\": [3]}", "passes[0]"},
      {head + "\"passes\": [{\"pass\": null}]}", "passes[0].pass"},
      {head + "\"passes\": [{\"pass\": \"a\", \"otherwise\": \"?\"}]}", "passes[0].otherwise"},
      {head + "\"passes\": [{\"pass\": \"a\", \"seed\": -1}]}", "passes[0].seed"},
      {head + "\"passes\": [{\"pass\": \"a\", \"choices\": {\"x\": true}}]}", "passes[0].choices"},
      {head + "\"choices\": []}", "'choices'"},
      {head + "\"choices\": null}", "'choices'"},
      {head + "\"choices\": {\"12\": \"a\"}}", "'12'"},
      {head + "\"choices\": {\"0000000000000001\": 1}}", "'0000000000000001'"},
      {head + "\"flags\": {\"xla_a\": true}}", "'xla_a'"},
      {head + "\"flag\": {}}", "'flag'"},
  };
  for (const auto& [text, wanted] : cases) {
    const auto plan = TunePlanFromJson(text);
    ASSERT_FALSE(plan) << text;
    EXPECT_EQ(plan.error().code, ErrorCode::kInvalidInput);
    EXPECT_NE(plan.error().message.find(wanted), std::string::npos) << plan.error().message;
  }
}

// A loop that runs a fusion of an addition and a product, and a sort beside it.
KernelShares MakeShares() {
  ProgramGraph graph;
  graph.computations.resize(3);
  InstructionInfo add, multiply, fusion, sort, loop;
  add.name = "add.5.clone.1";
  add.opcode = "add";
  multiply.name = "multiply.2";
  multiply.opcode = "multiply";
  graph.computations[0].instructions = {add, multiply};
  fusion.name = "multiply_add_fusion";
  fusion.opcode = "fusion";
  fusion.called = {0};
  sort.name = "sort.1";
  sort.opcode = "sort";
  sort.origin = "top_k@59";
  loop.name = "while.1";
  loop.opcode = "while";
  loop.called = {1};
  graph.computations[1].instructions = {fusion};
  graph.computations[2].instructions = {sort, loop};
  return KernelShares({{"while.1", "while", 1, 1},
                       {"sort.1", "sort", 3, 1},
                       {"multiply_add_fusion", "fusion", 1, 4},
                       {"nobody_knows", "copy", 0, 1}},
                      graph);
}

TEST(KernelSharesTest, ByInstructionAndOpcodeInsideFusionsToo) {
  const KernelShares shares = MakeShares();
  ASSERT_TRUE(shares.known());
  EXPECT_DOUBLE_EQ(shares.OfInstruction("add.5"), 0.25) << "known by its name before it was cloned";
  EXPECT_DOUBLE_EQ(shares.OfInstruction("sort.1"), 0.75);
  EXPECT_DOUBLE_EQ(shares.OfInstruction("add"), 0);
  EXPECT_DOUBLE_EQ(shares.OfOpcode("multiply"), 0.25);
  EXPECT_DOUBLE_EQ(shares.OfOpcode("while"), 0) << "what is in it counts";
  EXPECT_DOUBLE_EQ(shares.OfOrigin("top_k@59"), 0.75);
  EXPECT_DOUBLE_EQ(shares.OfOrigin(""), 0) << "that nobody knows it is no origin";
  EXPECT_FALSE(KernelShares().known());
  EXPECT_FALSE(KernelShares({}, {}).known());
}

TEST(SpaceTest, SitesOfDearKernelsAreWeightier) {
  Compiled listing;
  for (const char* name : {"add.5", "sort.1", "copy.1"}) {
    CompileSite site;
    site.key = listing.sites.size() + 1;
    site.instruction = name;
    site.choices = {"fuse", "keep"};
    site.bytes = name == std::string("copy.1") ? 1000 : 10;
    listing.sites.push_back(site);
  }
  Space by_time, by_bytes;
  AddListing(listing, AllStages(), MakeShares(), by_time);
  AddListing(listing, AllStages(), {}, by_bytes);
  EXPECT_GT(by_time.variables[1].weight, by_time.variables[0].weight);
  EXPECT_GT(by_time.variables[0].weight, by_time.variables[2].weight);
  EXPECT_GT(by_bytes.variables[2].weight, by_bytes.variables[0].weight);
}

Space MakeSpace() {
  Compiled listing;
  CompileSite site;
  site.key = 1;
  site.kind = CompileSiteKind::kFusionEdge;
  site.choices = {"fuse", "keep"};
  listing.sites.push_back(site);
  site.key = 2;
  site.kind = CompileSiteKind::kDotStrategy;
  site.choices = {"naive", "eigen"};
  site.stock = 1;
  listing.sites.push_back(site);
  listing.flag_choices = {{"xla_a", {"false", "true"}}, {"xla_fixed", {"1"}}};
  Space space;
  AddAlternatives({{Stage::kImplementation, "implement:one", {{"implement:one", {}}}, {}, {}},
                   {Stage::kOrder, "order:bytes", {{"algsimp", {}}, {"dce", {}}}, {}, {}}},
                  AllStages(), space);
  EXPECT_TRUE(AddListing(listing, AllStages(), {}, space));
  EXPECT_FALSE(AddListing(listing, AllStages(), {}, space)) << "added twice";
  return space;
}

TEST(SpaceTest, PlansAndAssignmentsCorrespond) {
  const Space space = MakeSpace();
  ASSERT_EQ(space.variables.size(), 5u);
  EXPECT_TRUE(PlanOf(space, choices::StockAssignment(space.variables)).empty());
  // Every assignment there is.
  for (uint32_t bits = 0; bits < 32; ++bits) {
    choices::Assignment assignment;
    for (uint32_t i = 0; i < 5; ++i) assignment.push_back((bits >> i) & 1);
    const TunePlan plan = PlanOf(space, assignment);
    EXPECT_EQ(AssignmentOf(space, plan), assignment) << TunePlanToJson(plan);
  }
  EXPECT_EQ(space.behind_the_module.count(2), 1u);
  EXPECT_EQ(space.behind_the_module.count(1), 0u);
}

TEST(SpaceTest, OneAlternativeMayBeginAsAnotherDoes) {
  const PlannedPass a{"algsimp", {}}, b{"dce", {}}, c{"cse", {}}, inliner{"call-inliner", {}};
  Space space;
  AddAlternatives(
      {{Stage::kImplementation, "implement:one", {inliner, {"implement:one", {}}}, {}, {}},
       {Stage::kImplementation, "implement:two", {inliner, {"implement:two", {}}}, {}, {}},
       {Stage::kOrder, "order:short", {a, b}, {}, {}},
       {Stage::kOrder, "order:long", {a, b, c}, {}, {}},
       {Stage::kOrder, "order:inlined", {a, b, inliner}, {}, {}}},
      AllStages(), space);
  ASSERT_EQ(space.variables.size(), 3u);
  for (uint32_t one = 0; one < 2; ++one) {
    for (uint32_t two = 0; two < 2; ++two) {
      for (uint32_t order = 0; order < 4; ++order) {
        choices::Assignment assignment = choices::StockAssignment(space.variables);
        for (size_t i = 0; i < 3; ++i) {
          const std::string& name = space.decisions[i].name;
          assignment[i] = name == "implement:one" ? one : name == "implement:two" ? two : order;
        }
        const TunePlan plan = PlanOf(space, assignment);
        EXPECT_EQ(AssignmentOf(space, plan), assignment) << TunePlanToJson(plan);
        // What no alternative has takes none of the others with it.
        TunePlan more = plan;
        more.passes.insert(more.passes.begin(), {"reshape-mover", {}});
        EXPECT_EQ(AssignmentOf(space, more), assignment) << TunePlanToJson(more);
      }
    }
  }
}

TEST(SpaceTest, WhatCanMatterMuchComesFirst) {
  Compiled listing;
  listing.flag_choices = {{"xla_a", {"false", "true"}},
                          {std::string(kWithoutPass) + "algsimp", {"", "true"}, /*first=*/true},
                          {"xla_b", {"0", "1", "2"}, /*first=*/true}};
  Space space;
  ASSERT_TRUE(AddListing(listing, AllStages(), {}, space));
  EXPECT_FALSE(space.variables[0].first);
  EXPECT_TRUE(space.variables[1].first);
  // Passes wait for the search.
  EXPECT_EQ(FirstFlags(space, {}), (std::vector<choices::Assignment>{{0, 0, 1}, {0, 0, 2}}));
}

TEST(SpaceTest, AFlagAboutCopiesComesFirstWhereTheyTakeMuch) {
  Compiled listing;
  listing.flag_choices = {{"xla_a", {"false", "true"}},
                          {"xla_cpu_copy_insertion_use_region_analysis", {"false", "true"}}};
  Space space;
  ASSERT_TRUE(AddListing(listing, AllStages(), {}, space));
  const auto shares = [](double of_copies) {
    ProgramGraph graph;
    graph.computations.resize(1);
    InstructionInfo copy, dot;
    copy.name = copy.opcode = "copy";
    dot.name = dot.opcode = "dot";
    graph.computations[0].instructions = {copy, dot};
    return KernelShares({{"copy", "copy", of_copies, 1}, {"dot", "dot", 1 - of_copies, 1}}, graph);
  };
  EXPECT_EQ(FirstFlags(space, shares(0.3)), (std::vector<choices::Assignment>{{0, 1}}));
  EXPECT_TRUE(FirstFlags(space, shares(0.05)).empty());
}

TEST(SpaceTest, OnlyTheStagesThatAreWanted) {
  Compiled listing;
  listing.flag_choices = {{"xla_a", {"false", "true"}}};
  Space space;
  EXPECT_FALSE(AddListing(listing, *StagesFromText("layout,fusion"), {}, space));
  EXPECT_TRUE(AddListing(listing, *StagesFromText("flags"), {}, space));
  EXPECT_FALSE(StagesFromText(""));
  EXPECT_FALSE(StagesFromText("layout,nothing"));
}

TEST(CandidatesTest, OwnChoiceThenLessonThenStock) {
  const Space space = MakeSpace();
  Lessons lessons({{"fusion", "0000000000000001", "keep", 0.1, "p"},
                   {"flags", "xla_a", "true", 0.1, "p"},
                   {"tiles", "0000000000000002", "no such value", 0.1, "p"}});
  Candidate candidate;
  candidate.own.assign(space.variables.size(), Candidate::kUndecided);
  const auto at = [&](const std::string& name) {
    for (size_t i = 0; i < space.decisions.size(); ++i) {
      if (space.decisions[i].name == name) return i;
    }
    return size_t{0};
  };
  choices::Assignment applied = Apply(candidate, space, lessons);
  EXPECT_EQ(applied[at("0000000000000001")], 1u) << "learned";
  EXPECT_EQ(applied[at("xla_a")], 1u) << "learned";
  EXPECT_EQ(applied[at("0000000000000002")], 1u) << "stock: the lesson does not fit";
  candidate.own[at("xla_a")] = 0;
  applied = Apply(candidate, space, lessons);
  EXPECT_EQ(applied[at("xla_a")], 0u) << "its own";
  EXPECT_EQ(Apply({}, space, lessons)[at("xla_a")], 1u) << "variables that it does not know of";
}

TEST(CandidatesTest, StagesTakeTurns) {
  const Space space = MakeSpace();
  StageTurns turns(space, 2);
  std::vector<int> taken;
  for (int i = 0; i < 10; ++i) taken.push_back(turns.Next());
  const auto stage = [](Stage s) { return static_cast<int>(s); };
  const int order = stage(Stage::kOrder);
  const int implementation = stage(Stage::kImplementation);
  const int fusion = stage(Stage::kFusion);
  const int tiles = stage(Stage::kTiles);
  const int flags = stage(Stage::kFlags);
  EXPECT_EQ(taken, (std::vector<int>{order, order, implementation, implementation, fusion, fusion,
                                     tiles, tiles, flags, flags}));
}

TEST(CandidatesTest, FinalistsAreTheBestAndEachExecutableOnce) {
  Finalists finalists(2);
  EXPECT_EQ(finalists.best_value(), 0);
  EXPECT_FALSE(finalists.Offer({{}, "a", 0.1, {}}, 0.01)) << "slower than stock";
  EXPECT_TRUE(finalists.Offer({{}, "b", -0.1, {}}, 0.01));
  EXPECT_FALSE(finalists.Offer({{}, "c", -0.105, {}}, 0.01)) << "not by the margin";
  EXPECT_TRUE(finalists.Offer({{}, "d", -0.3, {}}, 0.01));
  EXPECT_FALSE(finalists.Offer({{}, "d", -0.2, {}}, 0.01)) << "corrected";
  ASSERT_EQ(finalists.list().size(), 2u);
  EXPECT_EQ(finalists.list()[0].executable, "d");
  EXPECT_EQ(finalists.list()[1].executable, "c");
  EXPECT_EQ(finalists.best_value(), -0.2);
}

TEST(LessonsTest, AGreaterGainTeaches) {
  Lessons lessons({{"flags", "xla_a", "true", 0.5, "p"}});
  lessons.Learn({{Stage::kFlags, "xla_a", "false"}, {Stage::kOrder, "order", "x"}}, 0.2, "q");
  EXPECT_EQ(lessons.Find(Stage::kFlags, "xla_a")->value, "true");
  EXPECT_EQ(lessons.Find(Stage::kOrder, "order"), nullptr);
  lessons.Learn({{Stage::kFlags, "xla_a", "false"}}, 0.6, "q");
  EXPECT_EQ(lessons.Find(Stage::kFlags, "xla_a")->value, "false");
  EXPECT_EQ(lessons.Find(Stage::kFusion, "xla_a"), nullptr);
}

TEST(RankingTest, AGenerationIsAsLargeAsItPays) {
  EXPECT_EQ(TopOf(static_cast<int>(Stage::kFusion)), 10u);
  EXPECT_EQ(TopOf(static_cast<int>(Stage::kTiles)), 5u);
  EXPECT_EQ(GenerationSize(10, 0, 0, 1e3), 1u);
  EXPECT_EQ(GenerationSize(10, 1, 0.5, 1e3), 10u);
  EXPECT_EQ(GenerationSize(10, 1, 2.5, 1e3), 25u);
  EXPECT_EQ(GenerationSize(10, 1, 100, 1e3), 40u);
  EXPECT_EQ(GenerationSize(10, 1, 100, 60), 12u);
  EXPECT_EQ(GenerationSize(10, 1, 100, 0), 1u);
}

TEST(RankingTest, TheTopIsKeptAndWhatCouldNotBeEstimated) {
  std::vector<Ranked> generation;
  for (const double estimate : {3.0, 1.0, 2.0, 1.0}) {
    Ranked& ranked = generation.emplace_back();
    ranked.estimate = estimate;
    ranked.prepared.graph.emplace();
    ranked.assignment = {static_cast<uint32_t>(generation.size())};
  }
  generation.emplace_back().assignment = {9};
  EXPECT_EQ(KeepTop(2, generation), 2u);
  ASSERT_EQ(generation.size(), 3u);
  EXPECT_EQ(generation[0].assignment, choices::Assignment{9});
  EXPECT_EQ(generation[1].assignment, choices::Assignment{2});
  EXPECT_EQ(generation[2].assignment, choices::Assignment{4});
}

TEST(RankingTest, OneInFiveIsKeptWhateverItsEstimate) {
  std::vector<Ranked> generation;
  for (uint32_t i = 0; i < 8; ++i) {
    Ranked& ranked = generation.emplace_back();
    ranked.estimate = 8.0 - i;
    ranked.prepared.graph.emplace();
    ranked.assignment = {i};
  }
  EXPECT_EQ(KeepTop(5, generation), 3u);
  std::vector<uint32_t> kept;
  for (const Ranked& ranked : generation) kept.push_back(ranked.assignment[0]);
  EXPECT_EQ(kept, (std::vector<uint32_t>{0, 7, 6, 5, 4}));
}

}  // namespace
}  // namespace hone::tune
