// Triangular solves of many right sides as products with the inverses of blocks on the diagonal, as
// libraries for GPUs solve them. LAPACK's routine here is slow.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/implementations/dimensions.h"
#include "compiler/implementations/emit.h"
#include "compiler/implementations/implementations.h"
#include "compiler/implementations/small_matrices.h"
#include "xla/shape_util.h"

namespace hone::compiler {
namespace {

using xla::HloInstruction;

constexpr int64_t kBlock = 64;       // rows of a larger matrix that are solved at once
constexpr int64_t kLeastPerRow = 4;  // right sides for each row of a matrix of one block
constexpr int64_t kLeastOfMany = 64;

// Of a solve A X = B, or X A = B, where A may be meant turned.
class Blocks {
 public:
  Blocks(HloInstruction* root, const TriangularSolve& solve)
      : root_(root),
        solve_(solve),
        type_(root->shape().element_type()),
        row_(RankOf(*root) - 2),
        column_(row_ + 1),
        rows_(solve.matrix->shape().dimensions(row_)) {}

  HloInstruction* Solved() const {
    // Which of its rows depend on which: of X A = B the columns, the other way round.
    const bool forward = (solve_.lower != solve_.transposed) == solve_.left;
    const int64_t along = solve_.left ? row_ : column_;
    HloInstruction* x = nullptr;  // so far
    for (int64_t done = 0; done < rows_; done += kBlock) {
      const int64_t size = std::min(kBlock, rows_ - done);
      const int64_t from = forward ? done : rows_ - done - size, to = from + size;
      HloInstruction* right = emit::SliceAlong(solve_.other, along, from, to);
      if (x != nullptr) {
        HloInstruction* const known =
            forward ? Times(x, from, to, 0, from) : Times(x, from, to, to, rows_);
        right = emit::Binary(xla::HloOpcode::kSubtract, right, known);
      }
      HloInstruction* const part = TimesInverse(right, from, to);
      x = x == nullptr
              ? part
              : emit::Concatenate(forward ? std::vector{x, part} : std::vector{part, x}, along);
    }
    return x;
  }

 private:
  HloInstruction* Part(int64_t from_row, int64_t to_row, int64_t from_column,
                       int64_t to_column) const {
    HloInstruction* const rows = emit::SliceAlong(solve_.matrix, row_, from_row, to_row);
    return emit::SliceAlong(rows, column_, from_column, to_column);
  }

  // What [low, high) of the unknowns, which are known, add to [from, to) of the right sides.
  HloInstruction* Times(HloInstruction* x, int64_t from, int64_t to, int64_t low,
                        int64_t high) const {
    const bool by_rows = solve_.left != solve_.transposed;  // those of the right sides
    HloInstruction* const part = by_rows ? Part(from, to, low, high) : Part(low, high, from, to);
    return Product(part, x, by_rows ? column_ : row_);
  }

  HloInstruction* TimesInverse(HloInstruction* right, int64_t from, int64_t to) const {
    HloInstruction* const block = Part(from, to, from, to);
    HloInstruction* const diagonal =
        emit::Diagonal(root_->parent(), emit::SizesOf(*block), row_, column_);
    HloInstruction* const inverse = SolveWith(root_, emit::Convert(diagonal, type_), solve_.left,
                                              /*transposed=*/false, block);
    return Product(inverse, right, solve_.left ? column_ : row_);
  }

  // Of a part of the matrix, summed over one of its dimensions, and right sides, from its side.
  HloInstruction* Product(HloInstruction* part, HloInstruction* right, int64_t summed) const {
    Dimensions of_part{summed}, of_right{solve_.left ? row_ : column_};
    if (!solve_.left) {
      std::swap(part, right);
      std::swap(of_part, of_right);
    }
    const Dimensions batch = Range(0, row_);
    return emit::Dot(part, right, batch, batch, of_part, of_right, type_, emit::HighestPrecision());
  }

  HloInstruction* const root_;
  const TriangularSolve& solve_;
  const xla::PrimitiveType type_;
  const int64_t row_, column_, rows_;
};

}  // namespace

absl::StatusOr<HloInstruction*> TriangularInverses(HloInstruction* root) {
  const std::optional<TriangularSolve> solve = TriangularSolveOf(root);
  if (!solve || root->HasControlDependencies() || root->has_sharding()) return nullptr;
  const int64_t rank = RankOf(*root);
  if (rank < 2 || xla::ShapeUtil::IsZeroElementArray(root->shape())) return nullptr;
  const int64_t rows = solve->matrix->shape().dimensions(rank - 2);
  const int64_t sides = root->shape().dimensions(solve->left ? rank - 1 : rank - 2);
  if (rows < 2 || sides < (rows <= kBlock ? kLeastPerRow * rows : kLeastOfMany)) return nullptr;
  return Blocks(root, *solve).Solved();
}

}  // namespace hone::compiler
