#include "policy/policy.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "policy/dense.h"
#include "policy/features.h"
#include "policy/graph_forward.h"

namespace hone::policy {
namespace {

constexpr double kUnknownShare = 0.01;  // of the actions that the policy does not know, together

std::vector<std::string> SplitNames(const std::string& text) {
  std::vector<std::string> names;
  std::stringstream list(text);
  for (std::string name; std::getline(list, name, ',');) names.push_back(name);
  return names;
}

Error Bad(std::string what) { return {ErrorCode::kInvalidInput, std::move(what)}; }

// Of whichever kind the file has under a prefix.
struct AnyNetwork {
  DenseStack dense;
  std::optional<GraphNetwork> graph;

  bool empty() const { return dense.empty() && !graph; }
  int64_t inputs() const { return graph ? graph->features : dense.inputs(); }
  int64_t outputs() const { return graph ? graph->outputs() : dense.outputs(); }

  std::vector<float> Forward(const Observed& state, const std::vector<float>& features) const {
    // Without a graph there is no opinion.
    if (graph && state.arrays == nullptr) return std::vector<float>(static_cast<size_t>(outputs()));
    if (graph) return GraphForward(*graph, *state.arrays, features);
    const Eigen::VectorXf row = Eigen::Map<const Eigen::VectorXf>(
        features.data(), static_cast<Eigen::Index>(features.size()));
    const Eigen::VectorXf result = dense.Forward(row);
    return {result.data(), result.data() + result.size()};
  }
};

StatusOr<AnyNetwork> ReadNetwork(const PolicyFile& file, const std::string& prefix) {
  const auto found = file.metadata.find(kMetadataActivation);
  const std::string activation = found == file.metadata.end() ? "" : found->second;
  AnyNetwork network;
  if (HasGraphNetwork(file.tensors, prefix)) {
    StatusOr<GraphNetwork> graph = ReadGraphNetwork(file.tensors, prefix, activation);
    if (!graph) return tl::unexpected(graph.error());
    network.graph = *std::move(graph);
    return network;
  }
  StatusOr<DenseStack> dense = DenseStack::Make(file.tensors, prefix, activation);
  if (!dense) return tl::unexpected(dense.error());
  network.dense = *std::move(dense);
  return network;
}

// The embeddings' rows in the order of the opcodes at hand; those that the network was not trained
// with get its row for what it does not know.
void Reorder(GraphNetwork& network, const std::vector<std::string>& trained,
             const std::vector<std::string>& opcodes) {
  const auto width = static_cast<size_t>(network.width);
  const std::vector<float> rows = network.embed_opcode;
  const auto row = [&](size_t i) { return rows.begin() + static_cast<std::ptrdiff_t>(i * width); };
  for (size_t i = 0; i < static_cast<size_t>(kOpcodeRows) - 1; ++i) {
    size_t from = kOpcodeRows - 1;
    if (i < opcodes.size()) {
      const auto place = std::find(trained.begin(), trained.end(), opcodes[i]) - trained.begin();
      if (place < std::min(std::ssize(trained), kOpcodeRows)) from = static_cast<size_t>(place);
    }
    std::copy_n(row(from), width,
                network.embed_opcode.begin() + static_cast<std::ptrdiff_t>(i * width));
  }
}

}  // namespace

class NetworkPrior final : public Prior {
 public:
  NetworkPrior(Features features, AnyNetwork policy, AnyNetwork value, double temperature,
               std::vector<int> outputs, int64_t initial_op_count)
      : features_(std::move(features)),
        policy_(std::move(policy)),
        value_(std::move(value)),
        temperature_(temperature),
        outputs_(std::move(outputs)),
        initial_op_count_(initial_op_count) {}

  Opinion Of(const Observed& state) const override {
    std::vector<float> row(static_cast<size_t>(features_.size()));
    features_.Write(state.opcodes, initial_op_count_, state.passes, row);
    Opinion opinion;
    opinion.probabilities = Softmax(policy_.Forward(state, row));
    if (!value_.empty()) opinion.gain = value_.Forward(state, row)[0];
    return opinion;
  }

  bool NeedsArrays() const override { return policy_.graph || value_.graph; }

 private:
  // Over the problem's actions; those that are not the network's share what is set apart.
  std::vector<double> Softmax(const std::vector<float>& logits) const {
    double top = -INFINITY;
    for (int output : outputs_) {
      if (output >= 0) top = std::max<double>(top, logits[static_cast<size_t>(output)]);
    }
    std::vector<double> probabilities(outputs_.size());
    double sum = 0;
    size_t unknown = 0;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (outputs_[i] < 0) {
        ++unknown;
        continue;
      }
      sum += probabilities[i] =
          std::exp((logits[static_cast<size_t>(outputs_[i])] - top) / temperature_);
    }
    const double known = unknown == 0 ? 1 : 1 - kUnknownShare;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      probabilities[i] = outputs_[i] < 0 ? kUnknownShare / static_cast<double>(unknown)
                                         : known * probabilities[i] / sum;
    }
    return probabilities;
  }

  const Features features_;
  const AnyNetwork policy_;
  const AnyNetwork value_;
  const double temperature_;
  const std::vector<int> outputs_;  // of each of the problem's actions; -1 where there is none
  const int64_t initial_op_count_;
};

StatusOr<std::shared_ptr<const Policy>> Policy::Read(std::string_view bytes) {
  StatusOr<PolicyFile> file = ReadPolicyFile(bytes);
  if (!file) return tl::unexpected(file.error());
  auto policy = std::make_shared<Policy>();
  policy->file_ = *std::move(file);
  auto& metadata = policy->file_.metadata;
  if (metadata[kMetadataFormat] != kPolicyFormat) {
    return tl::unexpected(Bad("its format is '" + metadata[kMetadataFormat] + "', not " +
                              kPolicyFormat + ": it was not made by this hone; train it again"));
  }
  for (const auto& [name, tensor] : policy->file_.tensors) {
    if (!std::all_of(tensor.values.begin(), tensor.values.end(),
                     [](float value) { return std::isfinite(value); })) {
      return tl::unexpected(Bad("its tensor '" + name + "' holds values that are no numbers"));
    }
  }
  policy->actions_ = SplitNames(metadata[kMetadataActions]);
  policy->opcodes_ = SplitNames(metadata[kMetadataOpcodes]);
  // What is wrong with the networks is found by making one.
  StatusOr<Features> features =
      Features::Make(metadata[kMetadataFeatures], policy->opcodes_, policy->actions_, {}, {});
  if (!features) return tl::unexpected(features.error());
  const StatusOr<AnyNetwork> network = ReadNetwork(policy->file_, "policy");
  if (!network) return tl::unexpected(network.error());
  if (network->inputs() != features->size() ||
      network->outputs() != static_cast<int64_t>(policy->actions_.size())) {
    return tl::unexpected(Bad("its network does not fit its features and actions"));
  }
  const StatusOr<AnyNetwork> value = ReadNetwork(policy->file_, "value");
  if (!value) return tl::unexpected(value.error());
  if (!value->empty() && (value->inputs() != features->size() || value->outputs() != 1)) {
    return tl::unexpected(Bad("its value network does not fit its features"));
  }
  return policy;
}

StatusOr<std::shared_ptr<const Prior>> Policy::MakePrior(const std::vector<PassInfo>& passes,
                                                         const std::vector<std::string>& opcodes,
                                                         const std::vector<PassId>& actions,
                                                         int64_t initial_op_count) const {
  const auto of = [this](const char* key) {
    const auto found = file_.metadata.find(key);
    return found == file_.metadata.end() ? std::string() : found->second;
  };
  std::unordered_map<std::string, int> output;
  for (size_t i = 0; i < actions_.size(); ++i) output[actions_[i]] = static_cast<int>(i);
  std::vector<int> outputs;
  for (PassId action : actions) {
    const auto found = output.find(passes[action].name);
    outputs.push_back(found == output.end() ? -1 : found->second);
  }
  if (std::all_of(outputs.begin(), outputs.end(), [](int place) { return place < 0; })) {
    return tl::unexpected(Bad("the policy knows none of the passes to choose from"));
  }
  double temperature = 1;
  if (of(kMetadataHead) == "q") {
    temperature = std::strtod(of(kMetadataTemperature).c_str(), nullptr);
    if (!(temperature > 0)) temperature = 1;
  }
  StatusOr<Features> features =
      Features::Make(of(kMetadataFeatures), opcodes_, actions_, opcodes, passes);
  if (!features) return tl::unexpected(features.error());
  AnyNetwork policy = *ReadNetwork(file_, "policy");
  AnyNetwork value = *ReadNetwork(file_, "value");
  for (AnyNetwork* network : {&policy, &value}) {
    if (network->graph) Reorder(*network->graph, opcodes_, opcodes);
  }
  return std::make_shared<NetworkPrior>(*std::move(features), std::move(policy), std::move(value),
                                        temperature, std::move(outputs), initial_op_count);
}

}  // namespace hone::policy
