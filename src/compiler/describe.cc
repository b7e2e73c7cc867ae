#include "compiler/describe.h"

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/hlo/ir/hlo_print_options.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

ShapeInfo DescribeShape(const xla::Shape& shape) {
  ShapeInfo info;
  info.type = absl::AsciiStrToLower(xla::PrimitiveType_Name(shape.element_type()));
  if (shape.IsTuple()) {
    for (const xla::Shape& element : shape.tuple_shapes()) {
      info.tuple.push_back(DescribeShape(element));
      info.bytes += info.tuple.back().bytes;
    }
  } else if (shape.IsArray()) {
    info.dimensions.assign(shape.dimensions().begin(), shape.dimensions().end());
    if (shape.has_layout()) {
      const auto order = shape.layout().minor_to_major();
      info.minor_to_major.assign(order.begin(), order.end());
    }
    info.bytes = xla::ShapeUtil::ByteSizeOf(shape);
  }
  return info;
}

std::vector<std::pair<std::string, std::string>> DescribeAttributes(
    const xla::HloInstruction& instruction) {
  static const xla::HloPrintOptions options =
      xla::HloPrintOptions().set_print_metadata(false).set_print_subcomputation_mode(
          xla::HloPrintOptions::PrintSubcomputationMode::kOff);
  std::vector<std::pair<std::string, std::string>> attributes;
  for (const std::string& text : instruction.ExtraAttributesToString(options)) {
    const size_t equals = text.find('=');
    if (equals == text.npos) {
      attributes.emplace_back(text, "");
    } else {
      attributes.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  if (instruction.has_backend_config()) {
    attributes.emplace_back("backend_config", instruction.raw_backend_config_string());
  }
  return attributes;
}

// Inlining puts the caller's path before an operation's name.
std::string Origin(const xla::OpMetadata& metadata) {
  const std::string& path = metadata.op_name();
  if (path.empty()) return {};
  std::string operation = path.substr(path.rfind('/') + 1);
  return metadata.stack_frame_id() > 0
             ? absl::StrCat(operation, "@", metadata.stack_frame_id())
             : absl::StrCat(operation, "@", metadata.source_file(), ":", metadata.source_line());
}

}  // namespace

ProgramGraph Describe(const xla::HloModule& module) {
  ProgramGraph graph;
  graph.name = module.name();
  absl::flat_hash_map<const xla::HloComputation*, uint32_t> computations;
  for (const xla::HloComputation* computation : module.MakeComputationPostOrder()) {
    ComputationInfo info;
    info.name = std::string(computation->name());
    absl::flat_hash_map<const xla::HloInstruction*, uint32_t> index;
    for (const xla::HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
      InstructionInfo node;
      node.name = std::string(instruction->name());
      node.opcode = std::string(xla::HloOpcodeString(instruction->opcode()));
      node.shape = DescribeShape(instruction->shape());
      for (const xla::HloInstruction* operand : instruction->operands()) {
        node.operands.push_back(index.at(operand));
      }
      for (const xla::HloComputation* callee : instruction->called_computations()) {
        node.called.push_back(computations.at(callee));
      }
      node.attributes = DescribeAttributes(*instruction);
      node.origin = Origin(instruction->metadata());
      if (instruction->opcode() == xla::HloOpcode::kParameter) {
        node.parameter = static_cast<int32_t>(instruction->parameter_number());
      }
      if (instruction->opcode() == xla::HloOpcode::kConstant && instruction->shape().IsArray() &&
          xla::ShapeUtil::ElementsIn(instruction->shape()) <= kLargestLiteral) {
        node.literal = instruction->literal().ToStringWithoutShapeOneline();
      }
      index[instruction] = static_cast<uint32_t>(info.instructions.size());
      info.instructions.push_back(std::move(node));
    }
    info.root = index.at(computation->root_instruction());
    computations[computation] = static_cast<uint32_t>(graph.computations.size());
    graph.computations.push_back(std::move(info));
  }
  return graph;
}

}  // namespace hone::compiler
