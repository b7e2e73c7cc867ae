#include "random_computation.h"

namespace hone::memory {
namespace {

std::string TextOf(const ShapeInfo& shape) {
  if (shape.type != "tuple") return shape.type + "[" + Joined(shape.dimensions, ",") + "]";
  std::string text = "(";
  for (size_t k = 0; k < shape.tuple.size(); ++k) {
    text += (k > 0 ? ", " : "") + TextOf(shape.tuple[k]);
  }
  return text + ")";
}

}  // namespace

int64_t Count(const Dimensions& dimensions) {
  int64_t count = 1;
  for (int64_t d : dimensions) count *= d;
  return count;
}

std::string Joined(const Dimensions& numbers, const char* between) {
  std::string text;
  for (size_t k = 0; k < numbers.size(); ++k) {
    text += (k > 0 ? between : "") + std::to_string(numbers[k]);
  }
  return text;
}

std::string List(const Dimensions& numbers) { return "{" + Joined(numbers, ",") + "}"; }

ShapeInfo Shape(const std::string& type, Dimensions dimensions) {
  ShapeInfo shape;
  shape.type = type;
  const int64_t width = type == "pred" ? 1 : type == "bf16" ? 2 : type == "u64" ? 8 : 4;
  shape.bytes = Count(dimensions) * width;
  shape.dimensions = std::move(dimensions);
  for (size_t d = shape.dimensions.size(); d-- > 0;) {
    shape.minor_to_major.push_back(static_cast<int64_t>(d));
  }
  return shape;
}

ShapeInfo TupleOf(std::vector<ShapeInfo> shapes) {
  ShapeInfo shape;
  shape.type = "tuple";
  shape.tuple = std::move(shapes);
  for (const ShapeInfo& element : shape.tuple) shape.bytes += element.bytes;
  return shape;
}

uint32_t Computation::Add(const std::string& opcode, ShapeInfo shape,
                          std::vector<uint32_t> operands, Attributes attributes,
                          std::vector<std::pair<std::string, uint32_t>> called) {
  InstructionInfo instruction;
  instruction.name = info_.name + "." + std::to_string(info_.instructions.size());
  instruction.opcode = opcode;
  instruction.shape = std::move(shape);
  instruction.operands = std::move(operands);
  instruction.attributes = std::move(attributes);
  for (const auto& [name, computation] : called) instruction.called.push_back(computation);
  called_.push_back(std::move(called));
  info_.instructions.push_back(std::move(instruction));
  return static_cast<uint32_t>(info_.instructions.size() - 1);
}

uint32_t Computation::Parameter(ShapeInfo shape) {
  const uint32_t at = Add("parameter", std::move(shape));
  info_.instructions[at].parameter = parameters_++;
  return at;
}

uint32_t Computation::Constant(ShapeInfo shape, const std::string& literal) {
  const uint32_t at = Add("constant", std::move(shape));
  info_.instructions[at].literal = literal;
  return at;
}

uint32_t Computation::Element(uint32_t tuple, int64_t index) {
  const ShapeInfo shape = ShapeOf(tuple).tuple[static_cast<size_t>(index)];
  return Add("get-tuple-element", shape, {tuple}, {{"index", std::to_string(index)}});
}

uint32_t Computation::Filled(const ShapeInfo& shape, const std::string& literal) {
  const uint32_t number = Constant(Shape(shape.type, {}), literal);
  return Add("broadcast", shape, {number}, {{"dimensions", "{}"}});
}

void Computation::Finish(bool entry, RandomProgram& program) {
  info_.root = static_cast<uint32_t>(info_.instructions.size() - 1);
  std::string& text = program.text;
  text += (entry ? "ENTRY %" : "%") + info_.name + " {\n";
  for (size_t i = 0; i < info_.instructions.size(); ++i) {
    const InstructionInfo& at = info_.instructions[i];
    text += std::string(i == info_.root ? "  ROOT %" : "  %") + at.name + " = " +
            TextOf(at.shape) + " " + at.opcode + "(";
    if (at.parameter >= 0) text += std::to_string(at.parameter);
    text += at.literal;
    for (size_t k = 0; k < at.operands.size(); ++k) {
      text += (k > 0 ? ", %" : "%") + info_.instructions[at.operands[k]].name;
    }
    text += ")";
    for (const auto& [name, value] : at.attributes) text += ", " + name + "=" + value;
    for (const auto& [name, computation] : called_[i]) {
      if (name.empty()) continue;
      text += ", " + name + "=%" + program.graph.computations[computation].name;
    }
    text += "\n";
  }
  text += "}\n\n";
  program.graph.computations.push_back(std::move(info_));
}

}  // namespace hone::memory
