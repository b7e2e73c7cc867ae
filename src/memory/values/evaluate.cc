#include "memory/values/evaluate.h"

#include <set>

#include "memory/access.h"

namespace hone::memory {
namespace {

Box BoxOfResult(const Network& network, TensorId tensor) {
  return WholeBox(network.tensors[static_cast<size_t>(tensor)].dimensions);
}

// Linear algebra is computed for whole matrices; a tile of its results is cut out afterwards.
}  // namespace

StatusOr<std::vector<Array>> EvaluateOp(const Network& network, const Op& op,
                                        const std::vector<Array>& operands,
                                        const std::vector<Box>& out) {
  const std::string& opcode = op.opcode;
  const auto one = [](StatusOr<Array> array) -> StatusOr<std::vector<Array>> {
    if (!array) return tl::unexpected(array.error());
    return std::vector<Array>{*std::move(array)};
  };
  const ElementType type = network.tensors[static_cast<size_t>(op.results[0])].type;
  if (KindOf(type) == ValueKind::kNone) return NoArithmetic(op, "its type");
  if (IsElementwise(opcode)) return one(EvaluateElementwise(op, operands, type, out[0]));
  if (opcode == "dot") return one(EvaluateDot(op, operands[0], operands[1], type, out[0]));
  if (opcode == "convolution") {
    return one(EvaluateConvolution(
        op, operands[0], network.exprs[static_cast<size_t>(op.inputs[0])].dimensions, operands[1],
        network.exprs[static_cast<size_t>(op.inputs[1])].dimensions, type, out[0]));
  }
  static const std::set<std::string> windowed = {"reduce", "reduce-window", "select-and-scatter"};
  static const std::set<std::string> irregular = {
      "gather", "scatter", "sort", "while", "conditional", "dynamic-slice", "dynamic-update-slice"};
  static const std::set<std::string> algebra = {"fft",
                                                "cholesky",
                                                "triangular-solve",
                                                "batch-norm-training",
                                                "batch-norm-inference",
                                                "batch-norm-grad"};
  if (windowed.contains(opcode)) return EvaluateWindowed(network, op, operands, out);
  if (irregular.contains(opcode)) return EvaluateIrregular(network, op, operands, out);
  if (!algebra.contains(opcode)) return NoArithmetic(op);
  auto results = EvaluateLinearAlgebra(network, op, operands, out);
  if (!results) return results;
  for (size_t r = 0; r < results->size(); ++r) (*results)[r] = Cut((*results)[r], out[r]);
  return results;
}

StatusOr<std::vector<Array>> EvaluateNetwork(const Network& network, const ReadTensor& leaves,
                                             const ChangeResult& change) {
  std::vector<Array> computed(network.tensors.size());
  const ReadTensor read = [&](TensorId tensor, const Box& box) {
    if (network.tensors[static_cast<size_t>(tensor)].producer == kNone) return leaves(tensor, box);
    return Cut(computed[static_cast<size_t>(tensor)], box);
  };
  for (const Op& op : network.ops) {
    std::vector<Array> operands;
    for (ExprId input : op.inputs) {
      const Box box = WholeBox(network.exprs[static_cast<size_t>(input)].dimensions);
      operands.push_back(Materialise(network, input, box, read));
    }
    std::vector<Box> out;
    for (TensorId result : op.results) out.push_back(BoxOfResult(network, result));
    auto results = EvaluateOp(network, op, operands, out);
    if (!results) return results;
    for (size_t r = 0; r < op.results.size(); ++r) {
      if (change) change(op, (*results)[r]);
      computed[static_cast<size_t>(op.results[r])] = std::move((*results)[r]);
    }
  }
  std::vector<Array> outputs;
  for (ExprId output : network.outputs) {
    const Box box = WholeBox(network.exprs[static_cast<size_t>(output)].dimensions);
    outputs.push_back(Materialise(network, output, box, read));
  }
  return outputs;
}

}  // namespace hone::memory
