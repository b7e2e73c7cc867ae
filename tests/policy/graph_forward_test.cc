// The header's formulas, written out in loops of doubles, give the same numbers.
#include "policy/graph_forward.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "core/rng.h"
#include "random_tensor.h"
#include "support/random_graph.h"

namespace hone::policy {
namespace {

using hone::testing::RandomGraph;
using Tensors = std::map<std::string, Tensor>;
using Row = std::vector<double>;
using Rows = std::vector<Row>;

Tensors RandomTensors(int64_t width, int rounds, int64_t features, int64_t outputs, Rng& rng) {
  const double scale = 1 / std::sqrt(static_cast<double>(width));
  Tensors tensors;
  const auto add = [&](const std::string& name, const std::vector<int64_t>& shape, double of) {
    tensors["policy." + name] = Random(shape, rng, of);
  };
  add("graph.embed_opcode", {kOpcodeRows, width}, 1);
  add("graph.embed_type", {kTypeRows, width}, 1);
  add("graph.numbers.weight", {width, kNodeNumbers}, 1);
  add("graph.numbers.bias", {width}, 1);
  add("graph.norm.weight", {width}, 1);
  add("graph.norm.bias", {width}, 1);
  for (int i = 0; i < rounds; ++i) {
    const std::string round = "graph." + std::to_string(i);
    add(round + ".self.weight", {width, width}, scale);
    add(round + ".in.weight", {kEdgeKinds, width, width}, scale);
    add(round + ".out.weight", {width, width}, scale);
    add(round + ".bias", {width}, 1);
    add(round + ".norm.weight", {width}, 1);
    add(round + ".norm.bias", {width}, 1);
  }
  add("head.0.weight", {17, 2 * width + features}, scale);
  add("head.0.bias", {17}, 1);
  add("head.1.weight", {outputs, 17}, 1);
  add("head.1.bias", {outputs}, 1);
  return tensors;
}

// y += x W^T, the matrix beginning at `offset`.
void AddProduct(const Tensor& weight, const Row& x, Row& y, size_t offset = 0) {
  for (size_t o = 0; o < y.size(); ++o) {
    for (size_t i = 0; i < x.size(); ++i) y[o] += weight.values[offset + o * x.size() + i] * x[i];
  }
}

Row Normal(const Row& row, const Tensor& weight, const Tensor& bias) {
  double mean = 0;
  double variance = 0;
  for (const double x : row) mean += x / row.size();
  for (const double x : row) variance += (x - mean) * (x - mean) / row.size();
  Row normal;
  for (size_t i = 0; i < row.size(); ++i) {
    normal.push_back((row[i] - mean) / std::sqrt(variance + kNormEpsilon) * weight.values[i] +
                     bias.values[i]);
  }
  return normal;
}

// Row i is the mean of h over those j for which `joins(i, edge from, edge to, kind)` names j.
template <class NeighbourOf>
Rows Means(const ProgramArrays& arrays, const Rows& h, const NeighbourOf& neighbour_of) {
  Rows means(h.size(), Row(h.empty() ? 0 : h[0].size()));
  for (size_t i = 0; i < h.size(); ++i) {
    int count = 0;
    for (size_t to = 0; to < h.size(); ++to) {
      for (int32_t e = arrays.edge_start[to]; e < arrays.edge_start[to + 1]; ++e) {
        const int32_t from = arrays.edge_source[e];
        const int32_t j = neighbour_of(i, from, static_cast<int32_t>(to), arrays.edge_kind[e]);
        if (j < 0) continue;
        ++count;
        for (size_t d = 0; d < h[i].size(); ++d) means[i][d] += h[j][d];
      }
    }
    for (double& x : means[i]) x /= std::max(count, 1);
  }
  return means;
}

Row Expected(const Tensors& tensors, int rounds, const std::string& activation,
             const ProgramArrays& arrays, const std::vector<float>& features) {
  const auto of = [&](const std::string& name) -> const Tensor& {
    return tensors.at("policy." + name);
  };
  const auto active = [&](double x) {
    return activation == "tanh" ? std::tanh(x) : std::max(x, 0.0);
  };
  const auto width = static_cast<size_t>(of("graph.embed_opcode").shape[1]);
  Rows h;
  for (size_t i = 0; i < arrays.opcode.size(); ++i) {
    Row numbers;
    for (size_t d = 0; d < 6; ++d) numbers.push_back(std::log1p(arrays.dimensions[i * 6 + d]) / 10);
    numbers.push_back(arrays.rank[i] / 10.0);
    numbers.push_back(std::log1p(static_cast<double>(arrays.flops[i])) / 10);
    numbers.push_back(std::log1p(static_cast<double>(arrays.bytes[i])) / 10);
    Row row(width);
    for (size_t d = 0; d < width; ++d) {
      row[d] = of("graph.embed_opcode").values[std::min(arrays.opcode[i], 191) * width + d] +
               of("graph.embed_type").values[std::min(arrays.type[i], 63) * width + d] +
               of("graph.numbers.bias").values[d];
    }
    AddProduct(of("graph.numbers.weight"), numbers, row);
    h.push_back(Normal(row, of("graph.norm.weight"), of("graph.norm.bias")));
  }
  for (int r = 0; r < rounds; ++r) {
    const std::string round = "graph." + std::to_string(r);
    std::vector<Rows> in;
    for (int8_t wanted = 0; wanted < kEdgeKinds; ++wanted) {
      in.push_back(Means(arrays, h, [&](size_t i, int32_t from, int32_t to, int8_t kind) {
        return kind == wanted && to == static_cast<int32_t>(i) ? from : -1;
      }));
    }
    const Rows out = Means(arrays, h, [&](size_t i, int32_t from, int32_t to, int8_t) {
      return from == static_cast<int32_t>(i) ? to : -1;
    });
    for (size_t i = 0; i < h.size(); ++i) {
      Row change(of(round + ".bias").values.begin(), of(round + ".bias").values.end());
      AddProduct(of(round + ".self.weight"), h[i], change);
      AddProduct(of(round + ".out.weight"), out[i], change);
      for (size_t kind = 0; kind < in.size(); ++kind) {
        AddProduct(of(round + ".in.weight"), in[kind][i], change, kind * width * width);
      }
      for (size_t d = 0; d < width; ++d) change[d] = h[i][d] + active(change[d]);
      h[i] = Normal(change, of(round + ".norm.weight"), of(round + ".norm.bias"));
    }
  }
  Row x(2 * width);
  for (size_t d = 0; d < width && !h.empty(); ++d) {
    x[width + d] = -std::numeric_limits<double>::infinity();
    for (const Row& row : h) {
      x[d] += row[d] / h.size();
      x[width + d] = std::max(x[width + d], row[d]);
    }
  }
  x.insert(x.end(), features.begin(), features.end());
  for (int layer = 0; layer < 2; ++layer) {
    const Tensor bias = of("head." + std::to_string(layer) + ".bias");
    Row y(bias.values.begin(), bias.values.end());
    AddProduct(of("head." + std::to_string(layer) + ".weight"), x, y);
    if (layer == 0) std::transform(y.begin(), y.end(), y.begin(), active);
    x = y;
  }
  return x;
}

std::vector<float> RandomFeatures(int64_t count, Rng& rng) {
  return Random({count}, rng, 1).values;
}

TEST(GraphForward, IsTheFormula) {
  Rng rng(1);
  for (const std::string activation : {"tanh", "relu"}) {
    for (const int32_t nodes : {0, 1, 2, 40, 300}) {
      const int rounds = nodes == 2 ? 1 : 3;
      const Tensors tensors = RandomTensors(12, rounds, 5, 7, rng);
      const auto network = ReadGraphNetwork(tensors, "policy", activation);
      ASSERT_TRUE(network) << network.error().message;
      EXPECT_EQ(network->features, 5);
      EXPECT_EQ(network->outputs(), 7);
      const ProgramArrays arrays = RandomGraph(nodes, 2, rng);
      const std::vector<float> features = RandomFeatures(5, rng);
      const std::vector<float> found = GraphForward(*network, arrays, features);
      const Row expected = Expected(tensors, rounds, activation, arrays, features);
      ASSERT_EQ(found.size(), expected.size());
      for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-4);
      EXPECT_EQ(found, GraphForward(*network, arrays, features));
    }
  }
}

TEST(GraphForward, SaysWhichTensorIsWrong) {
  Rng rng(2);
  const Tensors whole = RandomTensors(8, 2, 3, 4, rng);
  ASSERT_TRUE(ReadGraphNetwork(whole, "policy", "relu"));
  EXPECT_TRUE(HasGraphNetwork(whole, "policy"));
  EXPECT_FALSE(HasGraphNetwork(whole, "value"));
  EXPECT_FALSE(ReadGraphNetwork(whole, "value", "relu"));
  EXPECT_FALSE(ReadGraphNetwork(whole, "policy", "gelu"));
  const auto names = [](const StatusOr<GraphNetwork>& network, const std::string& name) {
    return !network && network.error().code == ErrorCode::kInvalidInput &&
           network.error().message.find("'" + name + "'") != std::string::npos;
  };
  for (const auto& [name, tensor] : whole) {
    Tensors broken = whole;
    broken[name].shape.push_back(1);
    EXPECT_TRUE(names(ReadGraphNetwork(broken, "policy", "relu"), name)) << name;
    broken[name] = tensor;
    broken[name].values.pop_back();
    EXPECT_TRUE(names(ReadGraphNetwork(broken, "policy", "relu"), name)) << name;
    broken.erase(name);
    EXPECT_TRUE(names(ReadGraphNetwork(broken, "policy", "relu"), name)) << name;
  }
  Tensors narrow = whole;
  narrow["policy.head.0.weight"] = Random({17, 15}, rng, 1);
  EXPECT_FALSE(ReadGraphNetwork(narrow, "policy", "relu"));
}

// Not a limit, a figure to read: --gtest_also_run_disabled_tests.
TEST(GraphForward, DISABLED_Speed) {
  for (const int64_t width : {32, 48, 64}) {
    for (const std::string activation : {"tanh", "relu"}) {
      Rng rng(3);
      const auto network =
          ReadGraphNetwork(RandomTensors(width, 3, 150, 60, rng), "policy", activation);
      ASSERT_TRUE(network);
      const ProgramArrays arrays = RandomGraph(3000, 2, rng);
      const std::vector<float> features = RandomFeatures(150, rng);
      std::vector<double> milliseconds;
      for (int i = 0; i < 41; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        GraphForward(*network, arrays, features);
        milliseconds.push_back(
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
                .count());
      }
      std::nth_element(milliseconds.begin(), milliseconds.begin() + 20, milliseconds.end());
      std::printf("width %d, %s, %zu nodes, %zu edges: %.2f ms\n", static_cast<int>(width),
                  activation.c_str(), arrays.opcode.size(), arrays.edge_source.size(),
                  milliseconds[20]);
    }
  }
}

}  // namespace
}  // namespace hone::policy
