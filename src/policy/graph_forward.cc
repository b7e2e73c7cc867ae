#include "policy/graph_forward.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <utility>

namespace hone::policy {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::Matrix<float, 1, Eigen::Dynamic>;

// Nodes at a time, so that what they gather stays in the cache.
constexpr Eigen::Index kBlock = 256;

Eigen::Map<const Matrix> AsMatrix(const std::vector<float>& values, int64_t rows, int64_t columns) {
  return {values.data(), rows, columns};
}

Eigen::Map<const Vector> AsVector(const std::vector<float>& values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

void Activate(bool tanh, Eigen::Ref<Matrix> h) {
  if (tanh) {
    h = h.array().tanh();
  } else {
    h = h.array().max(0.0f);
  }
}

void Normalise(const GraphNetwork::Norm& norm, Eigen::Ref<Matrix> h) {
  for (Eigen::Index i = 0; i < h.rows(); ++i) {
    auto row = h.row(i);
    row.array() -= row.mean();
    const float variance = row.squaredNorm() / static_cast<float>(h.cols());
    row *= 1.0f / std::sqrt(variance + kNormEpsilon);
    row = row.cwiseProduct(AsVector(norm.weight)) + AsVector(norm.bias);
  }
}

// The edges of one rare kind, by the nodes that have any.
struct RareEdges {
  std::vector<int32_t> target;  // [R] ascending
  std::vector<int32_t> start;   // [R + 1] into `source`
  std::vector<int32_t> source;
};

struct Edges {
  std::vector<int32_t> user_start;  // [N + 1] into `user`
  std::vector<int32_t> user;        // [E] what the edges that leave a node enter
  RareEdges call, control;
};

Edges MakeEdges(const ProgramArrays& arrays) {
  const auto nodes = static_cast<int32_t>(arrays.opcode.size());
  Edges edges;
  edges.user_start.assign(nodes + 1, 0);
  for (const int32_t source : arrays.edge_source) ++edges.user_start[source + 1];
  for (int32_t i = 0; i < nodes; ++i) edges.user_start[i + 1] += edges.user_start[i];
  edges.user.resize(arrays.edge_source.size());
  std::vector<int32_t> next(edges.user_start.begin(), edges.user_start.end() - 1);
  for (int32_t i = 0; i < nodes; ++i) {
    for (int32_t e = arrays.edge_start[i]; e < arrays.edge_start[i + 1]; ++e) {
      edges.user[next[arrays.edge_source[e]]++] = i;
      const auto kind = static_cast<EdgeKind>(arrays.edge_kind[e]);
      if (kind == EdgeKind::kOperand) continue;
      RareEdges& rare = kind == EdgeKind::kCall ? edges.call : edges.control;
      if (rare.target.empty() || rare.target.back() != i) {
        rare.target.push_back(i);
        rare.start.push_back(static_cast<int32_t>(rare.source.size()));
      }
      rare.source.push_back(arrays.edge_source[e]);
    }
  }
  for (RareEdges* rare : {&edges.call, &edges.control}) {
    rare->start.push_back(static_cast<int32_t>(rare->source.size()));
  }
  return edges;
}

// Fills `inputs` [rows, 3 W] with h of the nodes from `first` on, its mean over operands and its
// mean over edges that leave.
void Gather(const ProgramArrays& arrays, const Edges& edges, const Matrix& h, Eigen::Index first,
            Eigen::Ref<Matrix> inputs) {
  const Eigen::Index width = h.cols();
  inputs.leftCols(width) = h.middleRows(first, inputs.rows());
  inputs.rightCols(2 * width).setZero();
  for (Eigen::Index row = 0; row < inputs.rows(); ++row) {
    const Eigen::Index i = first + row;
    auto operands = inputs.row(row).segment(width, width);
    int count = 0;
    for (int32_t e = arrays.edge_start[i]; e < arrays.edge_start[i + 1]; ++e) {
      if (static_cast<EdgeKind>(arrays.edge_kind[e]) != EdgeKind::kOperand) continue;
      operands += h.row(arrays.edge_source[e]);
      ++count;
    }
    if (count > 1) operands /= static_cast<float>(count);
    auto users = inputs.row(row).tail(width);
    const int32_t begin = edges.user_start[i];
    const int32_t end = edges.user_start[i + 1];
    for (int32_t e = begin; e < end; ++e) users += h.row(edges.user[e]);
    if (end - begin > 1) users /= static_cast<float>(end - begin);
  }
}

// Adds to the rows of `out` [rows, W], which are the nodes from `first` on, what comes along rare
// edges. Few nodes have such edges: only these are multiplied.
void AddRare(const RareEdges& rare, const std::vector<float>& weight, const Matrix& h,
             Eigen::Index first, Eigen::Ref<Matrix> out) {
  const auto begin = std::lower_bound(rare.target.begin(), rare.target.end(), first);
  const auto end = std::lower_bound(begin, rare.target.end(), first + out.rows());
  if (begin == end) return;
  const auto of_begin = begin - rare.target.begin();
  Matrix means = Matrix::Zero(end - begin, h.cols());
  for (Eigen::Index r = 0; r < means.rows(); ++r) {
    const int32_t from = rare.start[of_begin + r];
    const int32_t to = rare.start[of_begin + r + 1];
    for (int32_t e = from; e < to; ++e) means.row(r) += h.row(rare.source[e]);
    means.row(r) /= static_cast<float>(to - from);
  }
  const Matrix sent = means * AsMatrix(weight, h.cols(), h.cols()).transpose();
  for (Eigen::Index r = 0; r < sent.rows(); ++r) out.row(begin[r] - first) += sent.row(r);
}

Matrix Dense(const GraphNetwork::Layer& layer, const Matrix& x) {
  Matrix y(x.rows(), layer.out);
  y.noalias() = x * AsMatrix(layer.weight, layer.out, layer.in).transpose();
  y.rowwise() += AsVector(layer.bias);
  return y;
}

Matrix Embed(const GraphNetwork& network, const ProgramArrays& arrays) {
  const auto nodes = static_cast<int64_t>(arrays.opcode.size());
  const std::vector<float> numbers = NodeNumbers(arrays);
  Matrix h = Dense(network.numbers, AsMatrix(numbers, nodes, kNodeNumbers));
  const auto opcodes = AsMatrix(network.embed_opcode, kOpcodeRows, network.width);
  const auto types = AsMatrix(network.embed_type, kTypeRows, network.width);
  for (int64_t i = 0; i < nodes; ++i) {
    h.row(i) += opcodes.row(EmbeddingRow(arrays.opcode[i], kOpcodeRows)) +
                types.row(EmbeddingRow(arrays.type[i], kTypeRows));
  }
  Normalise(network.norm, h);
  return h;
}

std::string ShapeText(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + (shape[i] < 0 ? "any" : std::to_string(shape[i]));
  }
  return text + "]";
}

// Takes tensors by name; keeps the first error and gives empty ones from then on.
class Reader {
 public:
  Reader(const std::map<std::string, Tensor>& tensors, const std::string& prefix)
      : tensors_(tensors), prefix_(prefix + ".") {}

  // Whether there is any tensor whose name starts so.
  bool HasBelow(const std::string& start) const {
    const auto first = tensors_.lower_bound(prefix_ + start);
    return first != tensors_.end() && first->first.starts_with(prefix_ + start);
  }

  // -1 in `shape` is any length.
  const Tensor& Take(const std::string& name, const std::vector<int64_t>& shape) {
    static const Tensor kNone;
    if (!status_) return kNone;
    const auto found = tensors_.find(prefix_ + name);
    if (found == tensors_.end())
      return Fail("the policy lacks the tensor '" + prefix_ + name + "'");
    const Tensor& tensor = found->second;
    bool fits = tensor.shape.size() == shape.size();
    size_t size = 1;
    for (size_t i = 0; fits && i < shape.size(); ++i) {
      fits = tensor.shape[i] > 0 && (shape[i] < 0 || tensor.shape[i] == shape[i]);
      size *= static_cast<size_t>(tensor.shape[i]);
    }
    if (!fits || tensor.values.size() != size) {
      return Fail("the policy's tensor '" + prefix_ + name + "' is " + ShapeText(tensor.shape) +
                  ", not " + ShapeText(shape));
    }
    return tensor;
  }

  const Tensor& Fail(std::string message) {
    static const Tensor kNone;
    if (status_) status_ = MakeError(ErrorCode::kInvalidInput, std::move(message));
    return kNone;
  }

  GraphNetwork::Norm Norm(const std::string& name, int64_t width) {
    return {Take(name + ".weight", {width}).values, Take(name + ".bias", {width}).values};
  }

  GraphNetwork::Layer Layer(const std::string& name, int64_t in, int64_t out) {
    const Tensor& weight = Take(name + ".weight", {out, in});
    if (!status_) return {};
    const int64_t rows = weight.shape[0];
    return {weight.shape[1], rows, weight.values, Take(name + ".bias", {rows}).values};
  }

  const Status& status() const { return status_; }

 private:
  const std::map<std::string, Tensor>& tensors_;
  const std::string prefix_;
  Status status_;
};

GraphNetwork::Round ReadRound(Reader& reader, const std::string& name, int64_t width) {
  const Tensor& self = reader.Take(name + ".self.weight", {width, width});
  const Tensor& in = reader.Take(name + ".in.weight", {kEdgeKinds, width, width});
  const Tensor& out = reader.Take(name + ".out.weight", {width, width});
  const Tensor& bias = reader.Take(name + ".bias", {width});
  GraphNetwork::Round round;
  round.norm = reader.Norm(name + ".norm", width);
  if (!reader.status()) return round;
  const int64_t size = width * width;
  const auto matrix_of = [&](EdgeKind kind) {
    return in.values.begin() + size * static_cast<int64_t>(kind);
  };
  round.common = {3 * width, width, {}, bias.values};
  for (int64_t i = 0; i < size; i += width) {
    for (const auto row :
         {self.values.begin() + i, matrix_of(EdgeKind::kOperand) + i, out.values.begin() + i}) {
      round.common.weight.insert(round.common.weight.end(), row, row + width);
    }
  }
  const auto call = matrix_of(EdgeKind::kCall);
  const auto control = matrix_of(EdgeKind::kControl);
  round.call.assign(call, call + size);
  round.control.assign(control, control + size);
  return round;
}

}  // namespace

std::vector<float> NodeNumbers(const ProgramArrays& arrays) {
  const size_t nodes = arrays.opcode.size();
  std::vector<float> numbers;
  numbers.reserve(nodes * kNodeNumbers);
  const auto log = [](float x) { return x > 0 ? 0.1f * std::log1p(x) : 0.0f; };
  for (size_t i = 0; i < nodes; ++i) {
    for (size_t d = i * kArrayDimensions; d < (i + 1) * kArrayDimensions; ++d) {
      numbers.push_back(log(static_cast<float>(arrays.dimensions[d])));
    }
    numbers.push_back(0.1f * static_cast<float>(arrays.rank[i]));
    numbers.push_back(log(arrays.flops[i]));
    numbers.push_back(log(arrays.bytes[i]));
  }
  return numbers;
}

bool HasGraphNetwork(const std::map<std::string, Tensor>& tensors, const std::string& prefix) {
  return tensors.contains(prefix + ".graph.embed_opcode");
}

StatusOr<GraphNetwork> ReadGraphNetwork(const std::map<std::string, Tensor>& tensors,
                                        const std::string& prefix, std::string_view activation) {
  GraphNetwork network;
  network.tanh = activation == "tanh";
  if (!network.tanh && activation != "relu") {
    return MakeError(
        ErrorCode::kInvalidInput,
        "the policy's activation is '" + std::string(activation) + "', neither 'tanh' nor 'relu'");
  }
  Reader reader(tensors, prefix);
  const Tensor& opcodes = reader.Take("graph.embed_opcode", {kOpcodeRows, -1});
  if (!reader.status()) return tl::unexpected(reader.status().error());
  const int64_t width = network.width = opcodes.shape[1];
  network.embed_opcode = opcodes.values;
  network.embed_type = reader.Take("graph.embed_type", {kTypeRows, width}).values;
  network.numbers = reader.Layer("graph.numbers", kNodeNumbers, width);
  network.norm = reader.Norm("graph.norm", width);
  for (int round = 0; reader.HasBelow("graph." + std::to_string(round) + "."); ++round) {
    network.rounds.push_back(ReadRound(reader, "graph." + std::to_string(round), width));
  }
  int64_t in = -1;
  do {
    const std::string name = "head." + std::to_string(network.head.size());
    network.head.push_back(reader.Layer(name, in, -1));
    in = network.head.back().out;
  } while (reader.HasBelow("head." + std::to_string(network.head.size()) + "."));
  network.features = network.head.front().in - 2 * width;
  if (network.features < 0) reader.Fail("the policy's head takes less than the graph gives");
  if (!reader.status()) return tl::unexpected(reader.status().error());
  return network;
}

std::vector<float> GraphForward(const GraphNetwork& network, const ProgramArrays& arrays,
                                std::span<const float> features) {
  HONE_CHECK(static_cast<int64_t>(features.size()) == network.features);
  const int64_t width = network.width;
  const Edges edges = MakeEdges(arrays);
  Matrix h = Embed(network, arrays);
  Matrix next(h.rows(), width);
  Matrix inputs(kBlock, 3 * width);
  for (const GraphNetwork::Round& round : network.rounds) {
    for (Eigen::Index first = 0; first < h.rows(); first += kBlock) {
      const Eigen::Index rows = std::min(kBlock, h.rows() - first);
      auto block = inputs.topRows(rows);
      auto change = next.middleRows(first, rows);
      Gather(arrays, edges, h, first, block);
      change.noalias() = block * AsMatrix(round.common.weight, width, 3 * width).transpose();
      change.rowwise() += AsVector(round.common.bias);
      AddRare(edges.call, round.call, h, first, change);
      AddRare(edges.control, round.control, h, first, change);
      Activate(network.tanh, change);
      change += h.middleRows(first, rows);
      Normalise(round.norm, change);
    }
    h.swap(next);
  }
  Matrix x = Matrix::Zero(1, 2 * width + network.features);
  if (h.rows() > 0) {
    x.leftCols(width) = h.colwise().mean();
    x.middleCols(width, width) = h.colwise().maxCoeff();
  }
  std::copy(features.begin(), features.end(), x.data() + 2 * width);
  for (size_t i = 0; i < network.head.size(); ++i) {
    x = Dense(network.head[i], x);
    if (i + 1 < network.head.size()) Activate(network.tanh, x);
  }
  return {x.data(), x.data() + x.size()};
}

}  // namespace hone::policy
