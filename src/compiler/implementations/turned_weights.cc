// Weights that a loop multiplies by along the dimension that memory does not run along, transposed
// once before the loop: as gradients of what is scanned do. XLA:CPU's library reads them several
// times as slowly otherwise, in each trip.
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "compiler/implementations/kernel_parts.h"
#include "compiler/implementations/loop_state.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"

namespace hone::compiler {
namespace {

using xla::HloComputation;
using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kFewElements = 512;

// A dot's side: the weights as the state has them, and whether the dot takes their transpose.
struct Side {
  HloInstruction* dot = nullptr;
  int operand = 0;
  int64_t part = 0;
  bool transposed = false;
};

bool IsMatrixProduct(const HloInstruction& dot) {
  if (dot.opcode() != HloOpcode::kDot || !emit::Free(dot)) return false;
  const xla::DotDimensionNumbers& numbers = dot.dot_dimension_numbers();
  return numbers.lhs_batch_dimensions_size() == 0 &&
         numbers.lhs_contracting_dimensions_size() == 1 &&
         dot.operand(0)->shape().dimensions().size() == 2 &&
         dot.operand(1)->shape().dimensions().size() == 2;
}

// Those that a body multiplies by the slow way round.
std::vector<Side> SidesOf(const HloComputation& body) {
  std::vector<Side> sides;
  const HloInstruction* const state = body.parameter_instruction(0);
  const HloInstruction* const next = body.root_instruction();
  for (HloInstruction* dot : body.instructions()) {
    if (!IsMatrixProduct(*dot)) continue;
    const xla::DotDimensionNumbers& numbers = dot->dot_dimension_numbers();
    for (int k : {0, 1}) {
      const HloInstruction* weights = dot->operand(k);
      const bool transposed =
          weights->opcode() == HloOpcode::kTranspose && weights->dimensions()[0] == 1;
      if (transposed) weights = weights->operand(0);
      if (weights->opcode() != HloOpcode::kGetTupleElement || weights->operand(0) != state ||
          next->operand(weights->tuple_index()) != weights ||
          emit::Product(emit::SizesOf(*weights)) < kFewElements ||
          !IsKernelFloat(weights->shape().element_type())) {
        continue;
      }
      // Of the matrix as it lies: a left one is summed along its rows, a right one along columns.
      int64_t summed =
          k == 0 ? numbers.lhs_contracting_dimensions(0) : numbers.rhs_contracting_dimensions(0);
      if (transposed) summed = 1 - summed;
      if (summed == k) sides.push_back({dot, k, weights->tuple_index(), transposed});
    }
  }
  return sides;
}

}  // namespace

absl::StatusOr<HloInstruction*> TurnedWeights(HloInstruction* root) {
  if (!IsOfKnownParts(*root) || IsInOneKernel(*root->parent())) return nullptr;
  const std::vector<Side> sides = SidesOf(*root->while_body());
  if (sides.empty()) return nullptr;
  HloInstruction* const before = root->mutable_operand(0);
  std::vector<HloInstruction*> first(before->operands().begin(), before->operands().end());
  const auto parts = static_cast<int64_t>(first.size());
  xla::Shape state = root->shape();
  std::vector<int64_t> turned;  // parts, whose transposes follow all parts
  for (const Side& side : sides) {
    if (absl::c_linear_search(turned, side.part)) continue;
    turned.push_back(side.part);
    HloInstruction* const transpose = emit::Transpose(first[side.part], {1, 0});
    first.push_back(emit::Kept(transpose));
    *state.add_tuple_shapes() = transpose->shape();
  }
  HloComputation* const body = WithState(*root->while_body(), state);
  HloInstruction* const of_body = body->parameter_instruction(0);
  std::vector<HloInstruction*> next(body->root_instruction()->operands().begin(),
                                    body->root_instruction()->operands().end());
  std::map<int64_t, HloInstruction*> within;
  for (const int64_t part : turned) {
    const auto place = static_cast<int64_t>(next.size());
    next.push_back(ElementOf(of_body, place));
    within[part] = next.back();
  }
  for (const Side& side : SidesOf(*body)) {
    HloInstruction* weights = within.at(side.part);
    // XLA makes one product of a transpose's.
    if (!side.transposed) weights = emit::Transpose(weights, {1, 0});
    TF_RETURN_IF_ERROR(side.dot->ReplaceOperandWith(side.operand, weights));
  }
  body->set_root_instruction(body->AddInstruction(HloInstruction::CreateTuple(next)),
                             /*accept_different_shape=*/true);
  return FirstParts(LoopLike(root, WithState(*root->while_condition(), state), body, first), parts);
}

}  // namespace hone::compiler
