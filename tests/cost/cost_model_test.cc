#include "cost/cost_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/rng.h"
#include "cost/cost_network.h"
#include "cost/roofline.h"
#include "cost/train_cost_model.h"
#include "graphs.h"

namespace hone::cost {
namespace {

// A program of `length` kernels one behind another, of these opcodes by turns, the last in a
// fusion.
CostGraph Chain(int length, const std::vector<std::string>& opcodes, int64_t elements) {
  ProgramGraph program;
  ComputationInfo fused;
  const uint32_t p = Add(fused, "parameter", F32({elements}));
  Add(fused, opcodes[0], F32({elements}), {p});
  program.computations.push_back(fused);
  ComputationInfo entry;
  uint32_t last = Add(entry, "parameter", F32({elements}));
  for (int i = 0; i < length; ++i) {
    last = Add(entry, opcodes[static_cast<size_t>(i) % opcodes.size()], F32({elements}), {last});
  }
  last = Add(entry, "fusion", F32({elements}), {last});
  entry.instructions[last].called = {0};
  program.computations.push_back(entry);
  return MakeCostGraph(program);
}

CostModel RandomModel(const CostGraph& graph, Rng& rng) {
  CostModel model;
  model.opcodes = graph.opcodes;
  model.types = graph.types;
  model.shape = {static_cast<int64_t>(graph.opcodes.size()) + 1,
                 static_cast<int64_t>(graph.types.size()) + 1, 5, 2, 4};
  model.parameters.resize(static_cast<size_t>(ParameterCount(model.shape)));
  for (double& parameter : model.parameters) parameter = 0.6 * (rng.Unit() - 0.5);
  return model;
}

TEST(CostNetworkTest, TheGradientIsThatOfTheValue) {
  Rng rng(3);
  const CostGraph graph = Chain(5, {"add", "tanh", "negate"}, 5000);
  CostModel model = RandomModel(graph, rng);
  const NetworkInput input =
      model.InputOf(graph, {{"flags", "fast", "true"}, {"tiles", "0123", "4"}});
  std::vector<double> gradient(model.parameters.size());
  NetworkPass(model.shape, model.parameters, input).AddGradient(2, gradient);
  double largest = 0;
  for (size_t i = 0; i < model.parameters.size(); ++i) {
    constexpr double kStep = 1e-6;
    const double at = model.parameters[i];
    model.parameters[i] = at + kStep;
    const double above = Evaluate(model.shape, model.parameters, input);
    model.parameters[i] = at - kStep;
    const double below = Evaluate(model.shape, model.parameters, input);
    model.parameters[i] = at;
    EXPECT_NEAR(gradient[i], 2 * (above - below) / (2 * kStep), 1e-6) << i;
    largest = std::max(largest, std::abs(gradient[i]));
  }
  EXPECT_GT(largest, 0.1);
}

TEST(CostNetworkTest, WithoutCorrectionsItIsTheRoofline) {
  Rng rng(1);
  const CostGraph graph = Chain(7, {"add", "tanh"}, 1000);
  CostModel model = RandomModel(graph, rng);
  for (const ParameterSlot& slot : SlotsOf(model.shape)) {
    if (slot.name.rfind("last", 0) != 0) continue;
    std::fill_n(model.parameters.begin() + slot.offset, slot.rows * slot.columns, 0.0);
  }
  EXPECT_NEAR(model.Estimate(graph, {}), std::log(RooflineOf(graph, model.machine).seconds), 1e-9);
}

TEST(CostNetworkTest, AProgramWithoutKernelsTakesNoTime) {
  Rng rng(1);
  ProgramGraph program;
  ComputationInfo entry;
  Add(entry, "parameter", F32({4}));
  program.computations.push_back(entry);
  const CostGraph graph = MakeCostGraph(program);
  CostModel model = RandomModel(graph, rng);
  EXPECT_EQ(model.Estimate(graph, {}), 0);
  std::vector<double> gradient(model.parameters.size());
  NetworkPass(model.shape, model.parameters, model.InputOf(graph, {})).AddGradient(1, gradient);
  EXPECT_EQ(std::accumulate(gradient.begin(), gradient.end(), 0.0), 0);
}

TEST(CostModelTest, ComesBackFromItsFile) {
  Rng rng(5);
  const CostGraph graph = Chain(4, {"add", "exponential"}, 300);
  CostModel model = RandomModel(graph, rng);
  model.machine.bytes_per_second = 1.25e10;
  model.card["programs"] = "12";
  const std::string bytes = WriteCostModel(model);
  const StatusOr<CostModel> again = ReadCostModel(bytes);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_NEAR(again->Estimate(graph, {}), model.Estimate(graph, {}), 1e-5);
  EXPECT_EQ(again->card.at("programs"), "12");
  EXPECT_EQ(WriteCostModel(*again), bytes);
  // What the model does not know is another thing for it, and no error.
  EXPECT_TRUE(std::isfinite(again->Estimate(Chain(4, {"cosine"}, 300), {})));
}

TEST(CostModelTest, BrokenFilesAreErrors) {
  Rng rng(5);
  const CostModel model = RandomModel(Chain(4, {"add"}, 300), rng);
  const std::string bytes = WriteCostModel(model);
  EXPECT_FALSE(ReadCostModel("what"));
  EXPECT_FALSE(ReadCostModel(bytes.substr(0, bytes.size() / 2)));
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"hone-cost-model-1", "hone-cost-model-9"},
           {"head.plan", "head.plat"},
           {"\"machine.cores\":\"2\"", "\"machine.cores\":\"x\""},
           {"\"opcodes\":\"", "\"opcodes\":\"x,"}}) {
    std::string broken = bytes;
    const size_t at = broken.find(from);
    ASSERT_NE(at, broken.npos) << from;
    broken.replace(at, from.size(), to);
    if (to.size() != from.size()) {
      // The header's length, and as many bytes less of its padding or of what follows.
      const auto length = static_cast<uint64_t>(static_cast<unsigned char>(broken[0])) +
                          256 * static_cast<unsigned char>(broken[1]) + to.size() - from.size();
      broken[0] = static_cast<char>(length & 0xff);
      broken[1] = static_cast<char>(length >> 8 & 0xff);
    }
    const auto read = ReadCostModel(broken);
    ASSERT_FALSE(read) << from;
    EXPECT_EQ(read.error().code, ErrorCode::kInvalidInput);
  }
}

// Programs in which a tanh takes ten times what the roofline thinks, and a flag halves it all.
std::vector<Example> Truth(int programs, int64_t first) {
  std::vector<Example> examples;
  const CostModel by_default;
  for (int p = 0; p < programs; ++p) {
    const int64_t elements = first + 700 * p;
    for (int kind = 0; kind < 6; ++kind) {
      const std::vector<std::string> opcodes = kind % 3 == 0 ? std::vector<std::string>{"add"}
                                               : kind % 3 == 1
                                                   ? std::vector<std::string>{"add", "add", "tanh"}
                                                   : std::vector<std::string>{"add", "tanh"};
      Example example;
      example.program = "p" + std::to_string(first) + "." + std::to_string(p);
      example.graph = std::make_shared<const CostGraph>(Chain(6, opcodes, elements));
      if (kind >= 3) example.choices = {{"flags", "fast", "true"}};
      double seconds = 0;
      for (const CostNode& node : example.graph->nodes) {
        if (!node.kernel || node.runs == 0) continue;
        const std::string& opcode = example.graph->opcodes[static_cast<size_t>(node.opcode)];
        seconds +=
            KernelSeconds(*example.graph, node, by_default.machine) * (opcode == "tanh" ? 0.02 : 1);
      }
      example.value = std::log(seconds * (kind >= 3 ? 0.7 : 1));
      examples.push_back(example);
    }
  }
  return examples;
}

double MeanSpearman(const std::vector<Example>& examples, const CostModel& model) {
  std::vector<double> estimates;
  for (const Example& example : examples) {
    estimates.push_back(model.Estimate(*example.graph, example.choices));
  }
  double sum = 0;
  const std::vector<RankQuality> qualities = RankQualities(examples, estimates, 3);
  for (const RankQuality& quality : qualities) sum += quality.spearman;
  return sum / static_cast<double>(qualities.size());
}

TEST(TrainCostModelTest, LearnsWhatTheRooflineDoesNotKnow) {
  const std::vector<Example> examples = Truth(6, 2000);
  const std::vector<Example> others = Truth(4, 2300);
  TrainOptions options;
  options.steps = 0;
  const CostModel untrained = TrainCostModel(examples, {}, options);
  EXPECT_LT(MeanSpearman(others, untrained), 0.7);
  options.steps = 300;
  options.batch = 6;
  double loss = 1e9;
  options.progress = [&](int, double now) { loss = now; };
  const CostModel model = TrainCostModel(examples, {}, options);
  EXPECT_LT(loss, 0.02);
  EXPECT_GT(MeanSpearman(others, model), 0.95);
  EXPECT_EQ(TrainCostModel(examples, {}, options).parameters, model.parameters);
}

TEST(TrainCostModelTest, AnInterruptKeepsWhatIsHad) {
  const std::vector<Example> examples = Truth(2, 2000);
  const std::atomic<bool> interrupted{true};
  TrainOptions options;
  options.interrupted = &interrupted;
  options.progress = [](int, double) { FAIL(); };
  const CostModel model = TrainCostModel(examples, {}, options);
  EXPECT_NEAR(model.Estimate(*examples[0].graph, {}),
              std::log(RooflineOf(*examples[0].graph, {}).seconds), 1e-9);
}

TEST(TrainCostModelTest, WhatDoesNotHoldElsewhereIsNotKept) {
  // Values without any sense: what is learned of some programs is wrong of the others.
  std::vector<Example> examples = Truth(8, 2000);
  Rng rng(3);
  for (Example& example : examples) example.value = rng.Unit();
  TrainOptions options;
  options.steps = 200;
  options.validation = 0.5;
  std::vector<Example> held_out;
  for (const Example& example : examples) {
    if (IsHeldOut(example.program, 0.5, options.seed + 1)) held_out.push_back(example);
  }
  const auto right = [&](const CostModel& model) {
    std::vector<double> estimates;
    for (const Example& example : held_out) {
      estimates.push_back(model.Estimate(*example.graph, example.choices));
    }
    double sum = 0;
    for (const RankQuality& quality : RankQualities(held_out, estimates, 2)) sum += quality.right;
    return sum;
  };
  const double trained = right(TrainCostModel(examples, {}, options));
  options.steps = 0;
  EXPECT_GE(trained, right(TrainCostModel(examples, {}, options)));
  ASSERT_GE(held_out.size(), 12u);
}

TEST(TrainCostModelTest, HeldOutProgramsAreAShare) {
  int held_out = 0;
  int alike = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string program = std::to_string(i);
    held_out += IsHeldOut(program, 0.3, 1) ? 1 : 0;
    alike += IsHeldOut(program, 0.3, 1) == IsHeldOut(program, 0.3, 2) ? 1 : 0;
  }
  EXPECT_NEAR(held_out, 300, 50);
  EXPECT_LT(alike, 700);
  EXPECT_FALSE(IsHeldOut("x", 0, 1));
  EXPECT_TRUE(IsHeldOut("x", 1, 1));
}

TEST(RankQualityTest, TellsWhatTheTopIsWorth) {
  std::vector<Example> examples(8);
  std::vector<double> estimates;
  for (size_t i = 0; i < 8; ++i) {
    examples[i].program = i < 7 ? "many" : "few";
    examples[i].value = static_cast<double>(i);
    estimates.push_back(-static_cast<double>(i));
  }
  const auto qualities = RankQualities(examples, estimates, 2);
  ASSERT_EQ(qualities.size(), 1u);
  EXPECT_EQ(qualities[0].plans, 7u);
  EXPECT_DOUBLE_EQ(qualities[0].spearman, -1);
  EXPECT_DOUBLE_EQ(qualities[0].kendall, -1);
  // The five that it thinks best are those of 2 to 6.
  EXPECT_DOUBLE_EQ(qualities[0].best_of_5, std::exp(-2));
  EXPECT_DOUBLE_EQ(qualities[0].spread, 2);
  EXPECT_EQ(qualities[0].decided, 21u);
  EXPECT_EQ(qualities[0].right, 0);
  for (Example& example : examples) example.doubt = 1;
  estimates = {1, 2, 3, 4, 5, 6, 7, 8};
  const auto doubtful = RankQualities(examples, estimates, 2);
  // Pairs further apart than 2 sqrt(2): of seven in a row those 3, 4, 5 and 6 apart.
  EXPECT_EQ(doubtful[0].decided, 4u + 3 + 2 + 1);
  EXPECT_EQ(doubtful[0].right, 1);
}

}  // namespace
}  // namespace hone::cost
