// Triangular solves of many right sides as products with the inverse, as libraries for GPUs solve
// with the blocks on the diagonal. LAPACK's routine is slow on small matrices.
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "compiler/implementations/dimensions.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "compiler/implementations/small_matrices.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;

constexpr int64_t kLargest = 64;
constexpr int64_t kLeastPerRow = 4;  // right sides for each row of the matrix

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
  HloInstruction* const inverse =
      SolveWith(root, emit::Convert(diagonal, type), solve->left, /*transposed=*/false);
  HloInstruction* const x = solve->left ? inverse : solve->other;
  HloInstruction* const y = solve->left ? solve->other : inverse;
  const Dimensions batch = Range(0, rank - 2);
  return emit::Dot(x, y, batch, batch, {column}, {row}, type, emit::HighestPrecision());
}

}  // namespace hone::compiler
