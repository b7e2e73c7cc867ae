#include "memory/wide_sums.h"

#include <algorithm>
#include <utility>

namespace hone::memory {
namespace {

size_t U(int32_t id) { return static_cast<size_t>(id); }

bool IsNarrowSum(const Network& network, const Op& op, int64_t huge_bytes) {
  if (op.opcode != "dot" && op.opcode != "convolution") return false;
  const Tensor& result = network.tensors[U(op.results[0])];
  if (KindOf(result.type) != ValueKind::kReal || BitsOf(result.type) >= 32) return false;
  int64_t most = 0;
  for (ExprId input : op.inputs) {
    const Expr& expr = network.exprs[U(input)];
    most = std::max(most, Elements(expr.dimensions) * BytesOf(expr.type));
  }
  const int64_t wide = Elements(result.dimensions) * BytesOf(ElementType::kF32);
  return most >= huge_bytes && most >= 2 * wide;
}

}  // namespace

Network SumWide(Network network, int64_t huge_bytes) {
  std::vector<Op> ops;
  for (Op& op : network.ops) {
    if (!IsNarrowSum(network, op, huge_bytes)) {
      ops.push_back(std::move(op));
      continue;
    }
    const TensorId result = op.results[0];
    Tensor sum = network.tensors[U(result)];
    sum.name += ".sum";
    sum.type = ElementType::kF32;
    sum.element_bytes = BytesOf(sum.type);
    if (sum.part_of == kNone) sum.part_of = result;
    Expr leaf;
    leaf.type = sum.type;
    leaf.dimensions = sum.dimensions;
    leaf.tensor = static_cast<TensorId>(network.tensors.size());
    Op round;
    round.name = op.name;
    round.opcode = "convert";
    round.inputs = {static_cast<ExprId>(network.exprs.size())};
    round.results = {result};
    op.results = {leaf.tensor};
    network.tensors.push_back(std::move(sum));
    network.exprs.push_back(std::move(leaf));
    ops.push_back(std::move(op));
    ops.push_back(std::move(round));
  }
  network.ops = std::move(ops);
  for (size_t o = 0; o < network.ops.size(); ++o) {
    for (TensorId result : network.ops[o].results) {
      network.tensors[U(result)].producer = static_cast<OpId>(o);
    }
  }
  return network;
}

}  // namespace hone::memory
