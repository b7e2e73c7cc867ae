#include "compiler/arrays.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/service/hlo_cost_analysis.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

class Writer {
 public:
  explicit Writer(const xla::HloModule& module) : module_(module) {
    costs_known_ = module.entry_computation()->Accept(&costs_).ok();
  }

  ProgramArrays Write() {
    arrays_.edge_start.push_back(0);
    Computation(*module_.entry_computation());
    return std::move(arrays_);
  }

 private:
  // Callees first.
  void Computation(const xla::HloComputation& computation) {
    if (roots_.contains(&computation)) return;
    const auto order = computation.MakeInstructionPostOrder();
    for (const xla::HloInstruction* instruction : order) {
      for (const xla::HloComputation* callee : instruction->called_computations()) {
        Computation(*callee);
      }
    }
    const int32_t number = computations_++;
    for (const xla::HloInstruction* instruction : order) {
      nodes_[instruction] = static_cast<int32_t>(arrays_.opcode.size());
      Node(*instruction, number);
    }
    roots_[&computation] = nodes_.at(computation.root_instruction());
  }

  void Node(const xla::HloInstruction& instruction, int32_t computation) {
    const xla::Shape& shape = instruction.shape();
    arrays_.opcode.push_back(static_cast<int32_t>(instruction.opcode()));
    arrays_.type.push_back(static_cast<int32_t>(shape.element_type()));
    arrays_.computation.push_back(computation);
    int64_t dimensions[kArrayDimensions] = {};
    int32_t rank = 0;
    if (shape.IsArray()) {
      rank = static_cast<int32_t>(shape.dimensions().size());
      for (int i = 0; i < std::min<int>(rank, kArrayDimensions); ++i) {
        dimensions[i] = shape.dimensions(i);
      }
    }
    arrays_.rank.push_back(rank);
    arrays_.dimensions.insert(arrays_.dimensions.end(), dimensions, dimensions + kArrayDimensions);
    arrays_.flops.push_back(
        costs_known_ ? std::max(0.0f, static_cast<float>(costs_.flop_count(instruction))) : 0.0f);
    arrays_.bytes.push_back(static_cast<float>(Bytes(shape)));
    for (const xla::HloInstruction* operand : instruction.operands()) {
      Edge(nodes_.at(operand), EdgeKind::kOperand);
    }
    for (const xla::HloComputation* callee : instruction.called_computations()) {
      Edge(roots_.at(callee), EdgeKind::kCall);
    }
    for (const xla::HloInstruction* before : instruction.control_predecessors()) {
      Edge(nodes_.at(before), EdgeKind::kControl);
    }
    arrays_.edge_start.push_back(static_cast<int32_t>(arrays_.edge_source.size()));
  }

  static int64_t Bytes(const xla::Shape& shape) {
    if (shape.IsArray()) return xla::ShapeUtil::ByteSizeOf(shape);
    int64_t bytes = 0;
    if (shape.IsTuple()) {
      for (const xla::Shape& element : shape.tuple_shapes()) bytes += Bytes(element);
    }
    return bytes;
  }

  void Edge(int32_t source, EdgeKind kind) {
    arrays_.edge_source.push_back(source);
    arrays_.edge_kind.push_back(static_cast<int8_t>(kind));
  }

  const xla::HloModule& module_;
  xla::HloCostAnalysis costs_;
  bool costs_known_ = false;
  int32_t computations_ = 0;
  absl::flat_hash_map<const xla::HloInstruction*, int32_t> nodes_;
  absl::flat_hash_map<const xla::HloComputation*, int32_t> roots_;
  ProgramArrays arrays_;
};

}  // namespace

ProgramArrays ArraysOf(const xla::HloModule& module) { return Writer(module).Write(); }

}  // namespace hone::compiler
