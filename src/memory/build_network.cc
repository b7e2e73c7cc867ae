#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "memory/access.h"
#include "memory/attributes.h"
#include "memory/network.h"
#include "memory/network_writer.h"
#include "memory/values/evaluate.h"

namespace hone::memory {
namespace {

// What an instruction stands for: an expression, or a tuple of such.
struct Value {
  ExprId expr = kNone;
  std::vector<Value> tuple;
};

class Builder {
 public:
  Builder(const ProgramGraph& graph, const NetworkOptions& options, Network& network)
      : graph_(graph), options_(options), network_(network), writer_(graph, network) {}

  // The computation with its parameters' leaves as tensors.
  Status Build(uint32_t computation) {
    std::vector<Value> arguments;
    const ComputationInfo& info = graph_.computations[computation];
    for (const InstructionInfo& instruction : info.instructions) {
      if (instruction.parameter < 0) continue;
      const auto number = static_cast<size_t>(instruction.parameter);
      if (arguments.size() <= number) arguments.resize(number + 1);
      arguments[number].expr = -2 - static_cast<int32_t>(&instruction - info.instructions.data());
    }
    for (Value& argument : arguments) {
      const InstructionInfo& instruction =
          info.instructions[static_cast<size_t>(-2 - argument.expr)];
      argument = Parameter(instruction.shape, instruction.name);
    }
    auto result = Inline(computation, arguments);
    if (!result) return tl::unexpected(result.error());
    Flatten(*result, network_.outputs);
    return {};
  }

  // The same of what a loop or a branch calls.
  Status BuildBody(uint32_t computation) {
    if (Status built = Build(computation); !built) return built;
    DropDeadOps(network_);
    std::set<TensorId> read;
    const auto add = [&](ExprId expr) {
      for (TensorId tensor : LeavesOf(network_, expr)) read.insert(tensor);
    };
    for (ExprId output : network_.outputs) add(output);
    for (const Op& op : network_.ops) {
      for (ExprId input : op.inputs) add(input);
    }
    for (TensorId tensor : read) {
      const bool is_constant =
          network_.tensors[static_cast<size_t>(tensor)].constant_computation != kNone;
      if (is_constant) network_.captured.push_back(tensor);
    }
    return {};
  }

 private:
  Value Parameter(const ShapeInfo& shape, const std::string& name) {
    Value value;
    if (shape.type == "tuple") {
      for (size_t i = 0; i < shape.tuple.size(); ++i) {
        value.tuple.push_back(Parameter(shape.tuple[i], name + "." + std::to_string(i)));
      }
      return value;
    }
    const TensorId id = writer_.NewTensor(shape, name);
    network_.tensors[static_cast<size_t>(id)].parameter =
        static_cast<int32_t>(network_.parameters.size());
    network_.parameters.push_back(id);
    value.expr = writer_.Leaf(id);
    return value;
  }

  void Flatten(const Value& value, std::vector<ExprId>& leaves) const {
    if (value.expr != kNone) leaves.push_back(value.expr);
    for (const Value& element : value.tuple) Flatten(element, leaves);
  }

  // The inverse of Flatten for a value of this shape.
  Value Unflatten(const ShapeInfo& shape, const std::vector<ExprId>& leaves, size_t& next) const {
    Value value;
    if (shape.type == "tuple") {
      for (const ShapeInfo& element : shape.tuple) {
        value.tuple.push_back(Unflatten(element, leaves, next));
      }
    } else {
      value.expr = leaves[next++];
    }
    return value;
  }

  StatusOr<Value> Inline(uint32_t computation, const std::vector<Value>& arguments) {
    const ComputationInfo& info = graph_.computations[computation];
    std::vector<Value> values(info.instructions.size());
    for (size_t i = 0; i < info.instructions.size(); ++i) {
      const InstructionInfo& instruction = info.instructions[i];
      if (++written_ > options_.most_instructions) {
        return MakeError(ErrorCode::kUnsupported,
                         "with its calls written out, the program has more than " +
                             std::to_string(options_.most_instructions) + " instructions");
      }
      if (instruction.parameter >= 0) {
        values[i] = arguments[static_cast<size_t>(instruction.parameter)];
        continue;
      }
      std::vector<Value> operands;
      for (uint32_t operand : instruction.operands) operands.push_back(values[operand]);
      auto value = Instruction(computation, static_cast<uint32_t>(i), instruction, operands);
      if (!value) return value;
      values[i] = *std::move(value);
    }
    return values[info.root];
  }

  StatusOr<Value> Instruction(uint32_t computation, uint32_t index,
                              const InstructionInfo& instruction,
                              const std::vector<Value>& operands) {
    const std::string& opcode = instruction.opcode;
    if (opcode == "tuple") return Value{kNone, operands};
    if (opcode == "get-tuple-element") {
      const auto at = ParseIntegers(AttributeText(instruction, "index"));
      return operands[0].tuple[static_cast<size_t>(at ? (*at)[0] : 0)];
    }
    if (opcode == "opt-barrier" || opcode == "domain" || opcode == "add-dependency") {
      return operands[0];
    }
    if (opcode == "copy") return operands[0];
    if (opcode == "call" || opcode == "fusion") return Inline(instruction.called[0], operands);
    if (opcode == "while") return While(instruction, operands[0]);
    if (opcode == "conditional") return Conditional(instruction, operands);
    if (opcode == "constant") return Constant(computation, index, instruction);
    if (auto moved = Move(instruction, operands)) return *moved;
    return Operator(instruction, operands, {});
  }

  StatusOr<Value> Constant(uint32_t computation, uint32_t index,
                           const InstructionInfo& instruction) {
    const ElementType type = ElementTypeNamed(instruction.shape.type);
    if (!instruction.literal.empty() && KindOf(type) != ValueKind::kNone) {
      auto array = ParseLiteral(instruction.literal, type, instruction.shape.dimensions);
      if (!array) return tl::unexpected(array.error());
      return Value{writer_.Literal(*std::move(array)), {}};
    }
    return Value{writer_.LargeConstant(computation, index), {}};
  }

  // Movement as an expression; nothing where it is an operator's work.
  std::optional<Value> Move(const InstructionInfo& instruction,
                            const std::vector<Value>& operands) {
    const std::string& opcode = instruction.opcode;
    Expr expr;
    expr.type = ElementTypeNamed(instruction.shape.type);
    expr.dimensions = instruction.shape.dimensions;
    for (const Value& operand : operands) expr.inputs.push_back(operand.expr);
    const auto integers = [&](const char* name) {
      return ParseIntegers(AttributeText(instruction, name)).value_or(std::vector<int64_t>{});
    };
    if (opcode == "reshape") {
      expr.movement = Movement::kReshape;
    } else if (opcode == "bitcast") {
      return Bitcast(instruction, operands[0].expr);
    } else if (opcode == "transpose") {
      expr.movement = Movement::kTranspose;
      expr.numbers = integers("dimensions");
    } else if (opcode == "broadcast") {
      expr.movement = Movement::kBroadcast;
      expr.numbers = integers("dimensions");
    } else if (opcode == "iota") {
      expr.movement = Movement::kIota;
      const auto axis = integers("iota_dimension");
      expr.axis = axis.empty() ? 0 : axis[0];
    } else if (opcode == "reverse") {
      expr.movement = Movement::kReverse;
      expr.numbers = integers("dimensions");
    } else if (opcode == "concatenate") {
      expr.movement = Movement::kConcatenate;
      expr.axis = integers("dimensions")[0];
    } else if (opcode == "slice") {
      const auto bounds = ParseSlice(AttributeText(instruction, "slice"));
      if (!bounds) return std::nullopt;
      expr.movement = Movement::kSlice;
      expr.numbers = bounds->starts;
      expr.strides = bounds->strides;
    } else if (opcode == "pad") {
      const auto padding = ParsePadding(AttributeText(instruction, "padding"));
      if (!padding) return std::nullopt;
      expr.movement = Movement::kPad;
      expr.numbers = padding->low;
      for (int64_t interior : padding->interior) expr.strides.push_back(interior + 1);
    } else if (opcode == "dynamic-slice" || opcode == "dynamic-update-slice") {
      const size_t first = opcode == "dynamic-slice" ? 1 : 2;
      const auto& inner = opcode == "dynamic-slice" ? instruction.shape.dimensions
                                                    : writer_.At(operands[1].expr).dimensions;
      const auto& outer = writer_.At(operands[0].expr).dimensions;
      expr.movement = first == 1 ? Movement::kSlice : Movement::kUpdate;
      for (size_t d = 0; d < outer.size(); ++d) {
        const Array* start = writer_.Known(operands[first + d].expr);
        if (start == nullptr) return std::nullopt;
        expr.numbers.push_back(std::clamp<int64_t>(start->integers[0], 0, outer[d] - inner[d]));
      }
      expr.strides.assign(outer.size(), 1);
      expr.inputs.resize(first);
    } else {
      return std::nullopt;
    }
    return Value{writer_.Folded(writer_.NewExpr(std::move(expr))), {}};
  }

  // The same bytes under another shape. Layouts of expressions are not kept, so only row-major
  // ones, which are reshapes, are understood.
  std::optional<Value> Bitcast(const InstructionInfo& instruction, ExprId operand) {
    const auto& order = instruction.shape.minor_to_major;
    for (size_t i = 0; i < order.size(); ++i) {
      if (order[i] != static_cast<int64_t>(order.size() - 1 - i)) return std::nullopt;
    }
    if (Elements(writer_.At(operand).dimensions) != Elements(instruction.shape.dimensions)) {
      return std::nullopt;
    }
    Expr expr;
    expr.movement = Movement::kReshape;
    expr.type = ElementTypeNamed(instruction.shape.type);
    expr.dimensions = instruction.shape.dimensions;
    expr.inputs = {operand};
    return Value{writer_.Folded(writer_.NewExpr(std::move(expr))), {}};
  }

  StatusOr<Value> Operator(const InstructionInfo& instruction, const std::vector<Value>& operands,
                           const std::string& why_conservative) {
    Op op;
    op.name = instruction.name;
    op.opcode = instruction.opcode;
    for (const Value& operand : operands) Flatten(operand, op.inputs);
    if (Status read = ReadAttributes(instruction, op); !read) return tl::unexpected(read.error());
    for (uint32_t called : instruction.called) {
      auto body = Body(called);
      if (!body) return tl::unexpected(body.error());
      op.bodies.push_back(*body);
      if (!RunsBodies(op.opcode)) continue;
      for (TensorId constant : (*body)->captured) {
        const Tensor& tensor = (*body)->tensors[static_cast<size_t>(constant)];
        op.inputs.push_back(
            writer_.LargeConstant(static_cast<uint32_t>(tensor.constant_computation),
                                  static_cast<uint32_t>(tensor.constant_instruction)));
      }
    }
    // Elements become several, or several one.
    if (op.opcode == "bitcast-convert" &&
        writer_.At(op.inputs[0]).dimensions.size() != instruction.shape.dimensions.size()) {
      op.opcode = "regroup-bytes";
    }
    std::string why = why_conservative;
    if (why.empty() && !HasExactAccess(op.opcode)) why = "accesses are bounded, not known";
    if (op.opcode == "dynamic-slice" || op.opcode == "dynamic-update-slice" ||
        op.opcode == "gather") {
      why = "where it reads or writes depends on data";
    }
    op.conservative = why;
    if (const ExprId folded = Fold(op, instruction.shape); folded != kNone) {
      return Value{folded, {}};
    }
    std::vector<ExprId> leaves;
    writer_.Results(instruction.shape, instruction.name, op, leaves);
    network_.ops.push_back(std::move(op));
    size_t next = 0;
    return Unflatten(instruction.shape, leaves, next);
  }

  ExprId Fold(const Op& op, const ShapeInfo& shape) {
    const ElementType type = ElementTypeNamed(shape.type);
    if (!IsElementwise(op.opcode) || KindOf(type) != ValueKind::kInteger ||
        Elements(shape.dimensions) > kMostFolded) {
      return kNone;
    }
    std::vector<Array> inputs;
    for (ExprId input : op.inputs) {
      const Array* known = writer_.Known(input);
      if (known == nullptr || KindOf(known->type) != ValueKind::kInteger) return kNone;
      inputs.push_back(*known);
    }
    auto result = EvaluateElementwise(op, inputs, type, WholeBox(shape.dimensions));
    return result ? writer_.Literal(*std::move(result)) : kNone;
  }

  StatusOr<std::shared_ptr<const Network>> Body(uint32_t computation) {
    if (auto known = bodies_.find(computation); known != bodies_.end()) return known->second;
    auto body = std::make_shared<Network>();
    body->name = graph_.computations[computation].name;
    Builder builder(graph_, options_, *body);
    if (Status built = builder.BuildBody(computation); !built) {
      return tl::unexpected(built.error());
    }
    bodies_[computation] = body;
    return std::shared_ptr<const Network>(body);
  }

  // Iterations one after the other while the condition is known; else an operator with two bodies.
  // XLA lists the body first, then the condition.
  StatusOr<Value> While(const InstructionInfo& instruction, const Value& initial) {
    const NetworkWriter::Sizes before = writer_.SizesSoFar();
    Value state = initial;
    for (int64_t iterations = 0;; ++iterations) {
      auto going = Inline(instruction.called[1], {state});
      if (!going) return going;
      const Array* known = writer_.Known(going->expr);
      const bool endless = endless_.contains(instruction.called[0]) ||
                           static_cast<int64_t>(network_.ops.size()) > options_.most_ops ||
                           iterations > options_.most_iterations;
      if (known == nullptr || endless) {
        if (endless) endless_.insert(instruction.called[0]);
        writer_.GoBackTo(before);
        return Operator(instruction, {initial},
                        endless ? "too many iterations to plan each"
                                : "its number of iterations depends on data");
      }
      if (known->integers[0] == 0) break;
      auto next = Inline(instruction.called[0], {state});
      if (!next) return next;
      state = *std::move(next);
    }
    ++network_.unrolled_loops;
    return state;
  }

  StatusOr<Value> Conditional(const InstructionInfo& instruction,
                              const std::vector<Value>& operands) {
    const Array* known = writer_.Known(operands[0].expr);
    if (known == nullptr) return Operator(instruction, operands, "either branch may run");
    const auto branches = static_cast<int64_t>(instruction.called.size());
    int64_t branch = known->integers[0];
    if (known->type == ElementType::kPred) branch = branch ? 0 : 1;
    if (branch < 0 || branch >= branches) branch = branches - 1;
    return Inline(instruction.called[static_cast<size_t>(branch)],
                  {operands[static_cast<size_t>(branch) + 1]});
  }

  const ProgramGraph& graph_;
  const NetworkOptions& options_;
  int64_t written_ = 0;  // instructions, calls written out
  Network& network_;
  NetworkWriter writer_;
  std::set<uint32_t> endless_;  // bodies of loops that have been found too long once
  std::unordered_map<uint32_t, std::shared_ptr<const Network>> bodies_;
};

// Every output becomes a tensor of its own that an operator computes: where it is another look at a
// tensor (but for reshapes, which leave the bytes as they are), a parameter, or an output already,
// a `copy` makes it.
void MaterialiseOutputs(Network& network) {
  std::set<TensorId> taken;
  for (size_t k = 0; k < network.outputs.size(); ++k) {
    ExprId at = network.outputs[k];
    while (network.exprs[static_cast<size_t>(at)].movement == Movement::kReshape) {
      at = network.exprs[static_cast<size_t>(at)].inputs[0];
    }
    const Expr& stripped = network.exprs[static_cast<size_t>(at)];
    if (stripped.movement == Movement::kTensor &&
        network.tensors[static_cast<size_t>(stripped.tensor)].producer != kNone &&
        taken.insert(stripped.tensor).second) {
      network.output_tensors.push_back(stripped.tensor);
      continue;
    }
    const Expr& expr = network.exprs[static_cast<size_t>(network.outputs[k])];
    Op op;
    op.name = "output." + std::to_string(k);
    op.opcode = "copy";
    op.inputs = {network.outputs[k]};
    Tensor tensor;
    tensor.name = op.name;
    tensor.type = expr.type;
    tensor.dimensions = expr.dimensions;
    tensor.element_bytes = std::max<int64_t>(1, BytesOf(expr.type));
    tensor.producer = static_cast<OpId>(network.ops.size());
    const auto id = static_cast<TensorId>(network.tensors.size());
    network.tensors.push_back(std::move(tensor));
    op.results = {id};
    network.ops.push_back(std::move(op));
    network.output_tensors.push_back(id);
    Expr leaf;
    leaf.tensor = id;
    leaf.type = network.tensors.back().type;
    leaf.dimensions = network.tensors.back().dimensions;
    network.exprs.push_back(std::move(leaf));
    network.outputs[k] = static_cast<ExprId>(network.exprs.size() - 1);
  }
}

void CountConservative(Network& network) {
  for (const Op& op : network.ops) {
    if (!op.conservative.empty()) ++network.conservative[op.opcode + ": " + op.conservative];
  }
}

}  // namespace

StatusOr<Network> BuildNetwork(const ProgramGraph& graph, const NetworkOptions& options) {
  if (graph.computations.empty()) {
    return MakeError(ErrorCode::kUnsupported, "the program has no computations");
  }
  Network network;
  network.name = graph.name;
  Builder builder(graph, options, network);
  const auto entry = static_cast<uint32_t>(graph.computations.size() - 1);
  if (Status built = builder.Build(entry); !built) return tl::unexpected(built.error());
  MaterialiseOutputs(network);
  DropDeadOps(network);
  CountConservative(network);
  return network;
}

const std::vector<int64_t>& ListOf(const Op& op, const std::string& name) {
  static const std::vector<int64_t> none;
  const auto found = op.lists.find(name);
  return found == op.lists.end() ? none : found->second;
}

std::vector<TensorId> LeavesOf(const Network& network, ExprId expr) {
  constexpr size_t kFew = 16;
  std::vector<TensorId> leaves;
  std::unordered_set<TensorId> many;
  std::vector<ExprId> open = {expr};
  while (!open.empty()) {
    const Expr& at = network.exprs[static_cast<size_t>(open.back())];
    open.pop_back();
    open.insert(open.end(), at.inputs.begin(), at.inputs.end());
    if (at.movement != Movement::kTensor) continue;
    if (leaves.size() < kFew) {
      if (std::find(leaves.begin(), leaves.end(), at.tensor) != leaves.end()) continue;
      leaves.push_back(at.tensor);
      continue;
    }
    if (many.empty()) many.insert(leaves.begin(), leaves.end());
    if (many.insert(at.tensor).second) leaves.push_back(at.tensor);
  }
  return leaves;
}

}  // namespace hone::memory
