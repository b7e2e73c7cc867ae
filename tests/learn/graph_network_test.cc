#include "learn/graph_network.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/rng.h"
#include "policy/graph_forward.h"
#include "support/random_graph.h"

namespace hone::learn {
namespace {

using hone::testing::Permuted;
using hone::testing::RandomGraph;
using hone::testing::RandomOrder;
using Graphs = std::vector<std::shared_ptr<const ProgramArrays>>;

constexpr int64_t kFeatures = 6;
constexpr int64_t kValueFeatures = 2;
constexpr int64_t kOutputs = 9;

std::shared_ptr<const ProgramArrays> Graph(int32_t nodes, double edges_per_node, Rng& rng) {
  return std::make_shared<ProgramArrays>(RandomGraph(nodes, edges_per_node, rng));
}

Observation Observe(const Graphs& graphs) {
  const auto size = static_cast<int64_t>(graphs.size());
  return {torch::randn({size, kFeatures}), torch::randn({size, kValueFeatures}),
          torch::ones({size, kOutputs}, torch::kBool), graphs};
}

// Far from how it starts: biases and norms are no longer zeros and ones.
std::shared_ptr<Network> Make(const std::string& activation = "relu", bool value_features = false) {
  NetworkOptions options;
  options.kind = "graph";
  options.hidden = {32, 16};
  options.activation = activation;
  options.value_features = value_features;
  const TaskShape shape{1, kFeatures, kValueFeatures, kOutputs, true};
  const auto network = MakeGraphNetwork(options, shape, kOutputs, 1.0, {16, 3});
  const torch::NoGradGuard no_grad;
  for (torch::Tensor& parameter : network->parameters()) {
    parameter.add_(0.1 * torch::randn_like(parameter));
  }
  return network;
}

double Difference(const torch::Tensor& a, const torch::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

TEST(GraphNetwork, AgreesWithInferenceWithoutTorch) {
  torch::manual_seed(1);
  Rng rng(1);
  const torch::NoGradGuard no_grad;
  for (const std::string activation : {"tanh", "relu"}) {
    for (const bool value_features : {false, true}) {
      const auto network = Make(activation, value_features);
      std::map<std::string, policy::Tensor> tensors;
      network->Export("value", tensors);
      const auto exported = policy::ReadGraphNetwork(tensors, "value", activation);
      ASSERT_TRUE(exported) << exported.error().message;
      const Graphs graphs = {Graph(1, 0, rng), Graph(50, 2, rng), Graph(400, 3, rng)};
      const Observation observation = Observe(graphs);
      const torch::Tensor outputs = network->Forward(observation);
      for (size_t i = 0; i < graphs.size(); ++i) {
        const auto row = static_cast<int64_t>(i);
        torch::Tensor features = observation.features[row];
        if (value_features) features = torch::cat({features, observation.value_features[row]});
        const float* data = features.data_ptr<float>();
        std::vector<float> found = policy::GraphForward(
            *exported, *graphs[i], {data, static_cast<size_t>(features.numel())});
        EXPECT_LT(Difference(torch::tensor(found), outputs[row]), 1e-4);
      }
    }
  }
}

TEST(GraphNetwork, ExportsEveryParameter) {
  const auto network = Make();
  std::map<std::string, policy::Tensor> tensors;
  network->Export("policy", tensors);
  size_t exported = 0;
  size_t own = 0;
  for (const auto& [name, tensor] : tensors) exported += tensor.values.size();
  for (const torch::Tensor& parameter : network->parameters()) own += parameter.numel();
  EXPECT_EQ(exported, own);
}

TEST(GraphNetwork, DoesNotKnowTheOrderOfNodesAndEdges) {
  torch::manual_seed(2);
  Rng rng(2);
  const torch::NoGradGuard no_grad;
  const auto network = Make();
  const auto graph = Graph(120, 2, rng);
  Observation observation = Observe({graph});
  const torch::Tensor before = network->Forward(observation);
  for (int i = 0; i < 3; ++i) {
    observation.graphs[0] =
        std::make_shared<ProgramArrays>(Permuted(*graph, RandomOrder(120, rng)));
    EXPECT_LT(Difference(network->Forward(observation), before), 1e-5);
  }
  // Which is no wonder if it knew nothing of edges.
  ProgramArrays turned = *graph;
  turned.edge_source.front() = turned.edge_source.back();
  turned.edge_kind.back() = static_cast<int8_t>(EdgeKind::kControl);
  observation.graphs[0] = std::make_shared<ProgramArrays>(turned);
  EXPECT_GT(Difference(network->Forward(observation), before), 1e-5);
}

TEST(GraphNetwork, ABatchIsAsEachAlone) {
  torch::manual_seed(3);
  Rng rng(3);
  const torch::NoGradGuard no_grad;
  const auto network = Make("tanh", true);
  const auto twice = Graph(30, 2, rng);
  const Graphs graphs = {Graph(70, 2, rng), twice, Graph(1, 0, rng), twice, Graph(20, 0, rng),
                         Graph(300, 3, rng)};
  const Observation observation = Observe(graphs);
  const torch::Tensor together = network->Forward(observation);
  ASSERT_EQ(together.sizes(), (std::vector<int64_t>{6, kOutputs}));
  for (int64_t i = 0; i < together.size(0); ++i) {
    const Observation alone = {observation.features.slice(0, i, i + 1),
                               observation.value_features.slice(0, i, i + 1),
                               observation.mask.slice(0, i, i + 1),
                               {graphs[i]}};
    EXPECT_LT(Difference(network->Forward(alone)[0], together[i]), 1e-5);
  }
  EXPECT_GT(Difference(together[1], together[3]), 1e-3);  // their features differ
}

TEST(GraphNetwork, EveryParameterHasAGradient) {
  torch::manual_seed(4);
  Rng rng(4);
  for (const bool edges : {true, false}) {
    const auto network = Make("tanh");
    const double edges_per_node = edges ? 3 : 0;
    const Observation observation =
        Observe({Graph(800, edges_per_node, rng), Graph(1, 0, rng), Graph(100, 0, rng)});
    network->Forward(observation).square().sum().backward();
    for (const auto& parameter : network->named_parameters()) {
      const torch::Tensor gradient = parameter.value().grad();
      ASSERT_TRUE(gradient.defined()) << parameter.key();
      EXPECT_TRUE(gradient.isfinite().all().item<bool>()) << parameter.key();
      const bool of_edges = parameter.key().ends_with(".in") || parameter.key().ends_with(".out");
      EXPECT_EQ(gradient.abs().max().item<float>() > 0, edges || !of_edges) << parameter.key();
    }
  }
}

// The matrices of calls and control edges must learn as well: by finite differences, along the
// gradient of one parameter after another.
TEST(GraphNetwork, GradientsAreDerivatives) {
  torch::manual_seed(5);
  Rng rng(5);
  const auto network = Make("tanh");
  const Observation observation = Observe({Graph(60, 3, rng), Graph(25, 2, rng)});
  const torch::Tensor weight = torch::randn({2, kOutputs});
  const auto loss = [&] { return (network->Forward(observation) * weight).sum(); };
  loss().backward();
  const torch::NoGradGuard no_grad;
  for (auto& parameter : network->named_parameters()) {
    torch::Tensor& value = parameter.value();
    const torch::Tensor direction = value.grad() / value.grad().norm();
    const double step = 1e-2;
    value.add_(direction, step);
    const double above = loss().item<double>();
    value.sub_(direction, 2 * step);
    const double below = loss().item<double>();
    value.add_(direction, step);
    const double expected = value.grad().norm().item<double>();
    EXPECT_NEAR((above - below) / (2 * step), expected, 0.05 * expected + 2e-3) << parameter.key();
  }
}

TEST(GraphNetwork, LearnsWhatOnlyEdgesTell) {
  torch::manual_seed(6);
  Rng rng(6);
  // Each graph twice: as it is, and with every edge a call.
  Graphs graphs;
  std::vector<float> targets;
  for (int i = 0; i < 8; ++i) {
    ProgramArrays graph = RandomGraph(20, 2, rng);
    graphs.push_back(std::make_shared<ProgramArrays>(graph));
    targets.push_back(1);
    std::fill(graph.edge_kind.begin(), graph.edge_kind.end(), static_cast<int8_t>(EdgeKind::kCall));
    graphs.push_back(std::make_shared<ProgramArrays>(graph));
    targets.push_back(-1);
  }
  Observation observation = Observe(graphs);
  observation.features.zero_();
  const torch::Tensor target = torch::tensor(targets);
  const auto network = Make("tanh");
  torch::optim::Adam optimizer(network->parameters(), torch::optim::AdamOptions(1e-2));
  double loss_value = 0;
  for (int step = 0; step < 100; ++step) {
    optimizer.zero_grad();
    const torch::Tensor loss = torch::mse_loss(network->Forward(observation).select(1, 0), target);
    loss.backward();
    optimizer.step();
    loss_value = loss.item<double>();
  }
  EXPECT_LT(loss_value, 0.05);
}

// Figures to read: --gtest_also_run_disabled_tests.
TEST(GraphNetwork, DISABLED_Speed) {
  torch::set_num_threads(1);
  NetworkOptions options;
  options.activation = "relu";
  const auto network =
      MakeGraphNetwork(options, {1, kFeatures, kValueFeatures, kOutputs, true}, kOutputs, 1.0);
  Rng rng(7);
  Graphs batch;
  for (int i = 0; i < 64; ++i) batch.push_back(Graph(300, 2, rng));
  for (const Graphs& graphs : {Graphs{Graph(3000, 2, rng)}, Graphs{Graph(10000, 2, rng)}, batch}) {
    const Observation observation = Observe(graphs);
    const auto since = [begin = std::chrono::steady_clock::now()]() mutable {
      const auto end = std::chrono::steady_clock::now();
      const double time = std::chrono::duration<double, std::milli>(end - begin).count();
      begin = end;
      return time;
    };
    for (int i = 0; i < 3; ++i) {
      auto timer = since;
      timer();
      const torch::Tensor loss = network->Forward(observation).sum();
      const double forward = timer();
      loss.backward();
      std::printf("%zu graphs, %zu nodes in the first: forward %.1f ms, backward %.1f ms\n",
                  graphs.size(), graphs[0]->opcode.size(), forward, timer());
    }
  }
}

}  // namespace
}  // namespace hone::learn
