#include "memory/baselines.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "memory/access.h"
#include "memory/layout/assign_layouts.h"
#include "memory/planning/groups.h"
#include "memory/planning/work.h"

namespace hone::memory {
namespace {

size_t U(int32_t id) { return static_cast<size_t>(id); }

// Operators and movements of bytes as nodes of one graph.
struct Node {
  OpId op = kNone;  // else a movement:
  ExprId expr = kNone;
  std::vector<size_t> inputs;    // nodes that it reads
  std::vector<TensorId> leaves;  // parameters and constants that it reads
  int64_t input_bytes = 0;       // loaded for it when it runs alone
  int64_t result_bytes = 0;
  int64_t consumers = 0;
  bool output = false;
};

bool MovesBytes(Movement movement) {
  return movement == Movement::kTranspose || movement == Movement::kSlice ||
         movement == Movement::kReverse || movement == Movement::kPad ||
         movement == Movement::kConcatenate || movement == Movement::kUpdate;
}

class Graph {
 public:
  explicit Graph(const Network& network) : network_(network) {
    node_of_expr_.assign(network.exprs.size(), -1);
    node_of_op_.assign(network.ops.size(), -1);
    for (size_t o = 0; o < network.ops.size(); ++o) {
      const Op& op = network.ops[o];
      Node node;
      node.op = static_cast<OpId>(o);
      std::set<std::pair<int64_t, bool>> seen;
      for (size_t k = 0; k < op.inputs.size(); ++k) {
        const bool gathers = k == 0 && ReadsFromDram(network, op);
        Read(node, op.inputs[k], gathers ? ResultBytes(op) : -1);
      }
      node.result_bytes = ResultBytes(op);
      for (TensorId result : op.results) {
        node.output =
            node.output || std::find(network.output_tensors.begin(), network.output_tensors.end(),
                                     result) != network.output_tensors.end();
      }
      node_of_op_[o] = static_cast<int64_t>(nodes.size());
      nodes.push_back(std::move(node));
    }
    for (Node& node : nodes) {
      std::sort(node.inputs.begin(), node.inputs.end());
      node.inputs.erase(std::unique(node.inputs.begin(), node.inputs.end()), node.inputs.end());
      for (size_t input : node.inputs) ++nodes[input].consumers;
    }
  }

  std::vector<Node> nodes;  // producers before consumers

 private:
  int64_t ResultBytes(const Op& op) const {
    int64_t bytes = 0;
    for (TensorId result : op.results) bytes += network_.tensors[U(result)].Bytes();
    return bytes;
  }

  // Adds what an operand is read from: through free movements to a node or a leaf.
  void Read(Node& node, ExprId id, int64_t bytes) {
    const Expr& expr = network_.exprs[U(id)];
    if (expr.movement == Movement::kTensor) {
      const Tensor& tensor = network_.tensors[U(expr.tensor)];
      node.input_bytes += bytes >= 0 ? bytes : tensor.Bytes();
      if (tensor.producer == kNone) {
        node.leaves.push_back(expr.tensor);
      } else {
        node.inputs.push_back(static_cast<size_t>(node_of_op_[U(tensor.producer)]));
      }
      return;
    }
    if (!MovesBytes(expr.movement)) {
      for (ExprId input : expr.inputs) Read(node, input, bytes);
      return;
    }
    if (LeavesOf(network_, id).empty()) return;
    if (node_of_expr_[U(id)] < 0) {
      Node moved;
      moved.expr = id;
      const int64_t element = std::max<int64_t>(1, BytesOf(expr.type));
      moved.result_bytes = Elements(expr.dimensions) * element;
      if (expr.movement == Movement::kSlice) {
        Read(moved, expr.inputs[0], moved.result_bytes);
      } else if (expr.movement == Movement::kUpdate) {
        moved.result_bytes = Elements(network_.exprs[U(expr.inputs[1])].dimensions) * element;
        Read(moved, expr.inputs[0], 0);
        Read(moved, expr.inputs[1], -1);
      } else {
        for (ExprId input : expr.inputs) Read(moved, input, -1);
      }
      node_of_expr_[U(id)] = static_cast<int64_t>(nodes.size());
      nodes.push_back(std::move(moved));
    }
    node.input_bytes +=
        bytes >= 0 ? bytes : Elements(expr.dimensions) * std::max<int64_t>(1, BytesOf(expr.type));
    node.inputs.push_back(static_cast<size_t>(node_of_expr_[U(id)]));
  }

  const Network& network_;
  std::vector<int64_t> node_of_expr_, node_of_op_;
};

enum class Kind { kMovement, kElementwise, kReduction, kProduct, kOther };

Kind KindOf(const Network& network, const Node& node) {
  if (node.expr != kNone) return Kind::kMovement;
  const std::string& opcode = network.ops[U(node.op)].opcode;
  if (IsElementwise(opcode)) return Kind::kElementwise;
  if (opcode == "reduce") return Kind::kReduction;
  return opcode == "dot" || opcode == "convolution" ? Kind::kProduct : Kind::kOther;
}

double ComputeSecondsOf(const Network& network, const Machine& machine, const Node& node) {
  // As many tiles as it takes to pass through the scratchpad.
  const int64_t tiles = 1 + (node.input_bytes + node.result_bytes) / machine.ScratchpadBytes();
  const double begin = static_cast<double>(tiles) * machine.instruction_seconds;
  if (node.op == kNone) {
    return begin + static_cast<double>(node.result_bytes) / 4 / machine.vector_elements_per_second;
  }
  const Op& op = network.ops[U(node.op)];
  return begin + ComputeSeconds(network, machine, op,
                                WholeBox(network.tensors[U(op.results[0])].dimensions));
}

int64_t LeastBytes(const Network& network, const Machine& machine, const Node& node) {
  return node.op == kNone ? 0 : LeastProductBytes(network, machine, network.ops[U(node.op)]);
}

// What a node by itself moves beside what it takes and makes.
int64_t BytesAgain(const Network& network, const Machine& machine, const Node& node) {
  if (node.op == kNone) return 0;
  const MovedAgain again =
      MovedAgainOf(network, machine, network.ops[U(node.op)], node.input_bytes + node.result_bytes);
  return again.loaded + again.stored;
}

}  // namespace

Baseline OperatorBaseline(const Network& network, const Machine& machine) {
  const Graph graph(network);
  Baseline baseline;
  baseline.copies = LocalCopies(network, machine);
  for (const Node& node : graph.nodes) {
    const int64_t bytes = node.input_bytes + node.result_bytes + BytesAgain(network, machine, node);
    baseline.dram_bytes += bytes;
    baseline.copies += node.expr != kNone;
    baseline.seconds += std::max(static_cast<double>(bytes) / machine.dram_bytes_per_second +
                                     machine.transfer_latency_seconds,
                                 ComputeSecondsOf(network, machine, node));
  }
  return baseline;
}

Baseline LocalBaseline(const Network& network, const Machine& machine) {
  const Graph graph(network);
  const size_t count = graph.nodes.size();
  std::vector<size_t> group(count);
  std::iota(group.begin(), group.end(), size_t{0});
  const auto find = [&](size_t node) {
    while (group[node] != node) node = group[node] = group[group[node]];
    return node;
  };
  std::vector<Kind> kinds;
  for (const Node& node : graph.nodes) kinds.push_back(KindOf(network, node));
  std::vector<bool> heavy(count);  // the group has its product or reduction
  for (size_t n = 0; n < count; ++n) {
    heavy[n] = kinds[n] == Kind::kProduct || kinds[n] == Kind::kReduction;
  }
  std::vector<bool> unfused(count, false);  // movements that stay operators
  for (size_t n = 0; n < count; ++n) {
    for (size_t input : graph.nodes[n].inputs) {
      if (graph.nodes[input].consumers != 1 || graph.nodes[input].output) continue;
      const Kind from = kinds[input], to = kinds[n];
      const bool light = from == Kind::kMovement || from == Kind::kElementwise;
      const bool into =
          light && (to == Kind::kMovement || to == Kind::kElementwise || to == Kind::kReduction);
      const bool epilogue =
          (from == Kind::kProduct || from == Kind::kReduction) && to == Kind::kElementwise;
      const size_t a = find(input), b = find(n);
      if ((!into && !epilogue) || a == b || (heavy[a] && heavy[b])) continue;
      group[a] = b;
      heavy[b] = heavy[b] || heavy[a];
    }
  }
  Baseline baseline;
  baseline.copies = LocalCopies(network, machine);
  std::set<std::pair<size_t, int64_t>> loaded;
  std::vector<int64_t> transfer(count, 0), least(count, 0);  // bytes
  std::vector<double> compute(count, 0);
  std::vector<size_t> size(count, 0);
  for (size_t n = 0; n < count; ++n) ++size[find(n)];
  std::vector<bool> leaves_group(count, false);
  for (size_t n = 0; n < count; ++n) {
    const Node& node = graph.nodes[n];
    const size_t g = find(n);
    compute[g] += ComputeSecondsOf(network, machine, node);
    const int64_t of_product = LeastBytes(network, machine, node);
    least[g] += of_product;
    if (of_product == 0) transfer[g] += BytesAgain(network, machine, node);
    if (node.output) leaves_group[n] = true;
    for (size_t input : node.inputs) {
      if (find(input) == g) continue;
      leaves_group[input] = true;
      if (!loaded.insert({g, static_cast<int64_t>(input)}).second) continue;
      transfer[g] += graph.nodes[input].result_bytes;
    }
    for (TensorId leaf : node.leaves) {
      if (!loaded.insert({g, -1 - static_cast<int64_t>(leaf)}).second) continue;
      // A gather or slice reads what it yields.
      transfer[g] += std::min(network.tensors[U(leaf)].Bytes(), node.input_bytes);
    }
    if (node.expr != kNone && size[g] == 1) ++baseline.copies;
  }
  for (size_t n = 0; n < count; ++n) {
    if (leaves_group[n]) transfer[find(n)] += graph.nodes[n].result_bytes;
  }
  for (size_t g = 0; g < count; ++g) {
    if (find(g) != g) continue;
    const int64_t bytes = std::max(transfer[g], least[g]);
    baseline.dram_bytes += bytes;
    baseline.seconds += std::max(static_cast<double>(bytes) / machine.dram_bytes_per_second +
                                     machine.transfer_latency_seconds,
                                 compute[g]);
  }
  return baseline;
}

Pairs StoreLoadPairs(const Network& network) {
  Pairs pairs;
  std::set<TensorId> read;
  for (const Node& node : Graph(network).nodes) {
    if (node.expr != kNone) ++pairs.moved;  // made only where something reads it
  }
  for (const Op& op : network.ops) {
    for (ExprId input : op.inputs) {
      for (TensorId tensor : LeavesOf(network, input)) {
        if (network.tensors[U(tensor)].producer != kNone) read.insert(tensor);
      }
    }
  }
  pairs.tensors.assign(read.begin(), read.end());
  pairs.all = pairs.moved + static_cast<int64_t>(read.size());
  return pairs;
}

namespace {

// Appends what `box` has and `other` has not, in boxes that do not overlap.
void Subtract(Box box, const Box& other, std::vector<Box>& rest) {
  if (IsEmpty(Intersect(box, other))) {
    rest.push_back(std::move(box));
    return;
  }
  for (size_t d = 0; d < box.low.size(); ++d) {
    Box below = box, above = box;
    below.high[d] = std::max(box.low[d], other.low[d]);
    above.low[d] = std::min(box.high[d], other.high[d]);
    if (below.low[d] < below.high[d]) rest.push_back(below);
    if (above.low[d] < above.high[d]) rest.push_back(above);
    box.low[d] = below.high[d];
    box.high[d] = above.low[d];
  }
}

// What is read of a tensor, each element counted once.
class WhatIsRead {
 public:
  void Add(const Box& box) {
    if (parts_.empty()) {
      parts_ = {box};
      hull_ = box;
      elements_ = Elements(box);
      return;
    }
    std::vector<Box> fresh = {box};
    if (parts_.size() > kMostParts) {
      parts_ = {hull_};  // what lies between the parts is counted no more
    }
    for (const Box& part : parts_) {
      std::vector<Box> rest;
      for (Box& piece : fresh) Subtract(std::move(piece), part, rest);
      fresh = std::move(rest);
      if (fresh.empty()) return;
    }
    for (const Box& piece : fresh) elements_ += Elements(piece);
    parts_.insert(parts_.end(), fresh.begin(), fresh.end());
    hull_ = Hull(hull_, box);
    if (elements_ == Elements(hull_)) parts_ = {hull_};
  }
  int64_t elements() const { return elements_; }

 private:
  static constexpr size_t kMostParts = 256;
  std::vector<Box> parts_;  // that do not overlap
  Box hull_;
  int64_t elements_ = 0;
};

}  // namespace

Bound LowerBound(const Network& network, const Machine& machine) {
  Bound bound;
  std::vector<WhatIsRead> read(network.tensors.size());
  std::vector<int64_t> gathered(network.tensors.size(), 0);
  for (const Op& op : network.ops) {
    const Box out = WholeBox(network.tensors[U(op.results[0])].dimensions);
    if (ReadsFromDram(network, op)) {
      const TensorId table = network.exprs[U(op.inputs[0])].tensor;
      gathered[U(table)] += Elements(out);
    }
    ForEachRead(network, op, out, [&](TensorId tensor, const Box& box) {
      if (network.tensors[U(tensor)].producer != kNone || IsEmpty(box)) return;
      read[U(tensor)].Add(box);
    });
  }
  for (size_t t = 0; t < network.tensors.size(); ++t) {
    const Tensor& tensor = network.tensors[t];
    bound.compulsory_bytes +=
        std::min(gathered[t] + read[t].elements(), Elements(tensor.dimensions)) *
        tensor.element_bytes;
  }
  for (TensorId output : network.output_tensors) {
    bound.compulsory_bytes += network.tensors[U(output)].Bytes();
  }
  for (const Op& op : network.ops) bound.products_bytes += LeastProductBytes(network, machine, op);
  return bound;
}

}  // namespace hone::memory
