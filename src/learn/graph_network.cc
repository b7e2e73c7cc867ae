#include "learn/graph_network.h"

#include <cmath>
#include <string>
#include <vector>

#include "core/result.h"
#include "learn/graph_batch.h"
#include "policy/graph_forward.h"

namespace hone::learn {
namespace {

policy::Tensor ToPolicy(const torch::Tensor& tensor) {
  const torch::Tensor flat = tensor.detach().to(torch::kFloat32).contiguous();
  const float* data = flat.data_ptr<float>();
  return {flat.sizes().vec(), {data, data + flat.numel()}};
}

torch::Tensor Orthogonal(int64_t out, int64_t in, double gain) {
  return torch::nn::init::orthogonal_(torch::empty({out, in}), gain);
}

struct Norm : torch::nn::Module {
  explicit Norm(int64_t width) {
    weight = register_parameter("weight", torch::ones({width}));
    bias = register_parameter("bias", torch::zeros({width}));
  }

  torch::Tensor Forward(const torch::Tensor& h) const {
    return torch::layer_norm(h, weight.sizes(), weight, bias, policy::kNormEpsilon);
  }

  torch::Tensor weight, bias;
};

struct Round : torch::nn::Module {
  explicit Round(int64_t width) {
    const double gain = std::sqrt(2.0 / 3);  // self, operands and users are what most nodes have
    self = register_parameter("self", Orthogonal(width, width, gain));
    std::vector<torch::Tensor> by_kind;
    for (int64_t kind = 0; kind < policy::kEdgeKinds; ++kind) {
      by_kind.push_back(Orthogonal(width, width, gain));
    }
    in = register_parameter("in", torch::stack(by_kind));
    out = register_parameter("out", Orthogonal(width, width, gain));
    bias = register_parameter("bias", torch::zeros({width}));
    norm = register_module("norm", std::make_shared<Norm>(width));
  }

  // Before the activation.
  torch::Tensor Change(const GraphBatch& batch, const torch::Tensor& h) const {
    torch::Tensor change =
        torch::linear(h, self, bias) + torch::linear(Multiply(batch.leaving, h), out);
    for (size_t kind = 0; kind < batch.entering.size(); ++kind) {
      const GraphBatch::Entering& entering = batch.entering[kind];
      const torch::Tensor sent =
          torch::linear(Multiply(entering.mean, h), in[static_cast<int64_t>(kind)]);
      change = change + Multiply(entering.place, sent);
    }
    return change;
  }

  torch::Tensor self, in, out, bias;
  std::shared_ptr<Norm> norm;
};

struct Dense : torch::nn::Module {
  Dense(int64_t in, int64_t out, double gain) {
    weight = register_parameter("weight", Orthogonal(out, in, gain));
    bias = register_parameter("bias", torch::zeros({out}));
  }

  torch::Tensor weight, bias;
};

class GraphNetwork : public Network {
 public:
  GraphNetwork(const NetworkOptions& options, const TaskShape& shape, int64_t outputs,
               double last_gain, const GraphSize& size)
      : tanh_(options.activation == "tanh"), value_features_(options.value_features) {
    HONE_CHECK(tanh_ || options.activation == "relu");
    const int64_t width = size.width;
    opcodes_ = register_parameter("embed_opcode", torch::randn({policy::kOpcodeRows, width}));
    types_ = register_parameter("embed_type", torch::randn({policy::kTypeRows, width}));
    numbers_ =
        register_module("numbers", std::make_shared<Dense>(policy::kNodeNumbers, width, 1.0));
    norm_ = register_module("norm", std::make_shared<Norm>(width));
    for (int64_t i = 0; i < size.rounds; ++i) {
      rounds_.push_back(
          register_module("round_" + std::to_string(i), std::make_shared<Round>(width)));
    }
    int64_t in = 2 * width + shape.features + (value_features_ ? shape.value_features : 0);
    for (const int64_t out : options.hidden) {
      AddHead(in, out, std::sqrt(2.0));
      in = out;
    }
    AddHead(in, outputs, last_gain);
  }

  torch::Tensor Forward(const Observation& observation) override {
    HONE_CHECK(static_cast<int64_t>(observation.graphs.size()) == observation.size());
    const GraphBatch batch = MakeGraphBatch(observation.graphs);
    torch::Tensor h = torch::embedding(opcodes_, batch.opcode) +
                      torch::embedding(types_, batch.type) +
                      torch::linear(batch.numbers, numbers_->weight, numbers_->bias);
    h = norm_->Forward(h);
    for (const auto& round : rounds_) {
      h = round->norm->Forward(h + Activate(round->Change(batch, h)));
    }
    const torch::Tensor read =
        torch::cat({Multiply(batch.program_mean, h), SegmentMax(batch.start, h)}, 1);
    std::vector<torch::Tensor> inputs = {read.index_select(0, batch.program), observation.features};
    if (value_features_) inputs.push_back(observation.value_features);
    torch::Tensor x = torch::cat(inputs, 1);
    for (size_t i = 0; i < head_.size(); ++i) {
      x = torch::linear(x, head_[i]->weight, head_[i]->bias);
      if (i + 1 < head_.size()) x = Activate(x);
    }
    return x;
  }

  void Export(const std::string& prefix,
              std::map<std::string, policy::Tensor>& tensors) const override {
    const auto add = [&](const std::string& name, const torch::Tensor& tensor) {
      tensors[prefix + "." + name] = ToPolicy(tensor);
    };
    add("graph.embed_opcode", opcodes_);
    add("graph.embed_type", types_);
    add("graph.numbers.weight", numbers_->weight);
    add("graph.numbers.bias", numbers_->bias);
    add("graph.norm.weight", norm_->weight);
    add("graph.norm.bias", norm_->bias);
    for (size_t i = 0; i < rounds_.size(); ++i) {
      const std::string round = "graph." + std::to_string(i);
      add(round + ".self.weight", rounds_[i]->self);
      add(round + ".in.weight", rounds_[i]->in);
      add(round + ".out.weight", rounds_[i]->out);
      add(round + ".bias", rounds_[i]->bias);
      add(round + ".norm.weight", rounds_[i]->norm->weight);
      add(round + ".norm.bias", rounds_[i]->norm->bias);
    }
    for (size_t i = 0; i < head_.size(); ++i) {
      add("head." + std::to_string(i) + ".weight", head_[i]->weight);
      add("head." + std::to_string(i) + ".bias", head_[i]->bias);
    }
  }

 private:
  void AddHead(int64_t in, int64_t out, double gain) {
    const std::string name = "head_" + std::to_string(head_.size());
    head_.push_back(register_module(name, std::make_shared<Dense>(in, out, gain)));
  }

  torch::Tensor Activate(const torch::Tensor& x) const {
    return tanh_ ? torch::tanh(x) : torch::relu(x);
  }

  const bool tanh_;
  const bool value_features_;
  torch::Tensor opcodes_, types_;
  std::shared_ptr<Dense> numbers_;
  std::shared_ptr<Norm> norm_;
  std::vector<std::shared_ptr<Round>> rounds_;
  std::vector<std::shared_ptr<Dense>> head_;
};

}  // namespace

std::shared_ptr<Network> MakeGraphNetwork(const NetworkOptions& options, const TaskShape& shape,
                                          int64_t outputs, double last_gain,
                                          const GraphSize& size) {
  return std::make_shared<GraphNetwork>(options, shape, outputs, last_gain, size);
}

}  // namespace hone::learn
