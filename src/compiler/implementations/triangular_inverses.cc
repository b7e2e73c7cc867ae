// Triangular solves of many right sides as products with the inverse, as libraries for GPUs solve
// with the blocks on the diagonal. LAPACK's routine is slow on small matrices.
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "compiler/implementations/dimensions.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "compiler/implementations/small_matrices.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/layout_util.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr int64_t kLargest = 64;
constexpr int64_t kLeastPerRow = 4;  // right sides for each row of the matrix

// The same solve with another right side, of the matrix's shape.
HloInstruction* SolveWith(HloInstruction* root, HloInstruction* matrix, HloInstruction* right) {
  if (root->opcode() == HloOpcode::kTriangularSolve) {
    return root->AddInstruction(HloInstruction::CreateTriangularSolve(
        right->shape(), matrix, right, root->triangular_solve_options()));
  }
  const auto* const call = xla::Cast<xla::HloCustomCallInstruction>(root);
  // LAPACK's columns lie one behind the other.
  Dimensions order = Range(0, RankOf(*right));
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  absl::c_reverse(order);
  const xla::Shape shape = xla::ShapeUtil::MakeShapeWithDenseLayout(
      right->shape().element_type(), right->shape().dimensions(), order);
  HloInstruction* const solved = root->AddInstruction(
      HloInstruction::CreateCustomCall(shape, {matrix, right}, call->custom_call_target(),
                                       {shape, shape}, /*opaque=*/"", call->api_version()));
  solved->set_raw_backend_config_string(call->raw_backend_config_string());
  xla::Cast<xla::HloCustomCallInstruction>(solved)->set_output_to_operand_aliasing(
      call->output_to_operand_aliasing());
  return solved;
}

}  // namespace

absl::StatusOr<HloInstruction*> TriangularInverses(HloInstruction* root) {
  const std::optional<TriangularSolve> solve = TriangularSolveOf(root);
  if (!solve || root->HasControlDependencies() || root->has_sharding()) return nullptr;
  const xla::PrimitiveType type = root->shape().element_type();
  const int64_t rank = RankOf(*root), row = rank - 2, column = rank - 1;
  const Dimensions sizes = emit::SizesOf(*solve->matrix);
  if (rank < 2 || sizes[row] < 2 || sizes[row] > kLargest ||
      root->shape().dimensions(solve->left ? column : row) < kLeastPerRow * sizes[row] ||
      xla::ShapeUtil::IsZeroElementArray(root->shape())) {
    return nullptr;
  }
  HloInstruction* const diagonal = emit::Diagonal(root->parent(), sizes, row, column);
  HloInstruction* const inverse = SolveWith(root, solve->matrix, emit::Convert(diagonal, type));
  HloInstruction* const x = solve->left ? inverse : solve->other;
  HloInstruction* const y = solve->left ? solve->other : inverse;
  const Dimensions batch = Range(0, rank - 2);
  return emit::Dot(x, y, batch, batch, {column}, {row}, type, emit::HighestPrecision());
}

}  // namespace hone::compiler
