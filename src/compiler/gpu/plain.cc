#include "compiler/gpu/plain.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "compiler/gpu/library_calls.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/layout_util.h"
#include "xla/shape_util.h"

namespace hone::compiler::gpu {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;
using xla::Shape;
using xla::ShapeUtil;

// Major to minor.
std::vector<int64_t> PhysicalOrder(const Shape& shape) {
  const auto minor_to_major = xla::LayoutUtil::MinorToMajor(shape);
  return {minor_to_major.rbegin(), minor_to_major.rend()};
}

Shape Permuted(const Shape& shape, const std::vector<int64_t>& order) {
  std::vector<int64_t> dimensions;
  for (int64_t i : order) dimensions.push_back(shape.dimensions(i));
  return ShapeUtil::MakeShape(shape.element_type(), dimensions);
}

// A row-major array's bytes as a vector of another type.
HloInstruction* WithType(HloInstruction* array, xla::PrimitiveType type) {
  xla::HloComputation* const computation = array->parent();
  const xla::PrimitiveType was = array->shape().element_type();
  const int64_t bytes = ShapeUtil::ByteSizeOfElements(array->shape());
  const int64_t from = ShapeUtil::ByteSizeOfPrimitiveType(was);
  const int64_t to = ShapeUtil::ByteSizeOfPrimitiveType(type);
  // bitcast-convert takes the last dimension away where elements become wider, and adds one where
  // they become narrower.
  std::vector<int64_t> dimensions = {bytes / std::max(from, to)};
  std::vector<int64_t> converted = dimensions;
  if (from < to) dimensions.push_back(to / from);
  if (from > to) converted.push_back(from / to);
  array = computation->AddInstruction(
      HloInstruction::CreateReshape(ShapeUtil::MakeShape(was, dimensions), array));
  return computation->AddInstruction(
      HloInstruction::CreateBitcastConvert(ShapeUtil::MakeShape(type, converted), array));
}

// The elements in the order in which they lie in memory are the same: they are put into that order,
// given the result's physical dimensions, and named as the result names them.
absl::Status ReplaceBitcast(HloInstruction* bitcast) {
  const Shape& from = bitcast->operand(0)->shape();
  const Shape& to = bitcast->shape();
  xla::HloComputation* const computation = bitcast->parent();
  if (from.IsTuple() || to.IsTuple() || !from.has_layout() || !to.has_layout() ||
      ShapeUtil::ByteSizeOfElements(from) != ShapeUtil::ByteSizeOfElements(to)) {
    return absl::UnimplementedError("a bitcast between sizes: " + bitcast->ToString());
  }
  const std::vector<int64_t> order = PhysicalOrder(from);
  HloInstruction* array = computation->AddInstruction(
      HloInstruction::CreateTranspose(Permuted(from, order), bitcast->mutable_operand(0), order));
  if (from.element_type() != to.element_type()) array = WithType(array, to.element_type());
  const std::vector<int64_t> wanted = PhysicalOrder(to);
  array = computation->AddInstruction(HloInstruction::CreateReshape(Permuted(to, wanted), array));
  std::vector<int64_t> back(wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) back[wanted[i]] = static_cast<int64_t>(i);
  array = computation->AddInstruction(HloInstruction::CreateTranspose(to, array, back));
  return computation->ReplaceInstruction(bitcast, array);
}

std::vector<HloInstruction*> All(xla::HloModule& module, HloOpcode opcode, bool fused) {
  std::vector<HloInstruction*> found;
  for (xla::HloComputation* computation : module.computations()) {
    if (computation->IsFusionComputation() && !fused) continue;
    for (HloInstruction* instruction : computation->instructions()) {
      if (instruction->opcode() == opcode) found.push_back(instruction);
    }
  }
  return found;
}

}  // namespace

absl::Status MakePlain(xla::HloModule& module) {
  // They order what writes in place; values hang on operands alone. What has some is not replaced.
  for (xla::HloComputation* computation : module.computations()) {
    for (HloInstruction* instruction : computation->instructions()) {
      if (absl::Status status = instruction->DropAllControlDeps(); !status.ok()) return status;
    }
  }
  // A fusion's body may hold fusions.
  for (auto fusions = All(module, HloOpcode::kFusion, /*fused=*/false); !fusions.empty();
       fusions = All(module, HloOpcode::kFusion, /*fused=*/false)) {
    for (HloInstruction* fusion : fusions) {
      if (absl::Status status = fusion->Defuse(); !status.ok()) return status;
    }
    if (absl::Status status = module.RemoveUnusedComputations(); !status.ok()) return status;
  }
  for (HloInstruction* bitcast : All(module, HloOpcode::kBitcast, /*fused=*/true)) {
    if (absl::Status status = ReplaceBitcast(bitcast); !status.ok()) return status;
  }
  if (absl::Status status = ReplaceLibraryCalls(module); !status.ok()) return status;
  for (xla::HloComputation* computation : module.computations()) {
    for (HloInstruction* instruction : computation->instructions()) {
      if (instruction->opcode() == HloOpcode::kConstant) continue;
      const auto* const call = xla::DynCast<xla::HloCustomCallInstruction>(instruction);
      if (call != nullptr && call->layout_constrained()) continue;  // its code was told
      ShapeUtil::ForEachMutableSubshape(instruction->mutable_shape(),
                                        [](Shape* shape, const xla::ShapeIndex&) {
                                          if (shape->IsArray())
                                            xla::LayoutUtil::SetToDefaultLayout(shape);
                                        });
    }
  }
  return absl::OkStatus();
}

}  // namespace hone::compiler::gpu
