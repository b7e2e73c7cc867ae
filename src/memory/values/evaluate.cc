#include "memory/values/evaluate.h"

#include <algorithm>
#include <set>

#include "memory/access.h"

namespace hone::memory {
namespace {

Box BoxOfResult(const Network& network, TensorId tensor) {
  return WholeBox(network.tensors[static_cast<size_t>(tensor)].dimensions);
}

// bitcast-convert between types of different sizes: the last dimension of one of both is its
// elements' parts, the least significant first.
StatusOr<Array> RegroupBytes(const Op& op, const Array& operand, ElementType type, const Box& out) {
  Array result = MakeArray(type, out);
  const int64_t from = BytesOf(operand.type), to = BytesOf(type);
  const bool parts = operand.box.low.size() < out.low.size();
  const int64_t ratio = parts ? from / std::max<int64_t>(1, to) : to / std::max<int64_t>(1, from);
  if (ratio < 2 || from == 0 || to == 0) return NoArithmetic(op, "its types");
  char bytes[16] = {};
  ForEach(out, [&](const std::vector<int64_t>& index, int64_t at) {
    std::vector<int64_t> place = index;
    if (parts) {
      place.pop_back();
      EncodeElement(operand, Position(operand.box, place), bytes);
      return DecodeElement(bytes + index.back() * to, result, at);
    }
    place.push_back(0);
    for (int64_t part = 0; part < ratio; ++part) {
      place.back() = part;
      EncodeElement(operand, Position(operand.box, place), bytes + part * from);
    }
    DecodeElement(bytes, result, at);
  });
  return result;
}

// The operators that are not elementwise, by what computes them.
const std::set<std::string>& Windowed() {
  static const std::set<std::string> opcodes = {"reduce", "reduce-window", "select-and-scatter"};
  return opcodes;
}

const std::set<std::string>& Irregular() {
  // clang-format off
  static const std::set<std::string> opcodes = {
      "gather", "scatter", "sort", "topk", "while", "conditional", "dynamic-slice",
      "dynamic-update-slice", "rng-bit-generator"};
  // clang-format on
  return opcodes;
}

const std::set<std::string>& Algebra() {
  // clang-format off
  static const std::set<std::string> opcodes = {
      "fft", "cholesky", "triangular-solve", "batch-norm-training", "batch-norm-inference",
      "batch-norm-grad"};
  // clang-format on
  return opcodes;
}

// An elementwise operator on arrays of no elements: what it says depends on opcode and types alone.
Status CanEvaluateElementwise(const Network& network, const Op& op) {
  const Box none{{0}, {0}};
  std::vector<Array> operands;
  for (ExprId input : op.inputs) {
    operands.push_back(MakeArray(network.exprs[static_cast<size_t>(input)].type, none));
  }
  const ElementType type = network.tensors[static_cast<size_t>(op.results[0])].type;
  const auto result = EvaluateElementwise(op, operands, type, none);
  if (!result) return tl::unexpected(result.error());
  return {};
}

Status CanEvaluate(const Network& network, const Op& op) {
  const auto lacks = [](ElementType type) { return KindOf(type) == ValueKind::kNone; };
  const ElementType type = network.tensors[static_cast<size_t>(op.results[0])].type;
  const bool unknown =
      lacks(type) || std::any_of(op.inputs.begin(), op.inputs.end(), [&](ExprId input) {
        return lacks(network.exprs[static_cast<size_t>(input)].type);
      });
  if (unknown) return NoArithmetic(op, "its type");
  if (IsElementwise(op.opcode)) return CanEvaluateElementwise(network, op);
  const bool known = op.opcode == "dot" || op.opcode == "convolution" || op.opcode == "map" ||
                     op.opcode == "regroup-bytes" || Windowed().contains(op.opcode) ||
                     Irregular().contains(op.opcode) || Algebra().contains(op.opcode);
  if (!known) return NoArithmetic(op);
  const bool real_only = Algebra().contains(op.opcode) && op.opcode != "fft";
  if (real_only && KindOf(type) != ValueKind::kReal) return NoArithmetic(op, "its type");
  if (op.opcode == "scatter" && op.inputs.size() != 3) {
    return NoArithmetic(op, "of several operands");
  }
  // One branch may do where another would not.
  Status bodies;
  for (const auto& body : op.bodies) {
    Status fine = CanEvaluate(*body);
    if (fine && op.opcode == "conditional") return {};
    if (!fine) bodies = std::move(fine);
  }
  return bodies;
}

}  // namespace

Status CanEvaluate(const Network& network) {
  for (const Op& op : network.ops) {
    if (Status fine = CanEvaluate(network, op); !fine) return fine;
  }
  return {};
}

StatusOr<std::vector<Array>> EvaluateOp(const Network& network, const Op& op,
                                        const std::vector<Array>& operands,
                                        const std::vector<Box>& out, const ChangeResult& change) {
  const std::string& opcode = op.opcode;
  const auto one = [](StatusOr<Array> array) -> StatusOr<std::vector<Array>> {
    if (!array) return tl::unexpected(array.error());
    return std::vector<Array>{*std::move(array)};
  };
  const ElementType type = network.tensors[static_cast<size_t>(op.results[0])].type;
  const bool known = std::all_of(operands.begin(), operands.end(), [](const Array& operand) {
    return KindOf(operand.type) != ValueKind::kNone;
  });
  if (KindOf(type) == ValueKind::kNone || !known) return NoArithmetic(op, "its type");
  if (IsElementwise(opcode)) return one(EvaluateElementwise(op, operands, type, out[0]));
  if (opcode == "dot") return one(EvaluateDot(op, operands[0], operands[1], type, out[0]));
  if (opcode == "convolution") {
    return one(EvaluateConvolution(
        op, operands[0], network.exprs[static_cast<size_t>(op.inputs[0])].dimensions, operands[1],
        network.exprs[static_cast<size_t>(op.inputs[1])].dimensions, type, out[0]));
  }
  if (opcode == "regroup-bytes") return one(RegroupBytes(op, operands[0], type, out[0]));
  if (opcode == "map") {
    auto results = EvaluateLanes(*op.bodies[0], operands);
    if (!results) return results;
    for (size_t r = 0; r < results->size(); ++r) (*results)[r] = Cut((*results)[r], out[r]);
    return results;
  }
  if (Windowed().contains(opcode)) return EvaluateWindowed(network, op, operands, out);
  if (Irregular().contains(opcode)) return EvaluateIrregular(network, op, operands, out, change);
  if (!Algebra().contains(opcode)) return NoArithmetic(op);
  // Computed for whole matrices; a tile of the results is cut out afterwards.
  auto results = EvaluateLinearAlgebra(network, op, operands, out);
  if (!results) return results;
  for (size_t r = 0; r < results->size(); ++r) (*results)[r] = Cut((*results)[r], out[r]);
  return results;
}

namespace {

thread_local const EvaluationLimit* limit = nullptr;

}  // namespace

EvaluationLimit::EvaluationLimit(std::function<bool()> over) : over_(std::move(over)) {
  limit = this;
}
EvaluationLimit::~EvaluationLimit() { limit = nullptr; }

Status EvaluationLimit::Check() {
  if (limit == nullptr || !limit->over_()) return {};
  return MakeError(ErrorCode::kDeadline, "the time for it is over");
}

StatusOr<std::vector<Array>> EvaluateNetwork(const Network& network, const ReadTensor& leaves,
                                             const ChangeResult& change) {
  std::vector<Array> computed(network.tensors.size());
  const ReadTensor read = [&](TensorId tensor, const Box& box) {
    if (network.tensors[static_cast<size_t>(tensor)].producer == kNone) return leaves(tensor, box);
    return Cut(computed[static_cast<size_t>(tensor)], box);
  };
  for (const Op& op : network.ops) {
    if (Status going = EvaluationLimit::Check(); !going) return tl::unexpected(going.error());
    std::vector<Array> operands;
    for (ExprId input : op.inputs) {
      const Box box = WholeBox(network.exprs[static_cast<size_t>(input)].dimensions);
      operands.push_back(Materialise(network, input, box, read));
    }
    std::vector<Box> out;
    for (TensorId result : op.results) out.push_back(BoxOfResult(network, result));
    auto results = EvaluateOp(network, op, operands, out, change);
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
