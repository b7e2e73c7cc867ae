#include "memory/network_writer.h"

#include <algorithm>
#include <memory>

#include "memory/movement.h"
#include "memory/values/evaluate.h"

namespace hone::memory {
namespace {

// Expressions that one looks through, counted as often as they are looked through: what has more is
// copied, or a chain of updates of itself would be looked through 2^n times.
constexpr int64_t kMostLooks = 1024;

}  // namespace

TensorId NetworkWriter::NewTensor(const ShapeInfo& shape, const std::string& name) {
  Tensor tensor;
  tensor.name = name;
  tensor.type = ElementTypeNamed(shape.type);
  tensor.dimensions = shape.dimensions;
  const int64_t count = Elements(shape.dimensions);
  tensor.element_bytes = BytesOf(tensor.type);
  if (tensor.element_bytes == 0) {
    tensor.element_bytes = count > 0 ? std::max<int64_t>(1, shape.bytes / count) : 1;
    if (shape.type == "token" || shape.type == "opaque") tensor.dimensions = {0};
  }
  network_.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(network_.tensors.size() - 1);
}

ExprId NetworkWriter::Leaf(TensorId tensor) {
  Expr expr;
  expr.tensor = tensor;
  expr.type = network_.tensors[static_cast<size_t>(tensor)].type;
  expr.dimensions = network_.tensors[static_cast<size_t>(tensor)].dimensions;
  return NewExpr(std::move(expr));
}

ExprId NetworkWriter::NewExpr(Expr expr) {
  const ExprId id = AddMovement(network_, std::move(expr));
  for (auto e = static_cast<ExprId>(looks_.size()); e <= id; ++e) {
    int64_t looks = 1;
    for (ExprId input : At(e).inputs) looks += looks_[static_cast<size_t>(input)];
    looks_.push_back(looks);
  }
  return looks_[static_cast<size_t>(id)] > kMostLooks ? Copied(id) : id;
}

ExprId NetworkWriter::Copied(ExprId id) {
  ShapeInfo shape;
  shape.type = NameOf(At(id).type);
  shape.dimensions = At(id).dimensions;
  shape.bytes = Elements(shape.dimensions) * std::max<int64_t>(1, BytesOf(At(id).type));
  Op op;
  op.name = "copy." + std::to_string(network_.ops.size());
  op.opcode = "copy";
  op.inputs = {id};
  std::vector<ExprId> leaves;
  Results(shape, op.name, op, leaves);
  network_.ops.push_back(std::move(op));
  return leaves[0];
}

ExprId NetworkWriter::Literal(Array array) {
  Expr expr;
  expr.movement = Movement::kLiteral;
  expr.type = array.type;
  expr.dimensions = array.box.high;
  expr.literal = std::make_shared<Array>(std::move(array));
  return NewExpr(std::move(expr));
}

ExprId NetworkWriter::LargeConstant(uint32_t computation, uint32_t index) {
  const auto key = std::pair(computation, index);
  if (auto known = constants_.find(key); known != constants_.end()) return Leaf(known->second);
  const InstructionInfo& instruction = graph_.computations[computation].instructions[index];
  const TensorId id = NewTensor(instruction.shape, instruction.name);
  network_.tensors[static_cast<size_t>(id)].constant_computation =
      static_cast<int32_t>(computation);
  network_.tensors[static_cast<size_t>(id)].constant_instruction = static_cast<int32_t>(index);
  constants_[key] = id;
  return Leaf(id);
}

ExprId NetworkWriter::Folded(ExprId id) {
  const Expr& expr = At(id);
  if (Elements(expr.dimensions) > kMostFolded || KindOf(expr.type) != ValueKind::kInteger ||
      expr.movement == Movement::kLiteral) {
    return id;
  }
  if (!LeavesOf(network_, id).empty()) return id;
  return Literal(Materialise(network_, id, WholeBox(expr.dimensions), nullptr));
}

void NetworkWriter::Results(const ShapeInfo& shape, const std::string& name, Op& op,
                            std::vector<ExprId>& leaves) {
  if (shape.type == "tuple") {
    for (size_t i = 0; i < shape.tuple.size(); ++i) {
      Results(shape.tuple[i], name + "." + std::to_string(i), op, leaves);
    }
    return;
  }
  const TensorId id = NewTensor(shape, name);
  network_.tensors[static_cast<size_t>(id)].producer = static_cast<OpId>(network_.ops.size());
  op.results.push_back(id);
  leaves.push_back(Leaf(id));
}

NetworkWriter::Sizes NetworkWriter::SizesSoFar() const {
  return {network_.tensors.size(), network_.exprs.size(), network_.ops.size(),
          network_.unrolled_loops};
}

void NetworkWriter::GoBackTo(const Sizes& sizes) {
  std::erase_if(constants_, [&](const auto& entry) {
    return entry.second >= static_cast<TensorId>(sizes.tensors);
  });
  network_.tensors.resize(sizes.tensors);
  network_.exprs.resize(sizes.exprs);
  looks_.resize(sizes.exprs);
  network_.ops.resize(sizes.ops);
  network_.unrolled_loops = sizes.unrolled_loops;
}

}  // namespace hone::memory
