#include "report/graph_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <utility>
#include <vector>

namespace hone::report {
namespace {

constexpr size_t kLongestAttribute = 240;
constexpr size_t kMostTupleElements = 8;

std::string Cut(std::string text) {
  if (text.size() <= kLongestAttribute) return text;
  size_t end = kLongestAttribute;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  return text + "…";
}

// Texts by number, each once.
class Table {
 public:
  size_t NumberOf(const std::string& text) {
    const auto [place, added] = numbers_.try_emplace(text, texts_.size());
    if (added) texts_.push_back(text);
    return place->second;
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::map<std::string, size_t> numbers_;
  std::vector<std::string> texts_;
};

std::string AttributesText(const InstructionInfo& instruction) {
  std::string text;
  for (const auto& [name, value] : instruction.attributes) {
    if (!text.empty()) text += "\n";
    text += value.empty() ? name : name + "=" + Cut(value);
  }
  return text;
}

}  // namespace

std::string ShapeText(const ShapeInfo& shape) {
  if (shape.type == "tuple") {
    std::string text = "(";
    for (size_t i = 0; i < shape.tuple.size(); ++i) {
      if (i > 0) text += ", ";
      if (i == kMostTupleElements) {
        return text + fmt::format("… {} more)", shape.tuple.size() - i);
      }
      text += ShapeText(shape.tuple[i]);
    }
    return text + ")";
  }
  const std::string layout = shape.minor_to_major.empty()
                                 ? ""
                                 : fmt::format("{{{}}}", fmt::join(shape.minor_to_major, ","));
  return fmt::format("{}[{}]{}", shape.type, fmt::join(shape.dimensions, ","), layout);
}

Json ToJson(const ProgramGraph& graph) {
  Table opcodes;
  Table shapes;
  Table attributes;
  std::vector<int64_t> bytes;  // of each shape
  std::vector<std::string> names;
  std::vector<size_t> opcode;
  std::vector<size_t> shape;
  std::vector<int64_t> attribute;
  std::vector<uint32_t> operands;
  Json called = Json::array();
  Json literals = Json::array();
  Json parameters = Json::array();
  Json computations = Json::array();
  for (const ComputationInfo& computation : graph.computations) {
    computations.push_back(
        {computation.name, names.size(), computation.instructions.size(), computation.root});
    for (const InstructionInfo& instruction : computation.instructions) {
      const size_t i = names.size();
      names.push_back(instruction.name);
      opcode.push_back(opcodes.NumberOf(instruction.opcode));
      shape.push_back(shapes.NumberOf(ShapeText(instruction.shape)));
      if (shape.back() == bytes.size()) bytes.push_back(instruction.shape.bytes);
      const std::string text = AttributesText(instruction);
      attribute.push_back(text.empty() ? -1 : static_cast<int64_t>(attributes.NumberOf(text)));
      operands.push_back(static_cast<uint32_t>(instruction.operands.size()));
      operands.insert(operands.end(), instruction.operands.begin(), instruction.operands.end());
      if (!instruction.called.empty()) called.push_back({i, instruction.called});
      if (!instruction.literal.empty()) literals.push_back({i, Cut(instruction.literal)});
      if (instruction.parameter >= 0) parameters.push_back({i, instruction.parameter});
    }
  }
  return {{"name", graph.name},
          {"computations", std::move(computations)},
          {"names", std::move(names)},
          {"opcodes", opcodes.texts()},
          {"opcode", std::move(opcode)},
          {"shapes", shapes.texts()},
          {"shape", std::move(shape)},
          {"bytes", std::move(bytes)},
          {"operands", std::move(operands)},
          {"called", std::move(called)},
          {"attributes", attributes.texts()},
          {"attribute", std::move(attribute)},
          {"literals", std::move(literals)},
          {"parameters", std::move(parameters)}};
}

}  // namespace hone::report
