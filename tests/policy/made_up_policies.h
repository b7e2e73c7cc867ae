// Policies with random weights, and what is expected of them.
#ifndef HONE_TESTS_POLICY_MADE_UP_POLICIES_H_
#define HONE_TESTS_POLICY_MADE_UP_POLICIES_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "core/rng.h"
#include "policy/policy.h"
#include "random_tensor.h"

namespace hone::policy {

using Names = std::vector<std::string>;
using Row = std::vector<double>;

// What each program below had when it was loaded.
inline constexpr int64_t kInitialOps = 40;

inline const Names kOpcodes = {"add", "dot", "copy"};
inline const Names kActions = {"dce", "cse", "algsimp", "fusion"};

inline std::vector<PassInfo> Passes(const Names& names) {
  std::vector<PassInfo> passes;
  for (const std::string& name : names) passes.push_back({name, "", "", {}, "", false});
  return passes;
}

inline std::string Joined(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

inline void AddDense(PolicyFile& file, const std::string& prefix, const std::vector<int64_t>& sizes,
                     Rng& rng) {
  for (size_t i = 0; i + 1 < sizes.size(); ++i) {
    const std::string layer = prefix + "." + std::to_string(i);
    file.tensors[layer + ".weight"] = Random({sizes[i + 1], sizes[i]}, rng);
    file.tensors[layer + ".bias"] = Random({sizes[i + 1]}, rng);
  }
}

inline PolicyFile Card(const std::string& features, const std::string& activation,
                       const Names& opcodes = kOpcodes, const Names& actions = kActions) {
  PolicyFile file;
  file.metadata = {{kMetadataFormat, kPolicyFormat},
                   {kMetadataFeatures, features},
                   {kMetadataOpcodes, Joined(opcodes)},
                   {kMetadataActions, Joined(actions)},
                   {kMetadataActivation, activation},
                   {kMetadataHead, "logits"},
                   {"algorithm", "by hand"}};
  return file;
}

// Of counts, with a hidden layer.
inline PolicyFile Mlp(const std::string& activation, Rng& rng) {
  PolicyFile file = Card("counts", activation);
  AddDense(file, "policy", {3, 5, 4}, rng);
  return file;
}

inline StatusOr<std::shared_ptr<const Policy>> Read(const PolicyFile& file) {
  return Policy::Read(WritePolicyFile(file));
}

inline std::shared_ptr<const Prior> PriorOf(const PolicyFile& file, const Names& passes,
                                            const std::vector<PassId>& actions,
                                            const Names& opcodes = kOpcodes) {
  const auto policy = Read(file);
  EXPECT_TRUE(policy) << policy.error().message;
  const auto prior = (*policy)->MakePrior(Passes(passes), opcodes, actions, kInitialOps);
  EXPECT_TRUE(prior) << prior.error().message;
  return *prior;
}

inline std::string ErrorOf(const PolicyFile& file) {
  const auto policy = Read(file);
  if (policy) return "";
  EXPECT_EQ(policy.error().code, ErrorCode::kInvalidInput);
  return policy.error().message;
}

inline bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The stack of dense layers on the counts, in loops of doubles.
inline Row Outputs(const PolicyFile& file, const std::string& prefix, const OpcodeCounts& counts) {
  Row x(kOpcodes.size());
  for (const OpcodeCount& of : counts) x[of.opcode] = of.count / static_cast<double>(kInitialOps);
  for (int layer = 0;; ++layer) {
    const std::string name = prefix + "." + std::to_string(layer);
    if (!file.tensors.contains(name + ".weight")) return x;
    if (layer > 0) {
      for (double& value : x) {
        value = file.metadata.at(kMetadataActivation) == "relu" ? std::max(0.0, value)
                                                                : std::tanh(value);
      }
    }
    const std::vector<float>& weight = file.tensors.at(name + ".weight").values;
    Row y;
    for (const float bias : file.tensors.at(name + ".bias").values) {
      double sum = bias;
      for (size_t i = 0; i < x.size(); ++i) sum += weight[y.size() * x.size() + i] * x[i];
      y.push_back(sum);
    }
    x = y;
  }
}

inline Row Softmax(const Row& logits, double temperature = 1) {
  Row shares;
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit / temperature);
  for (const double logit : logits) shares.push_back(std::exp(logit / temperature) / sum);
  return shares;
}

inline void ExpectNear(const Row& found, const Row& expected, double tolerance = 1e-5) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance) << i;
  EXPECT_NEAR(std::accumulate(found.begin(), found.end(), 0.0), 1, 1e-9);
}

inline double Spread(const Row& row) {
  const auto [least, most] = std::minmax_element(row.begin(), row.end());
  return *most - *least;
}

inline const OpcodeCounts kCounts = {{0, 30}, {1, 4}, {2, 55}};

}  // namespace hone::policy

#endif  // HONE_TESTS_POLICY_MADE_UP_POLICIES_H_
