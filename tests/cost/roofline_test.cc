#include "cost/roofline.h"

#include <gtest/gtest.h>

#include <cmath>

#include "cost/rank_correlation.h"
#include "graphs.h"

namespace hone::cost {
namespace {

// A machine whose figures are easy: a flop and a byte take a second, a kernel ten.
constexpr Machine kEasy{1, 1, 2, 10, 0};

ProgramGraph OneComputation(ComputationInfo entry) {
  ProgramGraph program;
  program.computations.push_back(std::move(entry));
  return program;
}

double SecondsOf(const ProgramGraph& program, const Machine& machine = kEasy) {
  return RooflineOf(MakeCostGraph(program), machine).seconds;
}

TEST(RooflineTest, AKernelTakesTheLongerOfComputingAndMoving) {
  ComputationInfo entry;
  const uint32_t x = Add(entry, "parameter", F32({8}));
  Add(entry, "add", F32({8}), {x, x});
  // 2 * 32 bytes are read, 32 written; 8 flops hide behind them.
  EXPECT_EQ(SecondsOf(OneComputation(entry)), 10 + 96);
  Machine slow = kEasy;
  slow.flops_per_second = 0.01;
  EXPECT_EQ(SecondsOf(OneComputation(entry), slow), 10 + 800);
}

TEST(RooflineTest, PiecesHaveAsManyCoresAsThereAre) {
  ComputationInfo entry;
  const uint32_t x = Add(entry, "parameter", F32({8}));
  const uint32_t y = Add(entry, "negate", F32({8}), {x});
  entry.instructions[y].attributes = {
      {"backend_config", R"({"outer_dimension_partitions":["1","2"]})"}};
  EXPECT_EQ(SecondsOf(OneComputation(entry)), 10 + 64 / 2);
  entry.instructions[y].attributes = {
      {"backend_config", R"({"outer_dimension_partitions":["4","2"]})"}};
  EXPECT_EQ(SecondsOf(OneComputation(entry)), 10 + 64 / 2);
}

TEST(RooflineTest, DotsAndConvolutionsCountMultiplyAdds) {
  ComputationInfo entry;
  const uint32_t a = Add(entry, "parameter", F32({2, 50}));
  const uint32_t b = Add(entry, "parameter", F32({50, 3}));
  const uint32_t dot = Add(entry, "dot", F32({2, 3}), {a, b});
  entry.instructions[dot].attributes = {{"lhs_contracting_dims", "{1}"}};
  const uint32_t image = Add(entry, "parameter", F32({1, 8, 8, 4}));
  const uint32_t kernel = Add(entry, "parameter", F32({3, 3, 4, 16}));
  const uint32_t convolved = Add(entry, "convolution", F32({1, 8, 8, 16}), {image, kernel});
  entry.instructions[convolved].attributes = {{"dim_labels", "b01f_01io->b01f"}};
  const CostGraph graph = MakeCostGraph(OneComputation(entry));
  EXPECT_EQ(graph.nodes[dot].flops, 2 * 2 * 3 * 50);
  EXPECT_EQ(graph.nodes[convolved].flops, 2 * (8 * 8 * 16) * (3 * 3 * 4));
}

// A loop of `iterations` ("" where that is not known) whose body updates a row of a table in place,
// by a fusion.
ProgramGraph Loop(const std::string& iterations) {
  ProgramGraph program;
  ComputationInfo fused;
  const uint32_t table = Add(fused, "parameter", F32({100, 8}));
  const uint32_t row = Add(fused, "parameter", F32({1, 8}));
  const uint32_t twice = Add(fused, "add", F32({1, 8}), {row, row});
  Add(fused, "dynamic-update-slice", F32({100, 8}), {table, twice});
  program.computations.push_back(fused);
  ComputationInfo body;
  const uint32_t whole = Add(body, "parameter", F32({100, 8}));
  const uint32_t part = Add(body, "dynamic-slice", F32({1, 8}), {whole});
  const uint32_t fusion = Add(body, "fusion", F32({100, 8}), {whole, part});
  body.instructions[fusion].called = {0};
  program.computations.push_back(body);
  ComputationInfo entry;
  const uint32_t start = Add(entry, "parameter", F32({100, 8}));
  const uint32_t loop = Add(entry, "while", F32({100, 8}), {start});
  entry.instructions[loop].called = {1};
  if (!iterations.empty()) {
    entry.instructions[loop].attributes = {
        {"backend_config", R"({"known_trip_count":{"n":")" + iterations + R"("}})"}};
  }
  program.computations.push_back(entry);
  return program;
}

TEST(RooflineTest, LoopsRunTheirBodyAndSlicesMoveWhatTheyTake) {
  // The slice: 32 bytes each way. The fusion: the row is read and a row written; the table stays.
  const double iteration = (10 + 64) + (10 + 64);
  EXPECT_EQ(SecondsOf(Loop("7")), 7 * iteration);
  EXPECT_EQ(SecondsOf(Loop("")), kUnknownIterations * iteration);
  const Roofline roofline = RooflineOf(MakeCostGraph(Loop("7")), kEasy);
  EXPECT_EQ(roofline.kernels, 14);
  EXPECT_EQ(roofline.compute_seconds, 7 * 8);
  EXPECT_EQ(roofline.memory_seconds, 7 * 128);
}

TEST(RooflineTest, FusingSparesTheTrafficBetween) {
  ComputationInfo apart;
  const uint32_t x = Add(apart, "parameter", F32({1000}));
  const uint32_t y = Add(apart, "tanh", F32({1000}), {x});
  Add(apart, "negate", F32({1000}), {y});
  ProgramGraph together;
  ComputationInfo fused;
  const uint32_t p = Add(fused, "parameter", F32({1000}));
  const uint32_t q = Add(fused, "tanh", F32({1000}), {p});
  Add(fused, "negate", F32({1000}), {q});
  together.computations.push_back(fused);
  ComputationInfo entry;
  const uint32_t z = Add(entry, "parameter", F32({1000}));
  const uint32_t fusion = Add(entry, "fusion", F32({1000}), {z});
  entry.instructions[fusion].called = {0};
  together.computations.push_back(entry);
  Machine fast = kEasy;
  fast.flops_per_second = 1000;
  EXPECT_LT(SecondsOf(together, fast), 0.6 * SecondsOf(OneComputation(apart), fast));
  EXPECT_EQ(MakeCostGraph(together).nodes.back().flops, 13 * 1000);
}

TEST(RooflineTest, AMachineHasPeaks) {
  const Machine machine = MeasureMachine();
  EXPECT_GT(machine.flops_per_second, 1e6);
  EXPECT_GT(machine.bytes_per_second, 1e6);
  EXPECT_GE(machine.cores, 1);
}

TEST(CostGraphTest, ComesBackFromItsText) {
  const CostGraph graph = MakeCostGraph(Loop("7"));
  const std::string text = CostGraphToText(graph);
  const StatusOr<CostGraph> again = CostGraphFromText(text);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(CostGraphToText(*again), text);
  EXPECT_EQ(RooflineOf(*again, kEasy).seconds, RooflineOf(graph, kEasy).seconds);
  EXPECT_EQ(again->nodes.size(), 9u);
  EXPECT_EQ(again->edge_start.back(), static_cast<int32_t>(again->edge_source.size()));
}

TEST(CostGraphTest, LayoutsShowInTheOrderOfDimensions) {
  ComputationInfo entry;
  const uint32_t x = Add(entry, "parameter", F32({3, 5}));
  entry.instructions[x].shape.minor_to_major = {0, 1};
  const CostGraph graph = MakeCostGraph(OneComputation(entry));
  EXPECT_EQ(graph.nodes[0].dimensions[0], 5);
  EXPECT_EQ(graph.nodes[0].dimensions[1], 3);
}

TEST(CostGraphTest, BrokenTextsAreErrors) {
  const std::string names = R"("opcodes":["add"],"types":["f32"])";
  for (const std::string& text : {
           std::string("["),
           std::string("[]"),
           "{" + names + "}",
           "{" + names + R"(,"nodes":[[0,0,1,1,1,1,1,1]],"edges":[]})",
           "{" + names + R"(,"nodes":[[0,0,1,1]],"edges":[[]]})",
           "{" + names + R"(,"nodes":[[1,0,1,1,1,1,1,1]],"edges":[[]]})",
           "{" + names + R"(,"nodes":[[0,0,-1,1,1,1,1,1]],"edges":[[]]})",
           "{" + names + R"(,"nodes":[[0,0,1,1,1,1,1,1]],"edges":[[3]]})",
           "{" + names + R"(,"nodes":[[0,0,1,1,1,1,1,1]],"edges":[[-1]]})",
           "{" + names + R"(,"nodes":[[0,0,1,1,1,1,1,1,2,2,2,2,2,2,2]],"edges":[[]]})",
           std::string(R"({"opcodes":[1],"types":[],"nodes":[],"edges":[]})"),
       }) {
    EXPECT_FALSE(CostGraphFromText(text)) << text;
  }
  EXPECT_TRUE(CostGraphFromText("{" + names + R"(,"nodes":[[0,0,1,1,1,1,1,1]],"edges":[[0]]})"));
}

TEST(RankCorrelationTest, KnowsOrderFromDisorder) {
  const std::vector<double> up = {1, 2, 3, 4};
  EXPECT_DOUBLE_EQ(Spearman(up, {10, 20, 30, 400}), 1);
  EXPECT_DOUBLE_EQ(Kendall(up, {4, 3, 2, 1}), -1);
  // Worked by hand: ranks 1 2 3 4 against 2 1 4 3.
  EXPECT_DOUBLE_EQ(Spearman(up, {2, 1, 4, 3}), 0.6);
  EXPECT_DOUBLE_EQ(Kendall(up, {2, 1, 4, 3}), 2.0 / 6);
  // Equal figures: ranks 1.5 1.5 3 4.
  EXPECT_NEAR(Spearman(up, {5, 5, 6, 7}), 0.9486832980505138, 1e-12);
  EXPECT_NEAR(Kendall(up, {5, 5, 6, 7}), 5 / std::sqrt(30.0), 1e-12);
  EXPECT_EQ(Spearman(up, {1, 1, 1, 1}), 0);
  EXPECT_EQ(Kendall({}, {}), 0);
}

}  // namespace
}  // namespace hone::cost
